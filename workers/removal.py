"""The rows of a deleted run go a day later, once no node holds anything of it; the large tables in small bites."""

import logging

import redis
from django.db.models import Exists, Model, OuterRef, QuerySet
from django.utils import timezone

from trainer_agent.wire import names
from webapp.artifacts import lifecycle as artifacts
from webapp.artifacts.store import StoreFailed
from webapp.history.models import ConfigValue, MetricValue
from webapp.history.search import UNDO_FOR
from webapp.provenance.record import forget_unused
from webapp.redis import connection
from webapp.runs import lifecycle
from webapp.runs.models import AttemptNode, Run
from webapp.telemetry.models import LogChunk, Parked, Segment, Tail

log = logging.getLogger(__name__)

_BITE = 500  # rows per transaction, so that nobody waits long for the write lock
_BITES_AT_ONCE = 20


def remove_deleted() -> None:
    """One round of it; what is left over is for the next round."""
    parts = AttemptNode.objects.filter(attempt__run=OuterRef("pk"), finished_at=None, node__removed_at=None)
    held = Exists(parts.exclude(node=None))
    for run in Run.objects.filter(deleted_at__lte=timezone.now() - UNDO_FOR).annotate(held=held):
        lifecycle.purge(run)
        if not run.held and _series_gone(run) and _artifacts_gone(run):
            _drop_streams(run)
            run.delete()
            forget_unused()
            log.info("run %s removed", run.uid)


def _series_gone(run: Run) -> bool:
    tables: tuple[QuerySet[Model], ...] = (
        Segment.objects.filter(metric__attempt__run=run),
        Tail.objects.filter(attempt__run=run),
        LogChunk.objects.filter(attempt__run=run),
        Parked.objects.filter(attempt__run=run),
        MetricValue.objects.filter(run=run),
        ConfigValue.objects.filter(run=run),
    )
    for rows in tables:
        for _bite in range(_BITES_AT_ONCE):
            bite = list(rows.order_by().values_list("pk", flat=True)[:_BITE])
            if not bite:
                break
            rows.model._default_manager.filter(pk__in=bite).delete()
        else:
            return False
    return True


def _artifacts_gone(run: Run) -> bool:
    try:
        return artifacts.remove_some(run)
    except StoreFailed:
        log.warning("run %s keeps its files until their store answers", run.uid)
        return False


def _drop_streams(run: Run) -> None:
    parts = AttemptNode.objects.filter(attempt__run=run).values_list("attempt_id", "node_uid")
    streams = [names.live(run.uid), *(names.telemetry(attempt, node) for attempt, node in parts)]
    try:
        connection().delete(*streams)
    except redis.RedisError as error:
        log.warning("streams of removed run %s stay until Redis drops them: %s", run.uid, error)
