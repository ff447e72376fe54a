"""Found by rows alone: attempts that have come to their end, and those to try again."""

from datetime import timedelta

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.utils import timezone

from webapp.nodes import lifecycle as nodes
from webapp.nodes.models import Command, Node
from webapp.runs import lifecycle
from webapp.runs.models import Attempt, AttemptNode, Cause, Outcome, Status
from webapp.runs.settle import fail
from webapp.runs.state import PLACED, locked

# An attempt that ended longer ago had its chance: the sweep looks every two seconds.
_RETRY_WITHIN = timedelta(hours=1)
_LAST_WORD = timedelta(seconds=30)  # an attached agent reads its last acknowledgement, then ends
_LOST_FOR_GOOD = timedelta(hours=6)  # a network may come back


def end_settled() -> None:
    """End attempts of which nothing is left anywhere, should the last word have come while nobody listened."""
    left = AttemptNode.objects.filter(attempt=OuterRef("pk"), finished_at=None, lost_at=None)
    for attempt in Attempt.objects.filter(~Exists(left), status__in=PLACED).values_list("pk", flat=True):
        with transaction.atomic():
            lifecycle.settle(locked(attempt))


def retire_attached() -> None:
    """Take attached agents that are done off the list, and their Redis users away."""
    now = timezone.now()
    open_part = AttemptNode.objects.filter(node=OuterRef("pk"))
    unfinished = open_part.exclude(finished_at__lt=now - _LAST_WORD).exclude(lost_at__lt=now - _LOST_FOR_GOOD)
    for node in Node.objects.filter(~Exists(unfinished), removed_at=None).exclude(attached_as=""):
        nodes.remove(node)


def retry_failed() -> None:
    """Queue a new attempt of what failed or was lost and may be tried again."""
    ended = Attempt.objects.filter(
        status=Status.ENDED,
        outcome__in=(Outcome.FAILED, Outcome.LOST),
        number=F("run__attempt_count"),
        ended_at__gt=timezone.now() - _RETRY_WITHIN,
        stop_requested_at=None,
        run__deleted_at=None,
        run__spec__retries__gt=0,
    )
    for attempt in ended:
        lifecycle.retry(attempt)


@transaction.atomic
def stop_unreadable(command: Command) -> None:
    """End an attempt whose secrets cannot be opened: no start could ever be sent."""
    attempt = locked(command.attempt_key)
    fail(attempt, cause=Cause.CODE, reason="secret_unreadable", detail={}, actor="scheduler")
