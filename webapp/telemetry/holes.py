"""Holes of the curves: steps that were made and are not stored, with the ranks, the reason and a sentence."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from webapp.runs.models import Attempt, AttemptNode, Status
from webapp.telemetry.hole_words import WHY, ranks_text, steps_text
from webapp.telemetry.ledger import NODE_LOST, PENDING, Account, accounts
from webapp.telemetry.points import STEP, STEP_END, Points
from webapp.telemetry.read import Reader
from webapp.telemetry.run_read import RunReader
from webapp.telemetry.stitch import cut_of

LATE_S = 2.0  # what is on its way for a shorter time is no hole
MOST = 200  # the newest; the ledger has all
NEEDED = frozenset({STEP, STEP_END})
_SILENT = timedelta(seconds=6)  # heartbeats come every 2 s

Hole = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Missing:
    """A span of steps, numbered from 0, that some ranks of one node miss for one reason."""

    first: int
    last: int
    reason: str
    node_rank: int
    ranks: tuple[int, ...]


def panel(reader: Reader | RunReader, lo: int | None = None, hi: int | None = None) -> dict[str, Any]:
    """The panel `holes` of lo <= step <= hi; of a run only those on its main line."""
    found: list[Hole] = []
    spans = reader.spans if isinstance(reader, RunReader) else []
    for attempt in reader.attempts:
        cut = cut_of(attempt.number, spans)
        found += [hole for hole in of_attempt(attempt) if cut is None or hole["from"] < cut]
    found = [hole for hole in found if (lo is None or hole["to"] >= lo) and (hi is None or hole["from"] <= hi)]
    return as_panel(found)


def as_panel(found: list[Hole]) -> dict[str, Any]:
    """In the shape of a panel."""
    empty = {"x": [], "columns": {}, "worst": [], "finding": [], "reduction": "", "points": 0, "of": 0}
    newest = sorted(found, key=lambda hole: (hole["from"], hole["to"]))[-MOST:]
    return {"id": "holes", "unit": "", "axis": "step", **empty, "holes": newest}


def of_attempt(attempt: Attempt, now: datetime | None = None, young: dict[str, Points] | None = None) -> list[Hole]:
    """`[{from, to, ranks, reason, text}]` in the script's steps, by their first step.

    `young`: the young data of `NEEDED`, as a `Reader` takes it.
    """
    now = now or timezone.now()
    parts = {part.node_rank: part for part in attempt.parts.select_related("node")}
    nodes = dict(attempt.ranks.values_list("rank", "node_rank"))
    told = _with_silent(attempt, accounts(attempt, young), nodes, parts, now)
    found = _late_only(Reader(attempt, first_step=0, young=young), missing(told, nodes), now)
    return [_shown(hole, attempt.first_step, parts.get(hole.node_rank), now) for hole in found]


def missing(found: dict[int, Account], nodes: dict[int, int]) -> list[Missing]:
    """The gaps of all ranks, those of one node that miss the same put together. `nodes`: node rank of each rank."""
    same: dict[tuple[int, int, str, int], list[int]] = {}
    for rank, one in sorted(found.items()):
        for first, last, reason in one.gaps:
            same.setdefault((first, last, reason, nodes.get(rank, 0)), []).append(rank)
    return [Missing(*key, ranks=tuple(ranks)) for key, ranks in sorted(same.items())]


def _with_silent(
    attempt: Attempt, found: dict[int, Account], nodes: dict[int, int], parts: dict[int, AttemptNode], now: datetime
) -> dict[int, Account]:
    """A node that is not heard cannot say what its ranks made: as much as the others, until it can."""
    furthest = max((one.last for one in found.values()), default=-1)
    told = dict(found)
    for rank, one in found.items():
        part = parts.get(nodes.get(rank, 0))
        if part is not None and one.made <= furthest and _silent_for(part, now) is not None:
            reason = PENDING if part.lost_at is None else NODE_LOST
            gaps = [gap for gap in one.gaps if gap[0] <= one.last]
            told[rank] = replace(one, made=furthest + 1, gaps=[*gaps, (one.last + 1, furthest, reason)])
    return told


def _late_only(reader: Reader, found: list[Missing], now: datetime) -> list[Missing]:
    """Without what is on its way since a moment only."""
    attempt = reader.attempt
    if attempt.status == Status.ENDED or not any(hole.reason == PENDING for hole in found):
        return found
    if attempt.telemetry_at is not None and now - attempt.telemetry_at > timedelta(seconds=LATE_S):
        return found
    return [hole for hole in found if hole.reason != PENDING or _made_long_ago(reader, hole)]


def _made_long_ago(reader: Reader, hole: Missing) -> bool:
    """Whether another rank ended the hole's first step so long before the newest step that is stored."""
    ends = reader.series(STEP_END, lo=hole.first, hi=hole.first)
    newest = reader.view(STEP_END).last
    now = reader.series(STEP_END, lo=newest, hi=newest)
    if not ends.present.any() or not now.present.any():
        return False
    return float(now.values[now.present].max() - ends.values[ends.present].min()) > LATE_S


def _silent_for(part: AttemptNode, now: datetime) -> int | None:
    """Seconds for which a part that is not finished has not been heard; None when it is well."""
    heard = part.node.last_heard if part.node is not None else None
    if part.finished_at is not None or heard is None or now - heard < _SILENT:
        return None
    return int((now - heard).total_seconds())


def _shown(hole: Missing, first_step: int, part: AttemptNode | None, now: datetime) -> Hole:
    first, last = hole.first + first_step, hole.last + first_step
    told = {
        "ranks": ranks_text(hole.ranks),
        "steps": steps_text(first, last),
        "node": part.node_name if part is not None else _("its node"),
    }
    silent = _silent_for(part, now) if part is not None and hole.reason == PENDING else None
    if silent is not None:
        text = _("%(ranks)s: %(steps)s are still on %(node)s, which has not been heard for %(s)s s.") % {
            **told,
            "s": silent,
        }
    else:
        text = str(WHY.get(hole.reason, WHY["dropped"])) % told
    return {"from": first, "to": last, "ranks": list(hole.ranks), "reason": hole.reason, "text": text}
