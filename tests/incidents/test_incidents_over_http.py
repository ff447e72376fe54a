from datetime import UTC, datetime
from typing import get_args

import pytest

from tests import builders
from tests.api.asking import Asker, asker
from webapp.api.incident_schemas import CauseIn
from webapp.audit.models import Entry, Verb
from webapp.incidents import lifecycle
from webapp.incidents.finding import Finding
from webapp.incidents.models import Incident
from webapp.incidents.words import CAUSES
from webapp.projects.models import Role
from webapp.runs.models import Run
from webapp.telemetry.models import Metric
from webapp.telemetry.points import EXPOSED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def run() -> Run:
    builders.user("stranger")
    project = builders.project("demo", vera=Role.VIEWER, ed=Role.EDITOR)
    attempt = builders.running_attempt(nodes=2, ranks_per_node=2, in_project=project)
    late = Finding("straggler", "rank 2", "backward", 0.25, 40, rank=2, node_rank=1, evidence={"excess": 0.2})
    lifecycle.apply(attempt, [late], kinds=("straggler",), step=50, now=datetime(2026, 1, 1, tzinfo=UTC))
    return attempt.run


def test_a_run_s_incidents_are_told_with_a_whole_sentence(run: Run) -> None:
    (told,) = asker("vera").get(f"/runs/{run.uid}/incidents").json()
    node = run.attempts.get().parts.get(node_rank=1).node_name
    assert told["sentence"] == (
        f"Rank 2 on {node} needs 200 ms more for the backward pass than its peers since step 40."
        " Steps take 25 % longer."
    )
    wanted = {"kind": "straggler", "subject": "rank 2", "rank": 2, "node": node, "link": None, "cause": "backward"}
    assert {name: told[name] for name in wanted} == wanted
    assert (told["probable"], told["severity"], told["slowdown"], told["opened_step"]) == (True, "critical", 0.25, 40)
    assert told["closed_at"] is None


def test_those_that_only_wait_are_told_as_victims(run: Run) -> None:
    assert asker("vera").get(f"/runs/{run.uid}/incidents").json()[0]["victims"] == []
    Metric.objects.create(attempt=run.attempts.get(), name=EXPOSED, axis="step", columns="rank")
    assert asker("vera").get(f"/runs/{run.uid}/incidents").json()[0]["victims"] == [0, 1, 3]


def test_who_may_read_and_who_may_answer(run: Run) -> None:
    pk = Incident.objects.get().pk
    for act in ("acknowledge", "close", "comment", "cause", "assign"):
        body = {"comment": {"text": "Seen."}, "cause": {"cause": "gpu"}, "assign": {"username": "ed"}}.get(act)
        assert Asker("").post(f"/incidents/{pk}/{act}", body).status_code == 401
        assert asker("stranger").post(f"/incidents/{pk}/{act}", body).status_code == 404
        assert asker("vera").post(f"/incidents/{pk}/{act}", body).status_code == 403
        assert asker("ed").post(f"/incidents/{pk}/{act}", body).status_code == 200
    assert asker("stranger").get(f"/incidents/{pk}").status_code == 404
    told = asker("vera").get(f"/incidents/{pk}").json()
    assert (told["acknowledged_by"], told["assignee"], told["closed_at"] is None) == ("ed", "ed", False)
    assert (told["cause"], told["probable"], told["confirmed_by"]) == ("gpu", False, "ed")
    kinds = ["opened", "acknowledged", "closed", "comment", "confirmed", "assigned"]
    assert [event["kind"] for event in told["events"]] == kinds
    written = Entry.objects.order_by("pk").values_list("actor_name", "verb", "detail")
    assert list(written) == [
        ("ed", Verb.INCIDENT_SEEN, ""),
        ("ed", Verb.INCIDENT_CLOSED, ""),
        ("ed", Verb.INCIDENT_COMMENTED, ""),
        ("ed", Verb.INCIDENT_CAUSE, "gpu"),
        ("ed", Verb.INCIDENT_ASSIGNED, "ed"),
    ]


def test_who_is_no_member_is_given_nothing(run: Run) -> None:
    answer = asker("ed").post(f"/incidents/{Incident.objects.get().pk}/assign", {"username": "stranger"})
    assert answer.status_code == 422
    assert answer.json()["message"] == "Nobody of the name stranger is a member of the project."


def test_a_cause_that_nobody_knows_is_an_error(run: Run) -> None:
    pk = Incident.objects.get().pk
    assert asker("ed").post(f"/incidents/{pk}/cause", {"cause": "ghosts"}).status_code == 422
    assert get_args(CauseIn.model_fields["cause"].annotation) == CAUSES


def test_an_empty_comment_is_an_error(run: Run) -> None:
    assert asker("ed").post(f"/incidents/{Incident.objects.get().pk}/comment", {"text": ""}).status_code == 422


def test_incidents_of_a_deleted_run_are_gone(run: Run) -> None:
    pk = Incident.objects.get().pk
    Run.objects.filter(pk=run.pk).update(deleted_at=datetime(2026, 1, 1, tzinfo=UTC))
    assert asker("ed").get(f"/incidents/{pk}").status_code == 404
