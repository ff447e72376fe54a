"""Who made an attempt fail: a rank, or a launcher that ended without one."""

import signal
from dataclasses import dataclass
from typing import Any

from webapp.runs.first_failure import RANK_REASONS
from webapp.runs.models import Attempt, AttemptNode, Cause, Outcome
from webapp.runs.rank_exits import verdict
from webapp.runs.settle import fail, stop, suspect
from webapp.runs.state import mirror, record

_LOST_BY = {"shim_lost": (Cause.AGENT, "shim_lost"), "node_rebooted": (Cause.NODE, "node_restarted")}
_WITH_LAUNCHER = (signal.SIGTERM, signal.SIGKILL)  # what a rank gets when its launcher has gone


@dataclass(frozen=True, slots=True)
class Ending:
    """How a launcher ended, in the words of its node."""

    code: int | None
    signal: int | None
    reason: str
    text: str

    @property
    def was_killed(self) -> bool:
        """The launcher was killed, and not by our order."""
        return self.reason == "exited" and self.signal is not None

    @property
    def tells_why(self) -> bool:
        """It explains its ranks' ends: the launcher was killed, or what held it is gone."""
        return self.was_killed or self.reason in _LOST_BY


def blame_rank(attempt: Attempt) -> None:
    """A rank failed while the attempt was alive: stop all, and name the first that failed on its own.

    Where it only lost another rank, or was told to end by somebody, their word may still come, or their node may be the
    one that is gone: then nobody is named until that is known.
    """
    found = verdict(attempt)
    if found is None:
        return
    if found.certain:
        fail(attempt, cause=found.cause, reason=found.reason, detail=found.detail)
    else:
        suspect(attempt, found.detail)


def refine(attempt: Attempt) -> None:
    """An exit came in while all are stopping: decide what is open, or name an earlier one. Outcome and cause stay."""
    found = verdict(attempt)
    if found is None:
        return
    if attempt.is_undecided:
        if found.certain:
            fail(attempt, cause=found.cause, reason=found.reason, detail=found.detail)
        return
    by_a_rank = attempt.outcome == Outcome.FAILED and attempt.reason in RANK_REASONS
    if by_a_rank and found.detail["rank"] != attempt.detail.get("rank"):
        _rename(attempt, found.reason, found.detail)


def _rename(attempt: Attempt, reason: str, detail: dict[str, Any]) -> None:
    fields = {"reason": reason, "detail": detail}
    Attempt.objects.filter(pk=attempt.pk).update(**fields)
    mirror(attempt, fields)
    rank = detail.get("rank")
    told = {name: value for name, value in detail.items() if name != "rank"}
    record(attempt, "first_failure", level="crit", rank=rank, reason=reason, **told)


def refine_by_launcher(part: AttemptNode, attempt: Attempt, ending: Ending) -> None:
    """A rank that died with its launcher was told first: name the launcher. Outcome and cause stay."""
    followed = attempt.reason == "killed_by_signal" and attempt.detail.get("signal") in _WITH_LAUNCHER
    if ending.was_killed and followed and attempt.detail.get("node") == part.node_name:
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
