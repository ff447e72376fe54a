"""What the page of an autopsy says: one sentence, ranks at the same place together, a line per rank, last log lines."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.incidents import autopsy
from webapp.incidents.hang import words
from webapp.incidents.hang.facts import Facts, Frame
from webapp.incidents.hang.stacks import Group, groups, is_own
from webapp.incidents.models import Autopsy

MOST_GROUPS, MOST_RANKS, MOST_LOGS = 12, 256, 8
_STATES: dict[str, str | Promise] = {
    "R": gettext_lazy("runs"),
    "S": gettext_lazy("sleeps"),
    "D": gettext_lazy("waits in the kernel"),
    "T": gettext_lazy("stopped"),
    "t": gettext_lazy("held by a debugger"),
    "Z": gettext_lazy("dead"),
}


def page(row: Autopsy, now: datetime) -> dict[str, Any]:
    """Everything that templates/incidents/autopsy.html draws. Judges, if all is in and nobody has."""
    found = autopsy.answers(row)
    complete = autopsy.is_complete(row, found, now)
    if complete and not row.verdict:
        autopsy.conclude(row, found)
    told = row.verdict
    culprits = frozenset(told.get("ranks", ()))
    return {
        "autopsy": row,
        "run": row.attempt.run,
        "complete": complete,
        "head": words.head(told) if told else _("Asking every rank…"),
        "next": words.next_step(told) if told else "",
        "tone": "info" if not told or told["kind"] in ("moving", "over") else "crit",
        "answered": autopsy.who_answered(found) if found.ranks or complete else "",
        "calls": [{**call, "place": words.place(call["frame"])} for call in told.get("calls", ())],
        "groups": [_group(group, culprits) for group in groups(found.ranks)[:MOST_GROUPS]],
        "ranks": [_rank(rank, found.ranks[rank], culprits) for rank in sorted(found.ranks)[:MOST_RANKS]],
        "hidden_ranks": max(0, len(found.ranks) - MOST_RANKS),
        "logs": _logs(found.ranks, culprits),
    }


def _group(group: Group, culprits: Collection[int]) -> dict[str, Any]:
    frames = [_frame(frame) for frame in group.frames]
    return {"ranks": _badges(group.ranks, culprits), "n": len(group.ranks), "frames": frames}


def _badges(ranks: Iterable[int], culprits: Collection[int]) -> list[dict[str, Any]]:
    return [{"rank": rank, "guilty": rank in culprits} for rank in ranks][:MOST_RANKS]


def _rank(rank: int, facts: Facts, culprits: Collection[int]) -> dict[str, Any]:
    return {
        "rank": rank,
        "guilty": rank in culprits,
        "alive": facts.alive,
        "state": _STATES.get(facts.state, facts.state) if facts.alive else _("gone"),
        "wchan": facts.wchan,
        "phase": words.phase(facts.phase),
        "in_phase_s": facts.in_phase_s,
        "steps": facts.steps,
        "collectives": facts.collectives if facts.phase else None,
        "cpu": round(100 * facts.cpu) if facts.alive else None,
        "gpu": facts.gpu,
        "answered": facts.answered,
    }


def _logs(ranks: Mapping[int, Facts], culprits: Collection[int]) -> list[dict[str, Any]]:
    """The culprits' first."""
    order = sorted(ranks, key=lambda rank: (rank not in culprits, rank))
    return [{"rank": rank, "lines": ranks[rank].log} for rank in order if ranks[rank].log][:MOST_LOGS]


def _frame(frame: Frame) -> dict[str, Any]:
    place = words.place({"name": frame.name, "filename": frame.filename, "line": frame.line})
    return {"place": place, "file": frame.filename, "own": is_own(frame)}
