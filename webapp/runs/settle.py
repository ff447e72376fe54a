"""How an attempt comes to its end: failure, stop, loss, and the proof that nothing of it is left."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from webapp.incidents import stepless
from webapp.nodes.commands import accept, order, order_forget, withdraw_start
from webapp.nodes.models import CommandKind, Slot
from webapp.queue import PLACE, hint
from webapp.runs.first_failure import Verdict
from webapp.runs.models import Attempt, AttemptNode, Cause, Outcome, Status
from webapp.runs.rank_exits import verdict
from webapp.runs.spec import RunSpec
from webapp.runs.state import LIVE, PLACED, mirror, move, record

# After a failure the peers hang in a collective that cannot finish: no use in waiting out a long grace period.
FAILURE_GRACE_S = 5.0


def fail(
    attempt: Attempt,
    *,
    cause: Cause,
    reason: str,
    detail: dict[str, Any],
    outcome: Outcome = Outcome.FAILED,
    actor: str = "",
) -> bool:
    """starting, running -> stopping with an outcome, and stop every node at once; decides what is open while stopping.

    False when it was decided before.
    """
    decision = {"outcome": outcome, "cause": cause, "reason": reason, "detail": detail, "actor": actor}
    if _decide(attempt, decision):
        settle(attempt)
        return True
    grace = min(RunSpec.stored(attempt.run.spec).grace, FAILURE_GRACE_S)
    return _stop(attempt, grace, level="crit", **decision)


def suspect(attempt: Attempt, detail: dict[str, Any]) -> None:
    """starting, running -> stopping, and stop every node at once; the outcome is open until the culprit is known.

    The last part that ends, or is given up, decides at the latest.
    """
    if move(attempt, LIVE, status=Status.STOPPING):
        record(attempt, "finding_out", level="warn", rank=detail.get("rank"), node=detail.get("node"))
        if not attempt.run.is_attached:
            stop_parts(attempt, min(RunSpec.stored(attempt.run.spec).grace, FAILURE_GRACE_S), "peer_failed")


def stop(attempt: Attempt, *, cause: Cause, reason: str, actor: str, detail: dict[str, Any] | None = None) -> bool:
    """starting, running -> stopping, with the whole grace period."""
    grace = RunSpec.stored(attempt.run.spec).grace
    return _stop(
        attempt,
        grace,
        outcome=Outcome.STOPPED,
        cause=cause,
        reason=reason,
        detail=detail or {},
        actor=actor,
        level="warn",
    )


def stop_by_node(attempt: Attempt, *, cause: Cause, reason: str, actor: str, detail: dict[str, Any]) -> None:
    """A node stops on its own: as `stop`; also explains ranks that were told to end before the node could say so."""
    decision = {"outcome": Outcome.STOPPED, "cause": cause, "reason": reason, "detail": detail, "actor": actor}
    if not stop(attempt, cause=cause, reason=reason, actor=actor, detail=detail):
        _decide(attempt, decision, level="warn")


def finish_part(part: AttemptNode, at: datetime, survivors: Sequence[dict[str, Any]] = ()) -> None:
    """The node proved that its tree is gone: its slots may be offered again.

    `survivors` could not be ended, by any means: the part is over all the same, but its slots stay taken until the
    node's heartbeat no longer lists the attempt.
    """
    rows = AttemptNode.objects.filter(pk=part.pk, finished_at=None)
    if rows.update(finished_at=at, survivors=list(survivors)) == 1 and not survivors:
        free_slots(part)


def clean(part: AttemptNode) -> None:
    """The last process that no kill could end is gone by itself."""
    if AttemptNode.objects.filter(pk=part.pk).exclude(survivors=[]).update(survivors=[]) == 1:
        record(part.attempt, "clean", level="ok", node=part.node_name)


def free_slots(part: AttemptNode) -> None:
    """Offer a part's slots again."""
    if Slot.objects.filter(node=part.node_id, attempt=part.attempt_id).update(attempt=None):
        hint(PLACE)


def lose_part(part: AttemptNode, *, reason: str, cause: Cause, **detail: Any) -> None:
    """Give a part up without proof. Its slots stay taken until the node shows up without the attempt."""
    if AttemptNode.objects.filter(pk=part.pk, finished_at=None, lost_at=None).update(lost_at=timezone.now()) != 1:
        return
    attempt = part.attempt
    told = {"node": part.node_name, **detail}
    record(attempt, reason, level="crit", **told)
    fail(attempt, cause=cause, reason=reason, detail=told, outcome=Outcome.LOST, actor="heartbeat watch")
    settle(attempt)


def settle(attempt: Attempt) -> bool:
    """End the attempt once no part of it is left anywhere. Safe to call at any time; the sweep does."""
    if attempt.status not in PLACED or attempt.parts.filter(finished_at=None, lost_at=None).exists():
        return False
    now = timezone.now()
    if attempt.status in LIVE:
        if attempt.ranks.exclude(exit_code=0).exists():
            silent = attempt.ranks.exclude(exit_code=0).values_list("rank", flat=True).first()
            return fail(attempt, cause=Cause.CODE, reason="no_exit_record", detail={"rank": silent})
        started = attempt.started_at or now
        ended = move(attempt, LIVE, status=Status.ENDED, outcome=Outcome.SUCCEEDED, started_at=started, ended_at=now)
    else:
        if not attempt.outcome:
            _name_the_best(attempt)
        ended = move(attempt, (Status.STOPPING,), status=Status.ENDED, ended_at=now)
    if ended:
        record(attempt, "ended", level=_level(attempt.outcome), outcome=attempt.outcome)
        stepless.note(attempt)
    return ended


def _name_the_best(attempt: Attempt) -> None:
    """All have said what they know, and each waited for the others: the first of them is the nearest to the truth."""
    found = verdict(attempt)
    if found is None:  # it was left open without an exit that we may judge by
        found = Verdict(Cause.CODE, "no_exit_record", {"rank": 0})
    decision = {"cause": found.cause, "reason": found.reason, "detail": found.detail}
    _decide(attempt, {"outcome": Outcome.FAILED, "actor": "", **decision})


def _decide(attempt: Attempt, decision: dict[str, Any], level: str = "crit") -> bool:
    """Write the outcome that a stopping attempt lacks; False when it does not lack one."""
    undecided = Attempt.objects.filter(pk=attempt.pk, status=Status.STOPPING, outcome="")
    if undecided.update(**decision) != 1:
        return False
    for name, value in decision.items():
        setattr(attempt, name, value)
    mirror(attempt, decision)
    _tell(attempt, level, decision)
    return True


def _stop(attempt: Attempt, grace: float, *, level: str, **decision: Any) -> bool:
    if not move(attempt, LIVE, status=Status.STOPPING, **decision):
        return False
    _tell(attempt, level, decision)
    if not attempt.run.is_attached or decision["cause"] == Cause.USER:
        stop_parts(attempt, grace, decision["reason"])
    settle(attempt)
    return True


def _tell(attempt: Attempt, level: str, decision: dict[str, Any]) -> None:
    record(
        attempt,
        str(decision["outcome"]),
        level=level,
        actor=decision["actor"],
        rank=decision["detail"].get("rank"),
        cause=decision["cause"],
        reason=decision["reason"],
        **{name: value for name, value in decision["detail"].items() if name != "rank"},
    )


def stop_parts(attempt: Attempt, grace: float, reason: str) -> None:
    """Order every node that may hold something of the attempt to stop it, and prove it."""
    signal = RunSpec.stored(attempt.run.spec).stop_signal
    for part in attempt.parts.filter(finished_at=None).select_related("node"):
        if part.node is None or (not attempt.run.is_attached and withdraw_start(part)):
            finish_part(part, timezone.now())
        else:
            order(CommandKind.STOP, part.node, attempt, signal=signal, grace=grace, reason=reason)


def forget(part: AttemptNode) -> None:
    """Order a node to stop and drop all that it holds of the attempt."""
    accept(part.node, part.attempt_id, CommandKind.START, CommandKind.STOP)
    if part.node is not None:
        order_forget(part.node, part.attempt_id)


def _level(outcome: str) -> str:
    return {Outcome.SUCCEEDED.value: "ok", Outcome.STOPPED.value: "warn"}.get(outcome, "crit")
