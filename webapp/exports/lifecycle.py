"""The only writer of exports.

A worker claims an export for a while, does units of its plan and marks them; one that is killed leaves a claim that
runs out.
"""

import logging
from datetime import datetime, timedelta

from django.core.files.storage import default_storage
from django.db.models import F, Q
from django.utils import timezone

from webapp import queue
from webapp.accounts.models import User
from webapp.exports import archive
from webapp.exports.models import Export, State
from webapp.exports.plan import Unit
from webapp.runs.models import Run

log = logging.getLogger(__name__)

KEPT = timedelta(days=7)
CLAIM = timedelta(seconds=150)
LAST_CLAIM = timedelta(minutes=30)  # to hand the whole file to the storage
MOST_TRIES = 4  # claims in a row that came to nothing
MOST_OPEN = 5  # unfinished exports of one person
OPEN = [State.QUEUED, State.WORKING]


class TooMany(Exception):
    """The person has `MOST_OPEN` exports that are not ready yet."""


def start(run: Run, owner: User, kinds: list[str]) -> Export:
    """An export that begins within seconds. TooMany."""
    if Export.objects.filter(owner=owner, state__in=OPEN).count() >= MOST_OPEN:
        raise TooMany
    made = Export.objects.create(run=run, owner=owner, kinds=kinds)
    queue.hint(queue.EXPORT)
    return made


def claim(now: datetime) -> Export | None:
    """The export that has waited longest; None while another is being worked on: people's clicks need workers too."""
    due = Export.objects.filter(state__in=OPEN)
    if due.filter(lease_until__gt=now).exists():
        return None
    free = Q(lease_until=None) | Q(lease_until__lte=now)
    row = due.filter(free).select_related("run").order_by("worked_at").first()
    if row is None:
        return None
    values = {"state": State.WORKING, "lease_until": now + CLAIM, "worked_at": now, "tries": F("tries") + 1}
    if due.filter(free, pk=row.pk).update(**values) != 1:
        return None
    row.refresh_from_db()
    if row.tries > MOST_TRIES:
        fail(row, "killed")
        return None
    return row


def planned(row: Export, plan: list[Unit]) -> None:
    """What is to be done, once and for all: units that come later have the same numbers."""
    row.plan, row.units_done = plan, 0
    row.save(update_fields=["plan", "units_done"])


def keep_claim(row: Export, progress: float) -> None:
    """Still at it."""
    Export.objects.filter(pk=row.pk, state=State.WORKING).update(lease_until=timezone.now() + CLAIM, progress=progress)


def mark(row: Export, units_done: int, size: int) -> None:
    """So many units are in the file. The claim ends."""
    row.units_done = units_done
    Export.objects.filter(pk=row.pk, state=State.WORKING).update(
        units_done=units_done, size=size, tries=0, lease_until=None
    )


def begin_anew(row: Export) -> None:
    """The file that grew is not here: another machine has it, or it is lost."""
    Export.objects.filter(pk=row.pk, state=State.WORKING).update(units_done=0, progress=0.0, size=0, lease_until=None)


def finish(row: Export) -> None:
    """Hand the file to the storage, from where it can be fetched for `KEPT`."""
    Export.objects.filter(pk=row.pk).update(lease_until=timezone.now() + LAST_CLAIM)
    with archive.whole(row.uid) as content:
        name = default_storage.save(f"exports/{row.uid}.zip", content)
    now = timezone.now()
    values = {"ended_at": now, "expires_at": now + KEPT, "size": default_storage.size(name), "progress": 1.0}
    done = Export.objects.filter(pk=row.pk, state=State.WORKING)
    if done.update(state=State.DONE, file=name, lease_until=None, plan=[], **values) != 1:
        default_storage.delete(name)
    archive.remove(row.uid)


def fail(row: Export, error: str) -> None:
    """It will not be made; `error` is a word of words.py."""
    Export.objects.filter(pk=row.pk, state__in=OPEN).update(
        state=State.FAILED, error=error, ended_at=timezone.now(), lease_until=None, plan=[]
    )
    archive.remove(row.uid)


def remove_old(now: datetime) -> None:
    """Files whose time is over or whose run was deleted, and what killed workers left."""
    for row in Export.objects.filter(Q(expires_at__lte=now) | ~Q(run__deleted_at=None), state=State.DONE):
        default_storage.delete(row.file)
        Export.objects.filter(pk=row.pk).update(state=State.EXPIRED, file="")
        log.info("export %s removed", row.uid)
    for row in Export.objects.filter(state__in=OPEN).exclude(run__deleted_at=None):
        fail(row, "deleted")
    archive.remove_others(set(Export.objects.filter(state__in=OPEN).values_list("uid", flat=True)))
