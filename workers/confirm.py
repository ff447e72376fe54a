"""Second signals for what step times show: the samples say which link, and whether a late rank's device is to blame."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from webapp.incidents.finding import DEVICE, JOB, NETWORK, STRAGGLER, Finding
from webapp.incidents.models import Incident
from webapp.telemetry.read import Reader
from workers import samples
from workers.detect.device import slow_devices
from workers.detect.links import Link, costs, locate, lossy
from workers.detect.table import Table

LOOK_AGAIN = timedelta(seconds=10)  # at the links of a network of which it is known where it is slow
HELD_BACK_S, HELD_BACK_STEPS = 4, 40  # that a slow network may wait for a word of its links
LASTING_STEPS = 80  # that transfers take longer though no link does, or within one machine
LOSES = 1.0  # segments a second that a node sends again, from which on its links are looked at
STARVED = 0.10  # of the time without a processor
_MORE = 3.0  # times as much as the other ranks


def confirmed(reader: Reader, found: list[Finding], table: Table, now: datetime, *, on_gpu: bool) -> list[Finding]:
    """The findings with what the samples add, and what only the samples show."""
    found = [one for finding in found for one in _placed(reader, finding, table, now)]
    if not any(finding.kind == NETWORK for finding in found):
        found = [*found, *_lossy(reader, table, now)]
    if any(finding.kind == STRAGGLER and finding.cause in ("cpu", "unknown") for finding in found):
        found = _starved(found, samples.waiting(reader))
    return _with_devices(reader, found, table) if on_gpu else found


def _placed(reader: Reader, finding: Finding, table: Table, now: datetime) -> list[Finding]:
    """A slow network with the link or node where it is slow. Nothing for the few seconds until the links tell."""
    if finding.kind != NETWORK:
        return [finding]
    known = _opened(reader)
    if known is not None and known.subject != JOB and _is_new(known, now):
        return [_as_known(finding, known)]
    began = finding.since
    assert began is not None  # it was found in steps
    first = began if known is None or known.opened_step is None else known.opened_step
    newest, since = samples.newest_of_links(reader), samples.second_of(reader, first)
    lasting = int(table.steps[-1]) - began >= LASTING_STEPS
    if newest is None or since is None:
        return [finding] if lasting or known is not None or len(set(table.nodes.tolist())) > 1 else []
    if newest - since < HELD_BACK_S and int(table.steps[-1]) - began < HELD_BACK_STEPS:
        return []
    return _by_links(finding, samples.links(reader, since), known, now, lasting=lasting)


def _by_links(
    finding: Finding, links: list[Link], known: Incident | None, now: datetime, *, lasting: bool
) -> list[Finding]:
    """Where links are as good as before, ranks may have lacked processors for a while: only what lasts counts."""
    told: dict[str, Any] = {"links": costs(links), "looked_at": now.isoformat()} if links else {}
    place = next(iter(locate(links, slowdown=finding.slowdown, since=finding.since)), None)
    if place is not None:
        return [replace(place, evidence={**finding.evidence, **place.evidence, **told})]
    here = replace(finding, evidence={**finding.evidence, **told})
    if known is not None:
        return [_as_known(here, known)]
    return [here] if lasting or not links else []


def _opened(reader: Reader) -> Incident | None:
    opened = reader.attempt.incidents.filter(closed_at=None, kind=NETWORK)
    return opened.order_by("-seen_at", "-pk").first()


def _is_new(known: Incident, now: datetime) -> bool:
    at = known.evidence.get("looked_at")
    return at is not None and now - datetime.fromisoformat(at) < LOOK_AGAIN


def _as_known(finding: Finding, known: Incident) -> Finding:
    kept = {name: value for name, value in known.evidence.items() if name not in finding.evidence}
    link = (known.link[0], known.link[1]) if known.link else None
    return replace(
        finding,
        subject=known.subject,
        node_rank=known.node_rank,
        link=link,
        probable=known.probable,
        evidence={**finding.evidence, **kept},
    )


def _lossy(reader: Reader, table: Table, now: datetime) -> list[Finding]:
    """Links that lose packets, worth a word before anybody waits for them."""
    again = samples.newest(reader, "node/retransmits", samples.NOW_S)
    if again is None or not (np.nanmean(again.values, axis=0) >= LOSES).any():
        return []
    known = _opened(reader)
    since = int(known.opened_at.timestamp()) - samples.NOW_S if known is not None else None
    return [
        replace(one, evidence={**one.evidence, "looked_at": now.isoformat()})
        for one in lossy(samples.links(reader, since), since=int(table.steps[-1]))
    ]


def _starved(found: list[Finding], waiting: dict[int, float]) -> list[Finding]:
    """A rank that is late in several phases and has no processor for much of the time is late by that."""

    def judged(finding: Finding) -> Finding:
        share = waiting.get(-1 if finding.rank is None else finding.rank, 0.0)
        others = [value for rank, value in waiting.items() if rank != finding.rank]
        apart = not others or share >= _MORE * float(np.median(others))
        if finding.kind != STRAGGLER or finding.cause not in ("cpu", "unknown") or share < STARVED or not apart:
            return finding
        return replace(finding, cause="cpu", probable=False, evidence={**finding.evidence, "waits": share})

    return [judged(finding) for finding in found]


def _with_devices(reader: Reader, found: list[Finding], table: Table) -> list[Finding]:
    nodes = dict(zip(table.ranks.tolist(), table.nodes.tolist(), strict=True))
    slow = {one.rank: one for one in slow_devices(samples.devices(reader), nodes, int(table.steps[-1]))}
    made = []
    for finding in found:
        device = slow.get(finding.rank) if finding.kind == STRAGGLER else None
        if device is not None and finding.cause in ("gpu", "forward", "backward", "unknown"):
            evidence = {**finding.evidence, **device.evidence}
            made.append(replace(finding, cause="gpu", probable=False, evidence=evidence))
            del slow[finding.rank]
        else:
            made.append(finding)
    # Nobody waits for these devices: a word, no cost.
    return [*made, *(replace(one, kind=DEVICE, slowdown=0.0) for one in slow.values())]
