"""Every refusal is JSON with a stable code and a sentence."""

import re
from contextlib import closing
from typing import Any

import pytest
from django.test import Client

from tests import builders
from tests.api.asking import Asker, asker
from webapp.projects.models import Role

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def ed() -> Asker:
    builders.project("demo", ed=Role.EDITOR)
    builders.node("gpu-a", slots=2)
    builders.node("gpu-b", slots=4)
    return asker("ed")


def error(response: Any) -> tuple[int, str, dict[str, str]]:
    body = response.json()
    assert set(body) == {"code", "message", "fields"}
    assert body["message"].strip().endswith((".", "…"))
    return response.status_code, body["code"], body["fields"]


def test_unknown_addresses_runs_attempts_ranks_and_metrics_are_not_found(ed: Asker) -> None:
    builders.project("other", ed=Role.EDITOR)
    run = ed.post("/runs", {"project": "demo", "name": "a", "argv": ["/srv/a.py"]}).json()["id"]
    for path in (
        "/nonsense",
        "/runs/r-nobody",
        f"/runs/{run}/nonsense",
        f"/runs/{run}/metrics?attempt=9",
        f"/runs/{run}/metrics?name=nonsense",
        f"/runs/{run}/metrics?name=phase/step&rank=9",
        f"/runs/{run}/logs?rank=9",
        f"/runs/{run}/ledger?attempt=2",
    ):
        assert error(ed.get(path))[:2] == (404, "not_found"), path
    assert error(Client().get("/api/v1/nonsense/"))[:2] == (404, "not_found")


def test_a_wrong_method_is_answered_as_json(ed: Asker) -> None:
    response = ed.delete("/runs")
    assert error(response)[:2] == (405, "method_not_allowed")
    assert response["Allow"]


def test_no_token_says_how_to_get_one(ed: Asker) -> None:
    response = Client().get("/api/v1/runs")
    assert error(response)[:2] == (401, "unauthenticated")
    assert "Bearer" in response.json()["message"]
    assert response["WWW-Authenticate"] == "Bearer"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"argv": []}, "argv"),
        ({"argv": ["torchrun", "a.py"]}, "argv"),
        ({"argv": ["a\0b"]}, "argv"),
        ({"nodes": 0}, "nodes"),
        ({"nodes": "many"}, "nodes"),
        ({"nodes": 3}, "nodes"),
        ({"nodes": 2, "ranks_per_node": 3}, "nodes"),
        ({"name": ""}, "name"),
        ({"name": "x" * 121}, "name"),
        ({"workdir": "here"}, "workdir"),
        ({"git_url": "ext::sh -c true"}, "git_url"),
        ({"git_ref": "--upload-pack=x"}, "git_ref"),
        ({"env": {"MASTER_ADDR": "x"}}, "env"),
        ({"env": {"1A": "x"}}, "env"),
        ({"env": {"A": 1}}, "env.A"),
        ({"secrets": {"RANK": "x"}}, "secrets"),
        ({"secrets": {"A": "x"}, "env": {"A": "y"}}, "secrets"),
        ({"upload_sha256": "0" * 64}, "upload_sha256"),
        ({"timeout": -1}, "timeout"),
        ({"timeout": 1e300}, "timeout"),
        ({"timeout": float("inf")}, "timeout"),
        ({"timeout": float("nan")}, "timeout"),
        ({"total_steps": 10**30}, "total_steps"),
        ({"name": "   "}, "name"),
        ({"name": "a\0b"}, "name"),
        ({"name": "\ud800"}, "name"),
        ({"argv": ["a.py", "\ud800"]}, "argv"),
        ({"argv": ["a.py", "x" * 200_000]}, "argv"),
        ({"env": {"A": "\ud800"}}, "env"),
        ({"secrets": {"A": "\ud800"}}, "secrets"),
        ({"secrets": {"A": "x" * 200_000}}, "secrets"),
        ({"workdir": "/srv/a\0b"}, "workdir"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_field_that_is_wrong_is_named(ed: Asker, change: dict[str, Any], field: str) -> None:
    response = ed.post("/runs", {"project": "demo", "name": "a", "argv": ["/srv/a.py"], **change})
    status, code, fields = error(response)
    assert (status, code, list(fields)) == (422, "invalid", [field])
    assert ed.get("/runs").json() == []


def test_two_sources_of_code_are_refused_with_a_sentence(ed: Asker) -> None:
    asked = {"project": "demo", "name": "a", "argv": ["a.py"], "workdir": "/srv", "git_url": "https://host/x.git"}
    response = ed.post("/runs", asked)
    assert error(response) == (422, "invalid", {})
    assert "one source of code" in response.json()["message"]


def test_an_unknown_project_is_named(ed: Asker) -> None:
    response = ed.post("/runs", {"project": "nowhere", "name": "a", "argv": ["/srv/a.py"]})
    assert error(response)[:2] == (404, "not_found")
    assert "nowhere" in response.json()["fields"]["project"]


def test_a_body_that_is_no_json_is_refused(ed: Asker) -> None:
    assert error(ed.send("/runs", b"{oops", "application/json"))[:2] == (400, "bad_request")


def test_a_wrong_limit_is_named(ed: Asker) -> None:
    assert error(ed.get("/runs", limit=0))[2].keys() == {"limit"}
    assert error(ed.get("/runs", limit="many"))[2].keys() == {"limit"}


def test_a_run_that_goes_on_cannot_be_started_again(ed: Asker) -> None:
    run = ed.post("/runs", {"project": "demo", "name": "a", "argv": ["/srv/a.py"]}).json()["id"]
    assert error(ed.post(f"/runs/{run}/restart"))[:2] == (409, "conflict")


def test_our_own_fault_is_no_traceback(ed: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> None:
        raise RuntimeError("the secret of the house")

    monkeypatch.setattr("webapp.api.runs.show", broken)
    response = ed.post("/runs", {"project": "demo", "name": "a", "argv": ["/srv/a.py"]})
    assert error(response)[:2] == (500, "internal")
    assert b"secret of the house" not in response.content


def test_the_schema_and_the_page_for_people_need_no_token_and_no_other_host() -> None:
    schema = Client().get("/api/v1/openapi.json").json()
    assert "/api/v1/runs/{run_id}/metrics" in schema["paths"]
    assert "BearerToken" in schema["components"]["securitySchemes"]
    page = Client().get("/api/v1/docs").content.decode()
    assert "http://" not in page
    assert "https://" not in page
    sources = re.findall(r'(?:src|href)="([^"]+)"', page)
    assert len(sources) >= 3
    for source in sources:
        with closing(Client().get(source)) as response:
            assert response.status_code == 200, source
