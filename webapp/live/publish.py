"""Frames to browsers. Lost frames cost nothing: every page can be drawn from the database alone."""

import json
import logging
from typing import Any

import redis
from django.db import transaction

from trainer_agent.wire import names
from webapp.redis import connection
from webapp.runs.models import Run

log = logging.getLogger(__name__)

_KEPT_S = 3_600  # after its last frame; a page that comes back later reads the database again


def frame(run_uid: str, kind: str, **content: Any) -> None:
    """Publish one frame on a run's stream now. Kinds: see docs/wire.md, "Frames"."""
    _add(names.live(run_uid), {"kind": kind, **content})


def run_changed(run: Run) -> None:
    """After commit, tell the run's page and every runs list that status, outcome, events or summary changed."""
    uid, project = run.uid, run.project_id

    def tell() -> None:
        frame(uid, "state")
        _add(names.live_list(), {"kind": "run", "run": uid, "project": project})

    transaction.on_commit(tell)


def list_changed(run: Run) -> None:
    """After commit, tell every runs list that the summary of one row changed."""
    content = {"kind": "run", "run": run.uid, "project": run.project_id}
    transaction.on_commit(lambda: _add(names.live_list(), content))


def wake_ingest() -> None:
    """After commit, tell the ingest processes that there is a new attempt; else they find it within a second."""
    transaction.on_commit(lambda: _add(names.wake_ingest(), {}))


def _add(stream: str, content: dict[str, Any]) -> None:
    body = json.dumps(content, separators=(",", ":"), allow_nan=False)
    try:
        pipe = connection().pipeline(transaction=False)
        pipe.xadd(stream, {names.FIELD: body}, maxlen=names.LIVE_MAXLEN, approximate=True)
        pipe.expire(stream, _KEPT_S)
        pipe.execute()
    except redis.RedisError as error:
        log.warning("frame for %s not published: %s", stream, error)
