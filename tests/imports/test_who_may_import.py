"""The API of imports: who may, what it refuses, and importers that are gone."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests import builders
from tests.api.asking import asker
from tests.telemetry.batches import batch, steps, values
from trainer_agent.wire import codec
from trainer_agent.wire.messages import Event
from webapp.imports import lifecycle
from webapp.imports.models import Imported
from webapp.projects.models import Role
from webapp.runs.models import Run, Status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
ASKED = {"project": "demo", "kind": "tensorboard", "source": "tensorboard:x", "name": "x"}


@pytest.fixture(autouse=True)
def team() -> None:
    builders.project("demo", ed=Role.EDITOR, vi=Role.VIEWER)
    builders.user("stranger")


def begun(**more: Any) -> dict[str, Any]:
    answer = asker("ed").post("/imports", {**ASKED, **more})
    assert answer.status_code == 200, answer.json()
    found: dict[str, Any] = answer.json()
    return found


def sent(found: dict[str, Any], seq: int = 1, who: str = "ed", **content: Any) -> Any:
    body = codec.encode(batch(found["attempt"], found["node"], seq, **content))
    return asker(who).send(f"/imports/{found['run']}/batches", body, "application/octet-stream")


def test_viewers_are_refused_and_strangers_learn_nothing() -> None:
    assert asker("vi").post("/imports", ASKED).status_code == 403
    assert asker("stranger").post("/imports", ASKED).status_code == 404
    found = begun()
    assert sent(found, who="vi", values=[values("loss", 0, {0: 1.0})]).status_code == 403
    assert sent(found, who="stranger", values=[values("loss", 0, {0: 1.0})]).status_code == 404


def test_only_values_of_this_very_import_are_taken() -> None:
    found, other = begun(), begun(source="tensorboard:y")
    assert sent(found, values=[values("loss", 0, {0: 1.0})]).json() == {"seq": 0}
    assert sent(found, steps=[steps([0], [1])]).status_code == 422
    assert sent(found, events=[Event(kind="rank_exited", at=1.0, rank=0, data={"code": 1})]).status_code == 422
    assert sent({**found, "node": other["node"]}).status_code == 422
    assert asker("ed").send(f"/imports/{found['run']}/batches", b"\x00", "x/y").status_code == 422
    native = builders.running_attempt(in_project=Run.objects.get(uid=found["run"]).project)
    assert asker("ed").get(f"/imports/{native.run.uid}").status_code == 404


def test_the_same_source_goes_on_in_its_run_until_that_is_deleted() -> None:
    found = begun()
    assert begun()["run"] == found["run"]
    Run.objects.filter(uid=found["run"]).update(deleted_at=timezone.now())
    assert begun()["run"] != found["run"]


def test_a_run_whose_importer_is_gone_does_not_run_for_ever_and_goes_on_with_it() -> None:
    found = begun(live=True)
    run = Run.objects.get(uid=found["run"])
    assert run.status == Status.RUNNING
    lifecycle.end_silent(timezone.now())
    run.refresh_from_db()
    assert run.status == Status.RUNNING
    Imported.objects.update(heard_at=timezone.now() - lifecycle.SILENT - timedelta(seconds=1))
    lifecycle.end_silent(timezone.now())
    run.refresh_from_db()
    assert (run.status, run.outcome) == (Status.ENDED, "lost")
    assert asker("ed").post(f"/imports/{run.uid}/end", {"ended_at": "2025-01-01T00:00:00Z"}).status_code == 409
    assert begun(live=True)["run"] == run.uid
    run.refresh_from_db()
    assert (run.status, run.outcome) == (Status.RUNNING, "")
