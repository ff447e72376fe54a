"""The Ledger tab: what was made, sent, stored and dropped in one attempt, and where the run's slot time went."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from django.db.models import Sum
from django.utils.translation import gettext as _

from webapp.runs import hours_words, ledger_words
from webapp.runs.models import Attempt, Run, Status
from webapp.telemetry import ledger, slot_time
from webapp.telemetry.models import LogChunk, Parked

MOST_PARKED = 5


@dataclass(frozen=True)
class HoursRow:
    """The bar of the run or of one attempt."""

    title: str
    seconds: float
    pieces: list[hours_words.Piece]


def parts(run: Run, attempt: Attempt) -> dict[str, Any]:
    """Everything that templates/runs/run/ledger.html draws."""
    states = list(attempt.ranks.values_list("rank", "node_rank", "dropped"))
    accounts = ledger.of_attempt(attempt)["ranks"]
    names = dict(attempt.parts.values_list("node_rank", "node_name"))
    nodes = {rank: names.get(node_rank, "") for rank, node_rank, _dropped in states}
    each = slot_time.of_attempts(run)
    hours = slot_time.together(run, each.values())
    return {
        "run": run,
        "attempt": attempt,
        "lives": attempt.status != Status.ENDED,
        "finding": ledger_words.sentence(accounts),
        "totals": ledger_words.totals(accounts),
        "groups": ledger_words.groups(accounts, nodes),
        "folded": len(accounts) > ledger_words.FEW,
        "others": _others(attempt, {rank: dropped for rank, _node_rank, dropped in states}, nodes),
        "parked": list(Parked.objects.filter(attempt=attempt).order_by("-pk")[:MOST_PARKED]),
        "parked_count": Parked.objects.filter(attempt=attempt).count(),
        "hours_finding": hours_words.sentence(hours),
        "hours_unit": _hours_unit(attempt),
        "hours_rows": _hours_rows(each, hours),
    }


def _others(attempt: Attempt, of_ranks: dict[int, dict[str, int]], nodes: dict[int, str]) -> list[str]:
    """Sentences on what else was left out: logged values and samples that were dropped, log lines that were skipped."""
    dropped: dict[str, Counter[str]] = {}
    for rank, counts in of_ranks.items():
        for what, count in counts.items():
            if what != ledger.STEPS and count:
                dropped.setdefault(what, Counter())[nodes[rank]] += count
    for data in attempt.events.filter(kind="dropped", rank=None).values_list("data", flat=True):
        dropped.setdefault(data["what"], Counter())[data["node"]] += data["count"]
    told = [ledger_words.dropped_text(what, by_node) for what, by_node in sorted(dropped.items())]
    skipped = LogChunk.objects.filter(attempt=attempt, skipped_lines__gt=0).values("rank")
    by_node: Counter[str] = Counter()
    for row in skipped.annotate(lines=Sum("skipped_lines")).order_by("rank"):
        by_node[nodes.get(row["rank"], "")] += row["lines"]
    return [*told, *(ledger_words.skipped_text(lines, node) for node, lines in by_node.items())]


def _hours_rows(each: dict[int, dict[str, Any]], hours: dict[str, Any]) -> list[HoursRow]:
    """The run, and when it has several attempts, each of them."""
    rows = [HoursRow(_("Run"), hours_words.whole(hours), hours_words.pieces(hours))]
    for number, one in each.items() if len(each) > 1 else ():
        title = _("Attempt %(n)s") % {"n": number}
        rows.append(HoursRow(title, hours_words.whole(one), hours_words.pieces(one)))
    return [row for row in rows if row.pieces]


def _hours_unit(attempt: Attempt) -> str:
    inventories = attempt.parts.values_list("inventory", flat=True)
    kinds = {slot.get("kind") for inventory in inventories for slot in inventory.get("slots") or []}
    return _("GPU-hours") if "gpu" in kinds else _("slot-hours")
