"""Runs over HTTP: shapes are a contract with scripts."""

from typing import Any

import pytest

from tests import builders
from tests.api.asking import Asker, asker
from webapp.projects.models import Role
from webapp.runs import lifecycle
from webapp.runs.models import Attempt, Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

CONTRACT = {
    "id", "name", "project", "status", "outcome", "cause", "world_size", "nodes", "steps", "attempt",
    "created_at", "started_at", "ended_at", "url",
}  # fmt: skip


@pytest.fixture
def ed() -> Asker:
    builders.project("demo", ed=Role.EDITOR)
    builders.node("gpu-a", slots=2)
    builders.node("gpu-b", slots=2)
    return asker("ed")


def start(who: Asker, **fields: Any) -> dict[str, Any]:
    response = who.post("/runs", {"project": "demo", "name": "tiny", "argv": ["/srv/train.py"], **fields})
    assert response.status_code == 201, response.content
    made: dict[str, Any] = response.json()
    return made


def test_a_started_run_has_the_contracts_shape(ed: Asker) -> None:
    made = start(ed, nodes=2, ranks_per_node=2, env={"A": "1"}, retries=1)
    assert set(made) >= CONTRACT
    assert {key: made[key] for key in ("name", "project", "status", "world_size", "nodes", "steps", "attempt")} == {
        "name": "tiny",
        "project": "demo",
        "status": "queued",
        "world_size": 4,
        "nodes": 2,
        "steps": 0,
        "attempt": 1,
    }
    assert made["outcome"] is None
    assert made["cause"] is None
    assert made["started_at"] is None
    assert made["url"].endswith(f"/runs/{made['id']}/")
    assert "torch.distributed.run" in made["command"]
    assert made["sentence"]
    assert ed.get(f"/runs/{made['id']}").json() == made


def test_steps_are_counted_from_the_last_step_number(ed: Asker) -> None:
    made = start(ed)
    Run.objects.filter(uid=made["id"]).update(last_step=199)
    assert ed.get(f"/runs/{made['id']}").json()["steps"] == 200


def test_secrets_go_in_and_never_come_out(ed: Asker) -> None:
    made = start(ed, secrets={"API_KEY": "do not tell"})
    assert made["spec"]["secret_names"] == ["API_KEY"]
    run = Run.objects.get(uid=made["id"])
    assert run.secrets.get().name == "API_KEY"
    for path in ("", "/events", "/logs"):
        response = ed.get(f"/runs/{made['id']}{path}")
        assert b"do not tell" not in (b"".join(response.streaming_content) if response.streaming else response.content)


def test_the_list_is_paged_by_links_and_searched(ed: Asker) -> None:
    names = [start(ed, name=f"run-{k}")["name"] for k in range(5)]
    first = ed.get("/runs", limit=2)
    assert [run["name"] for run in first.json()] == ["run-4", "run-3"]
    found = [run["name"] for run in first.json()]
    page = first
    while "Link" in page:
        cursor = page["Link"].partition("cursor=")[2].partition("&")[0].partition(">")[0]
        page = ed.get("/runs", limit=2, cursor=cursor)
        found += [run["name"] for run in page.json()]
    assert sorted(found) == sorted(names)
    assert [run["name"] for run in ed.get("/runs", q="run-3").json()] == ["run-3"]
    assert len(ed.get("/runs", status="queued", project="demo", owner="ed").json()) == 5
    assert ed.get("/runs", status="failed").json() == []


def test_a_list_costs_the_same_number_of_queries_however_long_it_is(
    ed: Asker, django_assert_max_num_queries: Any
) -> None:
    for k in range(12):
        start(ed, name=f"run-{k}")
    with django_assert_max_num_queries(12):
        assert len(ed.get("/runs").json()) == 12


def test_a_run_of_older_rules_stays_readable(ed: Asker) -> None:
    run = ed.post("/runs", {"project": "demo", "name": "a", "argv": ["/srv/a.py"]}).json()["id"]
    row = Run.objects.get(uid=run)
    row.spec = {**row.spec, "timeout": 1e300, "stop_signal": "SIGHUP", "left_out": 1}
    row.save()
    assert [found["id"] for found in ed.get("/runs").json()] == [run]
    assert ed.get(f"/runs/{run}").json()["spec"]["stop_signal"] == "SIGHUP"
    assert ed.post(f"/runs/{run}/stop").status_code == 200


def test_name_and_retries_can_change(ed: Asker) -> None:
    made = start(ed)
    changed = ed.patch(f"/runs/{made['id']}", {"name": "better", "retries": 3}).json()
    assert (changed["name"], changed["spec"]["retries"]) == ("better", 3)
    assert ed.patch(f"/runs/{made['id']}", {"status": "ended"}).status_code == 422


def test_a_queued_run_stops_at_once_and_can_start_again(ed: Asker) -> None:
    made = start(ed)
    stopped = ed.post(f"/runs/{made['id']}/stop").json()
    assert (stopped["status"], stopped["outcome"], stopped["cause"]) == ("ended", "stopped", "user")
    assert "ed" in stopped["sentence"]
    again = ed.post(f"/runs/{made['id']}/restart").json()
    assert (again["status"], again["attempt"], again["outcome"]) == ("queued", 2, None)


def test_stop_twice_is_stop_once(ed: Asker) -> None:
    made = start(ed)
    assert ed.post(f"/runs/{made['id']}/stop").status_code == 200
    assert ed.post(f"/runs/{made['id']}/stop").json()["outcome"] == "stopped"


def test_events_tell_the_story_in_words(ed: Asker) -> None:
    made = start(ed)
    ed.post(f"/runs/{made['id']}/stop")
    events = ed.get(f"/runs/{made['id']}/events").json()
    assert [event["kind"] for event in events] == ["created", "stopped"]
    assert all(event["text"] and event["attempt"] == 1 for event in events)


def test_a_run_in_progress_names_its_nodes(ed: Asker) -> None:
    attempt: Attempt = builders.running_attempt()
    run = attempt.run
    shown = asker(run.owner).get(f"/runs/{run.uid}").json()
    assert shown["node_names"] == [part.node_name for part in attempt.parts.all()]
    assert shown["status"] == "running"


def test_a_deleted_run_leaves_the_list(ed: Asker) -> None:
    made = start(ed)
    lifecycle.delete(Run.objects.get(uid=made["id"]), "ed")
    assert ed.get("/runs").json() == []


def test_nodes_show_slots(ed: Asker) -> None:
    nodes = ed.get("/nodes").json()
    assert [(n["name"], n["alive"], n["slots_total"], n["slots_free"]) for n in nodes] == [
        ("gpu-a", True, 2, 2),
        ("gpu-b", True, 2, 2),
    ]
