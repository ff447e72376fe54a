"""What a finished check leads to: it is written down, and the attempt that waits for it starts, or ends."""

from typing import Any

from django.utils import timezone

from webapp.nodes.commands import order_starts
from webapp.nodes.models import CommandKind
from webapp.preflight import words
from webapp.preflight.finding import RED, Finding
from webapp.preflight.models import Check, Stage
from webapp.preflight.verdict import Verdict, stored
from webapp.runs.models import Cause, Status
from webapp.runs.settle import fail
from webapp.runs.state import locked, record

_OF_THE_NETWORK = ("link_", "node_")


def write(check: Check, verdict: Verdict) -> None:
    """-> done, once."""
    fields = {"stage": Stage.DONE, "done_at": timezone.now(), "level": verdict.level}
    check.findings = stored(verdict.findings)
    for name, value in fields.items():
        setattr(check, name, value)
    Check.objects.filter(pk=check.pk).exclude(stage=Stage.DONE).update(findings=check.findings, **fields)


def act(check: Check, verdict: Verdict) -> None:
    """Start the attempt; red ends it instead. Nothing for one that was stopped or placed anew meanwhile."""
    assert check.attempt_id is not None
    attempt = locked(check.attempt_id)
    newest = attempt.checks.order_by("-pk").first()
    begun = attempt.commands.filter(kind=CommandKind.START).exists()
    if attempt.status != Status.STARTING or begun or newest is None or newest.pk != check.pk:
        return
    told: dict[str, Any] = {"check": check.pk, "text": words.head(check.level, check.findings, check.nodes.count())}
    if verdict.level == RED:
        worst = verdict.findings[0]
        detail = {**told, "node": worst.nodes[0]}
        fail(attempt, cause=_cause(worst), reason="preflight", detail=detail, actor="pre-flight check")
        return
    record(attempt, "checked", level="ok" if not check.findings else "warn", **told)
    order_starts(attempt)


def _cause(worst: Finding) -> Cause:
    return Cause.NETWORK if worst.kind.startswith(_OF_THE_NETWORK) else Cause.NODE
