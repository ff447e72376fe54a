"""Where a slow network is: one link, one node's sending or receiving side, its card, or the middle. Pure.

A slow link slows every rank of a ring alike, so collective times cannot place it. What each node's TCP sockets count
can: how long they were busy sending for each megabyte, and how much of it they had to send again.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from webapp.incidents.finding import JOB, NETWORK, Finding

HOT = 3.0  # times the typical link's cost
GROWN = 2.0  # times its own cost before
LOSSY = 0.003  # of the bytes sent again; a healthy link stays far below a thousandth
ONE_WAY = 1.5  # times the cost of the way back: that is slow because acknowledgements wait with the data
_FEW = 3  # links, of which the typical one may itself be slow: then only growth counts


@dataclass(frozen=True, slots=True)
class Link:
    """What node `a` saw of its sending to node `b` lately. `before`: its cost while all was well, None if unknown."""

    a: int
    b: int
    busy_ms_per_mb: float
    retransmitted: float = 0.0  # share of the bytes
    before: float | None = None


def locate(links: Iterable[Link], *, slowdown: float, since: int | None) -> list[Finding]:
    """One finding that names the smallest part that all hot links have in common; none when no link is hot.

    `slowdown` and `since` are those of the job's longer transfers.
    """
    known = list(links)
    return _named(_hot(known), known, slowdown, since)


def lossy(links: Iterable[Link], *, since: int) -> list[Finding]:
    """One finding about links that lose packets, though no transfer takes longer by it yet."""
    known = list(links)
    return _named([link for link in known if link.retransmitted >= LOSSY], known, 0.0, since)


def costs(links: Iterable[Link]) -> dict[str, float]:
    """What a page draws: {"0-1": ms busy per MB}."""
    return {f"{link.a}-{link.b}": round(link.busy_ms_per_mb, 3) for link in links}


def _named(hot: list[Link], known: list[Link], slowdown: float, since: int | None) -> list[Finding]:
    if not hot:
        return []
    told = {"retransmitted": max(link.retransmitted for link in hot), "hot": len(hot), "links": costs(known)}
    subject, node, link = _common(hot, known)
    return [Finding(NETWORK, subject, "network", slowdown, since, False, node_rank=node, link=link, evidence=told)]


def _hot(links: list[Link]) -> list[Link]:
    costs = np.array([link.busy_ms_per_mb for link in links])
    found = []
    for k, link in enumerate(links):
        others = np.delete(costs, k)
        typical = float(np.median(others)) if others.size else float("nan")
        grown = link.before is not None and link.busy_ms_per_mb >= GROWN * link.before
        apart = link.busy_ms_per_mb >= HOT * typical
        new = link.before is None or grown
        slow = (apart and new) or (grown and len(links) <= _FEW)
        if slow or (grown and _all_grown(links)) or link.retransmitted >= LOSSY:
            found.append(link)
    return found


def _all_grown(links: list[Link]) -> bool:
    return all(link.before is not None and link.busy_ms_per_mb >= GROWN * link.before for link in links)


def _common(hot: list[Link], links: list[Link]) -> tuple[str, int | None, tuple[int, int] | None]:
    """Subject, node and link: one pair of nodes; all that a node sends, receives or both; else the whole job."""
    pairs = {frozenset((link.a, link.b)) for link in hot}
    if len(hot) == 1:
        return _pair(hot[0].a, hot[0].b)
    if len(pairs) == 1:
        worse, other = sorted(hot, key=lambda link: (-link.busy_ms_per_mb, link.a))
        one_way = worse.busy_ms_per_mb >= ONE_WAY * other.busy_ms_per_mb
        return _pair(*((worse.a, worse.b) if one_way else sorted((worse.a, worse.b))))
    for node in sorted({end for link in links for end in (link.a, link.b)}):
        if all(node in pair for pair in pairs):
            return f"node {node}", node, None
    return JOB, None, None


def _pair(a: int, b: int) -> tuple[str, None, tuple[int, int]]:
    return f"link {a}-{b}", None, (a, b)
