"""Who serves which attempt: a lease in the attempt's row, checked and prolonged inside every writing transaction.

A process that was slow, stopped or cut off finds at its next write that another one holds the lease, and lets go.
"""

import os
import secrets
import socket
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from webapp.runs.models import Attempt, Status

LEASE = timedelta(seconds=6)
CLAIM_AT_ONCE = 16  # so that processes that start together share the work


class LostLease(Exception):
    """Another process serves this attempt now, or it is gone."""


def new_holder() -> str:
    """A name for this process that no other ever had."""
    return f"{socket.gethostname()[:30]}:{os.getpid()}:{secrets.token_hex(4)}"


def to_serve() -> Q:
    """Attempts that a node may report about and that are not yet wholly in segments."""
    return Q(compacted=False) & ~Q(status=Status.QUEUED)


def claim(holder: str) -> list[Attempt]:
    """Take some attempts that nobody serves."""
    now = timezone.now()
    free = Q(lease_until=None) | Q(lease_until__lt=now)
    found = []
    for pk in Attempt.objects.filter(to_serve(), free).order_by("-pk").values_list("pk", flat=True)[:CLAIM_AT_ONCE]:
        taken = Attempt.objects.filter(free, pk=pk).update(
            lease_holder=holder, lease_until=now + LEASE, lease_fence=F("lease_fence") + 1
        )
        if taken == 1:
            found.append(Attempt.objects.select_related("run").get(pk=pk))
    return found


def renew(holder: str, held: set[int]) -> set[int]:
    """Prolong the leases of the attempts that this process serves; those that it still holds."""
    if not held:
        return set()
    mine = Attempt.objects.filter(lease_holder=holder, pk__in=held)
    with transaction.atomic():
        mine.update(lease_until=timezone.now() + LEASE)
        return set(mine.values_list("pk", flat=True))


def hold(attempt: Attempt, holder: str) -> None:
    """First act of every writing transaction: LostLease unless the lease is still this very one."""
    still = Attempt.objects.filter(pk=attempt.pk, lease_holder=holder, lease_fence=attempt.lease_fence)
    if still.update(lease_until=timezone.now() + LEASE) != 1:
        raise LostLease(str(attempt.pk))


def release(holder: str, attempt: Attempt | None = None) -> None:
    """Let go of one attempt, or of all."""
    held = Attempt.objects.filter(lease_holder=holder)
    held = held.filter(pk=attempt.pk) if attempt is not None else held
    held.update(lease_holder="", lease_until=None)
