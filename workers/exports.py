"""Exports are made a slice at a time, so that other work gets its turn; the row says how far it is."""

import errno
import logging
import time

from django.db import InterfaceError, OperationalError
from django.utils import timezone

from webapp import queue
from webapp.celery import app
from webapp.exports import archive, lifecycle
from webapp.exports.content import Content
from webapp.exports.models import Export
from webapp.exports.plan import plan

log = logging.getLogger(__name__)

SLICE_S = 5.0
LIMIT_S = 1_900  # a slice ends much sooner; handing the file to a far storage may take its time
_BEAT_S = 2.0
_FREE = 256 * 1024 * 1024  # bytes that the disk keeps for everybody else


@app.task(name="workers.exports.turn", time_limit=LIMIT_S)  # type: ignore[untyped-decorator]
def turn() -> None:
    """One slice of the export that has waited longest, and what is too old goes."""
    now = timezone.now()
    lifecycle.remove_old(now)
    row = lifecycle.claim(now)
    if row is None:
        return
    try:
        work(row)
    except (OperationalError, InterfaceError):
        log.exception("export %s: another turn tries again", row.uid)
    except OSError as error:
        log.exception("export %s failed", row.uid)
        lifecycle.fail(row, "disk" if error.errno in (errno.ENOSPC, errno.EDQUOT) else "internal")
    except Exception:
        log.exception("export %s failed", row.uid)
        lifecycle.fail(row, "internal")
    queue.hint(queue.EXPORT)


def work(row: Export, seconds: float = SLICE_S) -> None:
    """Units until the time is over; at the end of the plan the file goes to the storage."""
    if not row.plan:
        lifecycle.planned(row, plan(row.run, row.kinds))
    if not _slice(row, time.monotonic() + seconds):
        return
    if row.units_done == len(row.plan):
        lifecycle.finish(row)


def _slice(row: Export, until: float) -> bool:
    """False when the archive is on another machine or lost: then it begins anew."""
    growing = archive.opened(row.uid, row.units_done)
    if growing is None:
        lifecycle.begin_anew(row)
        return False
    total = sum(unit["weight"] for unit in row.plan)
    done = sum(unit["weight"] for unit in row.plan[: row.units_done])
    pulse = _Pulse(row)
    content = Content(row, lambda: pulse.beat(done / total))
    number = row.units_done
    for unit in row.plan[row.units_done :]:
        if archive.free_bytes() < _FREE:
            raise OSError(errno.ENOSPC, "too little room for exports")
        content.write(growing, unit)
        number, done = number + 1, done + unit["weight"]
        pulse.beat(done / total)
        if time.monotonic() >= until:
            break
    lifecycle.mark(row, number, archive.closed(row.uid, growing, number))
    return True


class _Pulse:
    """Keeps the claim and moves the bar, not at every step."""

    def __init__(self, row: Export) -> None:
        self._row, self._at = row, 0.0

    def beat(self, progress: float) -> None:
        if time.monotonic() - self._at >= _BEAT_S:
            self._at = time.monotonic()
            lifecycle.keep_claim(self._row, progress)
