"""Who made an attempt fail: a rank, or a launcher that ended without one."""

import signal
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from webapp.nodes.models import CommandKind
from webapp.runs.first_failure import Exit, culprit, explain
from webapp.runs.models import Attempt, AttemptNode, Cause, Outcome
from webapp.runs.settle import fail, stop
from webapp.runs.state import mirror, record

# A victim's report may overtake the culprit's; an exit later than our own stop order proves nothing.
_CLOCK_SLACK = timedelta(seconds=0.2)
_LOST_BY = {"shim_lost": (Cause.AGENT, "shim_lost"), "node_rebooted": (Cause.NODE, "node_restarted")}

_WITH_LAUNCHER = (signal.SIGTERM, signal.SIGKILL)  # what a rank gets when its launcher has gone


@dataclass(frozen=True, slots=True)
class Ending:
    """How a launcher ended, in the words of its node."""

    code: int | None
    signal: int | None
    reason: str
    text: str


def blame_rank(attempt: Attempt) -> None:
    """A rank failed while the attempt was alive: stop all, and name the first that failed on its own."""
    first = culprit(_exits(attempt))
    if first is not None:
        verdict = explain(first, _made(attempt))
        fail(attempt, cause=verdict.cause, reason=verdict.reason, detail=verdict.detail)


def refine(attempt: Attempt) -> None:
    """An exit that happened earlier arrived later: name the right rank. Outcome and cause stay."""
    ordered = attempt.commands.filter(kind=CommandKind.STOP).order_by("pk").values_list("created_at", flat=True).first()
    if ordered is None:
        return
    first = culprit(exit_ for exit_ in _exits(attempt) if exit_.at <= ordered + _CLOCK_SLACK)
    if first is None or first.rank == attempt.detail.get("rank"):
        return
    verdict = explain(first, _made(attempt))
    _rename(attempt, verdict.reason, verdict.detail)


def _rename(attempt: Attempt, reason: str, detail: dict[str, Any]) -> None:
    fields = {"reason": reason, "detail": detail}
    Attempt.objects.filter(pk=attempt.pk).update(**fields)
    mirror(attempt, fields)
    rank = detail.get("rank")
    told = {name: value for name, value in detail.items() if name != "rank"}
    record(attempt, "first_failure", level="crit", rank=rank, reason=reason, **told)


def _made(attempt: Attempt) -> dict[int, int]:
    """Rank -> steps made; empty unless it is known of all."""
    made = dict(attempt.ranks.values_list("rank", "made"))
    return {} if None in made.values() else made


def _exits(attempt: Attempt) -> list[Exit]:
    node_of = dict(attempt.parts.values_list("node_rank", "node_name"))
    return [
        Exit(
            rank=row.rank,
            node=node_of.get(row.node_rank, ""),
            code=row.exit_code,
            signal=row.exit_signal,
            at=row.exited_at,
            traceback=row.traceback,
            oom=bool(row.facts.get("oom")),
            oom_by=str(row.facts.get("oom_by", "")),
        )
        for row in attempt.ranks.exclude(exited_at=None)
        if row.exited_at is not None
    ]


def refine_by_launcher(part: AttemptNode, attempt: Attempt, ending: Ending) -> None:
    """A rank that died with its launcher was told first: name the launcher. Outcome and cause stay."""
    own_end = ending.reason == "exited" and ending.signal is not None
    followed = attempt.reason == "killed_by_signal" and attempt.detail.get("signal") in _WITH_LAUNCHER
    if own_end and followed and attempt.detail.get("node") == part.node_name:
        _rename(attempt, "launcher_killed", {"node": part.node_name, "code": None, "signal": ending.signal})


def blame_launcher(part: AttemptNode, attempt: Attempt, ending: Ending) -> None:
    """A launcher ended while the attempt was alive: fine only when it and all its ranks ended with 0."""
    ranks = attempt.ranks.filter(node_rank=part.node_rank)
    if ending.code == 0 and not ranks.exclude(exit_code=0).exists():
        return
    reason = ending.reason
    detail = {"node": part.node_name, "code": ending.code, "signal": ending.signal, "text": ending.text}
    if reason in _LOST_BY:
        cause, word = _LOST_BY[reason]
        fail(attempt, cause=cause, reason=word, detail=detail, outcome=Outcome.LOST, actor=part.node_name)
    elif reason == "shim_signalled":
        stop(attempt, cause=Cause.NODE, reason="node_signal", actor=part.node_name, detail=detail)
    elif ending.signal is not None:
        fail(attempt, cause=Cause.CODE, reason="launcher_killed", detail=detail, actor=part.node_name)
    elif attempt.run.is_attached:
        fail(attempt, cause=Cause.CODE, reason="command_exit", detail=detail, actor=part.node_name)
    elif not ranks.exclude(started_at=None).exists():
        cause, word = (Cause.NETWORK, "rendezvous") if attempt.parts.count() > 1 else (Cause.CODE, "launcher_exit")
        fail(attempt, cause=cause, reason=word, detail=detail, actor=part.node_name)
    else:
        lost = ranks.filter(exited_at=None).values_list("rank", flat=True).first()
        fail(attempt, cause=Cause.CODE, reason="no_exit_record", detail={"rank": lost, **detail})
