"""What a node says happened, applied in the node's own order inside ingest's transaction."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeGuard

from django.utils import timezone

from trainer_agent.wire.messages import Event
from webapp.history.record import note_told
from webapp.imports import lifecycle as imports
from webapp.incidents import autopsy
from webapp.live.publish import run_changed
from webapp.nodes.commands import accept, accept_start, order_starts
from webapp.nodes.models import CommandKind
from webapp.provenance import record as provenance
from webapp.runs import attached, first_step, secrets, wording
from webapp.runs.blame import Ending, blame_launcher, blame_rank, refine, refine_by_launcher
from webapp.runs.counts import Counts, note_counts, with_gap
from webapp.runs.models import Attempt, AttemptNode, Cause, Outcome, RankState, Run, Status
from webapp.runs.rank_reasons import last_line
from webapp.runs.scheduler import free_port
from webapp.runs.settle import fail, finish_part, settle, stop_by_node
from webapp.runs.state import LIVE, locked, move, record

PORT_TRIES = 3
_CAUSE_OF_REFUSAL = {"port_in_use": Cause.NODE, "spawn": Cause.NODE}
# Stops that a node makes on its own: the same time limit, and a SIGTERM that reached the shim from outside.
_STOPPED_BY_NODE = {"limit": (Cause.LIMIT, "time_limit"), "shim_signalled": (Cause.NODE, "node_signal")}


def apply_event(part: AttemptNode, event: Event) -> None:
    """Apply one event of one part. Unknown kinds and events about what is over are no error."""
    handle = _HANDLERS.get(event.kind)
    if handle is None:
        return
    part.attempt = locked(part.attempt_id)
    handle(part, part.attempt, event)


def _accepted(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    accept_start(part.node, attempt.pk, _whole(event, "command"))
    record(attempt, "accepted", at=_at(part, event), node=part.node_name)


def _refused(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    accept_start(part.node, attempt.pk, _whole(event, "command"))
    reason = _text(event, "reason") or "spawn"
    if reason == "port_in_use" and part.node_rank == 0 and _move_port(part, attempt):
        return
    told = {"node": part.node_name, "text": _safe(attempt, _text(event, "detail"))[:500]}
    finish_part(part, _at(part, event))
    cause = _CAUSE_OF_REFUSAL.get(reason, Cause.CODE)
    fail(attempt, cause=cause, reason=reason, detail=told, actor=part.node_name)
    settle(attempt)


def _move_port(part: AttemptNode, attempt: Attempt) -> bool:
    """Ask every node again with another port; those that wait at the old one start over."""
    if attempt.port_tries + 1 >= PORT_TRIES:
        return False
    port = free_port(attempt.master_addr)
    if port is None or not move(attempt, (Status.STARTING,), master_port=port, port_tries=attempt.port_tries + 1):
        return False
    record(attempt, "port_moved", level="warn", node=part.node_name, port=port)
    order_starts(attempt)
    return True


def _launched(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    at = _at(part, event)
    AttemptNode.objects.filter(pk=part.pk, launched_at=None).update(launched_at=at)
    record(attempt, "launched", at=at, node=part.node_name)


def _rank_started(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    at = _at(part, event)
    row = attached.rank_seen(part, event) if attempt.run.is_attached else _rank(part, event)
    if row is None:
        return
    row.pid, row.started_at = _whole(event, "pid"), at
    row.facts = {**row.facts, **{key: value for key, value in event.data.items() if key != "pid"}}
    row.save(update_fields=["pid", "started_at", "facts"])
    if attempt.status != Status.STARTING or attempt.ranks.filter(started_at=None).exists():
        return
    if attempt.run.is_attached:  # other nodes may come later, or never
        if move(attempt, (Status.STARTING,), status=Status.RUNNING, started_at=at):
            record(attempt, "first_rank", level="ok", at=at, node=part.node_name, rank=row.rank)
        return
    if move(attempt, (Status.STARTING,), status=Status.RUNNING, started_at=at):
        record(attempt, "running", level="ok", at=at, ranks=attempt.world_size)


def _rank_facts(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    row = _rank(part, event)
    if row is None:
        return
    told = {name: value for name, value in event.data.items() if name != "config"}
    if isinstance(event.data.get("config"), dict):
        note_told(attempt.run, event.data["config"])
    before, row.facts = row.facts, {**row.facts, **told}
    row.save(update_fields=["facts"])
    if first_step.told([row.facts]) != first_step.told([before]):
        _place_steps(attempt)
    if "resumed_at" in event.data and "resumed_at" not in before:
        _tell_apart(attempt)
    claims = event.data.get("claims")
    if isinstance(claims, list) and claims != before.get("claims"):
        pids = ", ".join(str(pid)[:20] for pid in claims[:2])
        record(attempt, "rank_claimed_twice", level="crit", rank=row.rank, node=part.node_name, pids=pids)
    total = _whole(event, "total_steps")
    if total and not attempt.run.spec.get("total_steps"):
        Run.objects.filter(pk=attempt.run_id, attempt_count=attempt.number).update(total_steps=total)


def _imported(part: AttemptNode, _attempt: Attempt, event: Event) -> None:
    imports.note(part, event)


def _place_steps(attempt: Attempt) -> None:
    """Find out where the script's own count of steps stands at the first step of these processes."""

    def said(one: Attempt) -> first_step.Told:
        return first_step.told(one.ranks.order_by("rank").values_list("facts", flat=True))

    before = Attempt.objects.filter(run=attempt.run_id, number__lt=attempt.number).order_by("number")
    first = first_step.first_step(said(attempt), [(said(one), one.first_step) for one in before])
    if first != attempt.first_step:
        Attempt.objects.filter(pk=attempt.pk).update(first_step=first)
        attempt.first_step = first
        run_changed(attempt.run)


def _tell_apart(attempt: Attempt) -> None:
    """All ranks have told where they go on: at different steps they train different models, and fail or mix them."""
    groups = first_step.apart(dict(attempt.ranks.values_list("rank", "facts")))
    if groups:
        told = {str(step): ranks for step, ranks in groups.items()}
        record(attempt, "resumed_apart", level="crit", groups=told)


def _rank_exited(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    row = _rank(part, event)
    if row is None:
        return
    row.exited_at = _at(part, event)
    row.exit_code, row.exit_signal = _whole(event, "code"), _whole(event, "signal")
    row.traceback = _safe(attempt, _text(event, "traceback"))
    row.facts = {**row.facts, **{key: event.data[key] for key in ("oom", "oom_by", "max_rss_kb") if key in event.data}}
    row.save(update_fields=["exited_at", "exit_code", "exit_signal", "traceback", "facts"])

    if row.exit_code == 0:
        return
    told: dict[str, Any] = {"node": part.node_name, "code": row.exit_code, "signal": row.exit_signal}
    if attempt.status in LIVE:
        record(attempt, "rank_exited", level="warn", rank=row.rank, at=row.exited_at, **told)
        blame_rank(attempt)
    elif attempt.status == Status.STOPPING:
        refine(attempt)


def _provenance(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    provenance.note(part, event)


def _dropped(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    what, count, reason = _text(event, "what") or "data", _whole(event, "count") or 0, _text(event, "reason")
    first, last = _whole(event, "first"), _whole(event, "last")
    row = _rank(part, event)
    if row is not None:
        row.dropped = {**row.dropped, what: row.dropped.get(what, 0) + count}
        if what == "steps" and first is not None and last is not None:
            row.gaps = with_gap(row.gaps, first, last, reason)
        row.save(update_fields=["dropped", "gaps"])
    record(
        attempt,
        "dropped",
        level="warn",
        rank=event.rank,
        at=_at(part, event),
        node=part.node_name,
        what=what,
        count=count,
        reason=reason,
    )


def _counted(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    made, taken = _whole(event, "made"), _whole(event, "taken")
    if event.rank is not None and made is not None and part.node_id is not None:
        note_counts([Counts(part.node_id, attempt.pk, {event.rank: made}, {event.rank: taken or 0})])


def _autopsy(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    asked = _whole(event, "asked")
    if asked is not None and _rank(part, event) is not None:
        autopsy.take(part, asked, event)


def _stopping(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    accept(part.node, attempt.pk, CommandKind.START, CommandKind.STOP)
    told: dict[str, Any] = {"signal": _text(event, "signal"), "grace": event.data.get("grace")}
    record(attempt, "node_stopping", at=_at(part, event), node=part.node_name, **told)
    known = _STOPPED_BY_NODE.get(_text(event, "reason"))
    if known is not None:
        cause, reason = known
        detail = {"node": part.node_name, "seconds": attempt.run.spec.get("timeout")}
        stop_by_node(attempt, cause=cause, reason=reason, actor=part.node_name, detail=detail)


def _finished(part: AttemptNode, attempt: Attempt, event: Event) -> None:
    at = _at(part, event)
    accept(part.node, attempt.pk, CommandKind.START, CommandKind.STOP)
    survivors = _survivors(event)
    finish_part(part, at, survivors)
    if survivors:
        names = wording.process_names(survivors)
        record(attempt, "survivors", level="crit", at=at, node=part.node_name, survivors=names)
    if attempt.run.is_attached:
        attempt.ranks.filter(node_rank=part.node_rank, exited_at=None).update(exited_at=at)
    ending = Ending(
        code=_whole(event, "launcher_code"),
        signal=_whole(event, "launcher_signal"),
        reason=_text(event, "reason"),
        text=_safe(attempt, last_line(_text(event, "detail"))),
    )
    if attempt.status in LIVE or (attempt.is_undecided and ending.tells_why):
        blame_launcher(part, attempt, ending)
    elif attempt.status == Status.STOPPING and attempt.outcome == Outcome.FAILED:
        refine_by_launcher(part, attempt, ending)
    settle(attempt)


def _survivors(event: Event) -> list[dict[str, Any]]:
    """Processes that the node could not end."""
    told = event.data.get("survivors")
    listed = told if isinstance(told, list) else []
    found = [one for one in listed if isinstance(one, dict) and _is_whole(one.get("pid"))]
    return [{"pid": s["pid"], "name": str(s.get("name", ""))[:64], "state": str(s.get("state", ""))[:8]} for s in found]


def _rank(part: AttemptNode, event: Event) -> RankState | None:
    """The rank's row, if the rank is one of this node's."""
    if event.rank is None:
        return None
    return RankState.objects.filter(attempt=part.attempt_id, node_rank=part.node_rank, rank=event.rank).first()


def _at(part: AttemptNode, event: Event) -> datetime:
    """The event's time on the server's clock."""
    offset = part.node.clock_offset if part.node is not None else None
    try:
        return datetime.fromtimestamp(event.at + (offset or 0.0), UTC)
    except (ValueError, OverflowError, OSError):
        return timezone.now()


def _text(event: Event, name: str) -> str:
    value = event.data.get(name)
    return "" if value is None else str(value)


def _whole(event: Event, name: str) -> int | None:
    value = event.data.get(name)
    return value if _is_whole(value) else None


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _safe(attempt: Attempt, text: str) -> str:
    return secrets.redact(attempt.run, text) if text else ""


_HANDLERS: dict[str, Callable[[AttemptNode, Attempt, Event], None]] = {
    "accepted": _accepted,
    "refused": _refused,
    "launched": _launched,
    "rank_started": _rank_started,
    "rank_facts": _rank_facts,
    "rank_exited": _rank_exited,
    "dropped": _dropped,
    "counted": _counted,
    "autopsy": _autopsy,
    "stopping": _stopping,
    "provenance": _provenance,
    imports.PROGRESS: _imported,
    "finished": _finished,
}
