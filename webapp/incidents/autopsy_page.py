"""What the page of an autopsy says: one sentence, ranks at the same place together, ranks in pages, last log lines."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.incidents import autopsy
from webapp.incidents.hang import words
from webapp.incidents.hang.facts import Facts, Frame
from webapp.incidents.hang.stacks import Group, groups, is_own
from webapp.incidents.models import Autopsy

MOST_GROUPS, MOST_BADGES, MOST_LOGS, PAGE_SIZE = 12, 40, 8, 100
_STATES: dict[str, str | Promise] = {
    "R": gettext_lazy("runs"),
    "S": gettext_lazy("sleeps"),
    "D": gettext_lazy("waits in the kernel"),
    "T": gettext_lazy("stopped"),
    "t": gettext_lazy("held by a debugger"),
    "Z": gettext_lazy("dead"),
}


def page(row: Autopsy, now: datetime, number: str = "") -> dict[str, Any]:
    """Everything that templates/incidents/autopsy.html draws. Judges, if all is in and nobody has.

    `number`: of the page of ranks.
    """
    found = autopsy.answers(row)
    complete = autopsy.is_complete(row, found, now)
    if complete and not row.verdict:
        autopsy.conclude(row, found)
    told = row.verdict
    culprits = frozenset(told.get("ranks", ()))
    together = sorted(groups(found.ranks), key=lambda group: culprits.isdisjoint(group.ranks))
    ranks = Paginator(sorted(found.ranks, key=lambda rank: (rank not in culprits, rank)), PAGE_SIZE).get_page(number)
    return {
        "autopsy": row,
        "run": row.attempt.run,
        "complete": complete,
        "head": words.head(told) if told else _("Asking every rank…"),
        "next": words.next_step(told) if told else "",
        "tone": "info" if not told or told["kind"] in ("moving", "over") else "crit",
        "answered": autopsy.who_answered(found) if found.ranks or complete else "",
        "calls": [_call(call) for call in told.get("calls", ())],
        "groups": [_group(group, culprits) for group in together[:MOST_GROUPS]],
        "hidden_groups": max(0, len(together) - MOST_GROUPS),
        "page": ranks,
        "ranks": [_rank(rank, found.ranks[rank], culprits) for rank in ranks],
        "logs": _logs(found.ranks, culprits),
    }


def _group(group: Group, culprits: Collection[int]) -> dict[str, Any]:
    frames = [_frame(frame) for frame in group.frames]
    badges = _badges(group.ranks, culprits)
    hidden = max(0, len(badges) - MOST_BADGES)
    return {"badges": badges[:MOST_BADGES], "hidden": hidden, "n": len(group.ranks), "frames": frames}


def _badges(ranks: Iterable[int], culprits: Collection[int]) -> list[dict[str, Any]]:
    """Ranks that follow each other in one badge, the culprits first."""
    stretches: list[list[int]] = []
    for rank in ranks:
        if stretches and rank == stretches[-1][-1] + 1 and (rank in culprits) == (rank - 1 in culprits):
            stretches[-1].append(rank)
        else:
            stretches.append([rank])
    found = [{"ranks": _stretch(part), "guilty": part[0] in culprits} for part in stretches]
    return sorted(found, key=lambda badge: not badge["guilty"])


def _stretch(ranks: Sequence[int]) -> str:
    return str(ranks[0]) if len(ranks) == 1 else f"{ranks[0]}–{ranks[-1]}"


def _call(call: dict[str, Any]) -> dict[str, Any]:
    badges = _badges(call["ranks"], ())
    return {
        **call,
        "badges": badges[:MOST_BADGES],
        "hidden": len(badges) > MOST_BADGES,
        "place": words.place(call["frame"]),
    }


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
