"""What became of the step records of an attempt, in words: the sentence that says it first, and a row for each rank.

Pure. An account is what the API gives for a rank: `{made, sent, stored, dropped, gaps: [[first, last, reason], …]}`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from webapp.language.numerals import numeral

FEW = 16  # more ranks than this: only those that lack something have a row of their own
MOST_ROWS = 200
_SHOWN_GAPS = 3
_SHOWN_SPANS = 4
PENDING = "pending"

Account = Mapping[str, Any]
Finding = list[tuple[str, str]]

WHY: dict[str, str | Promise] = {
    PENDING: gettext_lazy("on the way"),
    "unknown": gettext_lazy("never came, and nobody said why"),
    "unreadable": gettext_lazy("the probe could not read their times"),
    "spool_full": gettext_lazy("the node had no room left to keep them until they were sent"),
    "disk_full": gettext_lazy("the node's disk was full"),
    "overwritten": gettext_lazy("nobody read them in time, and the rank keeps only its newest steps"),
    "node_lost": gettext_lazy("the node was lost with them"),
    "parked": gettext_lazy("their message could not be read"),
    "dropped": gettext_lazy("the node dropped them"),
}

_KINDS: dict[str, str | Promise] = {
    "samples": gettext_lazy("samples"),
    "values": gettext_lazy("logged values"),
    "log bytes": gettext_lazy("bytes of log"),
}


@dataclass(frozen=True)
class Row:
    """One line of the table: a rank, or several whose accounts are alike. `ranks` is "5" or "0–7, 9"."""

    ranks: str
    count: int
    made: int
    sent: int
    stored: int
    dropped: int
    gaps: list[str] = field(default_factory=list)
    more: int = 0  # gaps that are not told
    lacks: bool = False
    pending: int = 0


@dataclass(frozen=True)
class Group:
    """The rows of one node; without a node: ranks that are not listed, those that lack steps and those that do not."""

    node: str
    rows: list[Row]


def totals(ranks: Mapping[str, Account]) -> dict[str, int]:
    """Sums over the ranks: made, sent, stored, dropped, and `pending` records that are on their way."""
    found = {name: sum(account[name] for account in ranks.values()) for name in ("made", "sent", "stored", "dropped")}
    return found | {"pending": sum(_pending(account) for account in ranks.values())}


def sentence(ranks: Mapping[str, Account]) -> Finding:
    """Whether all is stored, as [(text, tone), …]; empty when no step was made."""
    sums, n = totals(ranks), len(ranks)
    lacking = [rank for rank, account in ranks.items() if lacks(account)]
    told = {"n": n, "lacking": len(lacking), **{name: numeral(value) for name, value in sums.items()}}
    if not sums["made"]:
        return []
    if lacking:
        return [(_who_lacks(lacking, n), "warn"), (_(": %(stored)s of %(made)s are stored.") % told, "")]
    if sums["pending"]:
        return [(_("%(stored)s of %(made)s steps are stored; %(pending)s are on the way.") % told, "")]
    all_of = ngettext("Every step that the rank made", "Every step that %(n)s ranks made", n)
    return [((all_of + _(" is stored: %(stored)s of %(made)s.")) % told, "")]


def lacks(account: Account) -> bool:
    """Whether something of the rank will never come; what is on the way does not count."""
    return bool(account["dropped"]) or any(reason != PENDING for _first, _last, reason in account["gaps"])


def groups(ranks: Mapping[str, Account], nodes: Mapping[int, str]) -> list[Group]:
    """Rows by node. `nodes`: the node of each rank. Of many ranks only those that lack steps stand alone."""
    many = len(ranks) > FEW
    told = {int(rank): account for rank, account in ranks.items() if not many or lacks(account)}
    rows = _alike(told, nodes, fold=many)
    found: dict[str, list[Row]] = {}
    for alike in rows[:MOST_ROWS]:
        found.setdefault(nodes.get(alike[0], ""), []).append(_row(alike, [told[rank] for rank in alike]))
    unlisted = [rank for alike in rows[MOST_ROWS:] for rank in alike]
    whole = [int(rank) for rank in ranks if int(rank) not in told]
    folded = [_row(some, [ranks[str(rank)] for rank in some]) for some in (unlisted, whole) if some]
    made = [Group(node, rows) for node, rows in found.items()]
    return [*made, Group("", folded)] if folded else made


def gap_text(first: int, last: int, reason: str) -> str:
    """ "Steps 120 to 131: the node's disk was full." """
    steps = _("Step %(first)s") if first == last else _("Steps %(first)s to %(last)s")
    why = WHY.get(reason) or reason.replace("_", " ")
    return f"{steps % {'first': numeral(first), 'last': numeral(last)}}: {why}."


def dropped_text(what: str, by_node: Mapping[str, int]) -> str:
    """ "1,200 samples dropped on gpu-a." """
    count = sum(by_node.values())
    told = {"n": numeral(count), "what": _KINDS.get(what) or what, "nodes": ", ".join(sorted(filter(None, by_node)))}
    return (_("%(n)s %(what)s dropped on %(nodes)s.") if told["nodes"] else _("%(n)s %(what)s dropped.")) % told


def skipped_text(lines: int, node: str) -> str:
    """ "12,345 log lines skipped; the whole log is on gpu-a." """
    text = ngettext("%(n)s log line skipped", "%(n)s log lines skipped", lines) % {"n": numeral(lines)}
    return text + (_("; the whole log is on %(node)s.") % {"node": node} if node else ".")


def spans(ranks: Sequence[int]) -> str:
    """ "0–7, 9" for ascending ranks; of many separate ones the first few and how many more."""
    runs: list[list[int]] = []
    for rank in ranks:
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    told = [str(first) if first == last else f"{first}–{last}" for first, last in runs[:_SHOWN_SPANS]]
    more = sum(last - first + 1 for first, last in runs[_SHOWN_SPANS:])
    return ", ".join(told) + (f" +{more}" if more else "")


def _who_lacks(lacking: list[str], n: int) -> str:
    if n == 1:
        return _("The rank lacks steps")
    if len(lacking) == 1:
        return _("Rank %(rank)s lacks steps") % {"rank": lacking[0]}
    if len(lacking) == n:
        return (_("Both ranks lack steps") if n == 2 else _("All %(n)s ranks lack steps")) % {"n": n}
    return _("%(lacking)s of %(n)s ranks lack steps") % {"lacking": len(lacking), "n": n}


def _pending(account: Account) -> int:
    return sum(last - first + 1 for first, last, reason in account["gaps"] if reason == PENDING)


def _alike(told: Mapping[int, Account], nodes: Mapping[int, str], *, fold: bool) -> list[list[int]]:
    """Ranks of one node with the same account together, if `fold`; each alone else."""
    found: dict[object, list[int]] = {}
    for rank, account in sorted(told.items()):
        same = (nodes.get(rank), repr(sorted(account.items()))) if fold else rank
        found.setdefault(same, []).append(rank)
    return list(found.values())


def _row(ranks: list[int], accounts: list[Account]) -> Row:
    sums = {name: sum(account[name] for account in accounts) for name in ("made", "sent", "stored", "dropped")}
    lack = any(lacks(account) for account in accounts)
    pending = sum(_pending(account) for account in accounts)
    alike = all(account["gaps"] == accounts[0]["gaps"] for account in accounts)
    gaps = accounts[0]["gaps"] if alike else []
    shown = [gap_text(*gap) for gap in gaps[:_SHOWN_GAPS]]
    return Row(spans(ranks), len(ranks), **sums, gaps=shown, more=len(gaps) - len(shown), lacks=lack, pending=pending)
