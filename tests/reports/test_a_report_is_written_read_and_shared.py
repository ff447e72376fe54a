"""From a comparison to a report, for members and by its link."""

from typing import Any

import pytest
from django.test import Client

from tests import builders
from tests.compare import made
from webapp.accounts.models import User
from webapp.projects.models import Project, Role
from webapp.reports import lifecycle
from webapp.reports.models import Report
from webapp.runs.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR, vic=Role.VIEWER)


@pytest.fixture
def run(project: Project) -> Run:
    return made.run(project, "fast", "--lr", "0.1")


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def sent(*blocks: dict[str, Any], title: str = "Week 12") -> dict[str, Any]:
    data = {"title": title, "project": "demo", "form-TOTAL_FORMS": len(blocks), "form-INITIAL_FORMS": 0}
    for number, block in enumerate(blocks):
        data |= {f"form-{number}-{name}": value for name, value in {"ORDER": number + 1, **block}.items()}
    return data


def test_what_is_typed_becomes_safe_text_and_live_charts_in_the_order_that_was_asked_for(run: Run) -> None:
    first = (
        client_of("ana").get("/reports/new/", {"runs": run.uid, "metrics": "loss", "axis": "relative"}).content.decode()
    )
    assert run.uid in first
    chart = {"kind": "curves", "runs": f"https://x/compare/?runs={run.uid},{run.uid}", "metrics": "loss", "ORDER": 2}
    text = {"kind": "text", "text": "# Found\n<script>alert(1)</script> *it*", "ORDER": 1}
    answer = client_of("ana").post("/reports/new/", sent(chart, text))
    report = Report.objects.get()
    assert answer["Location"] == f"/reports/{report.uid}/"
    assert [(block.kind, block.runs) for block in report.blocks.all()] == [("text", []), ("curves", [run.uid])]
    page = client_of("vic").get(answer["Location"]).content.decode()
    assert "<em>it</em>" in page
    assert "<script>alert" not in page
    numbers = client_of("vic").get(f"/reports/{report.uid}/blocks/{report.blocks.get(kind='curves').pk}").json()
    assert len(numbers["lines"][run.uid]["x"]) == 40


def test_a_chart_without_runs_is_refused_with_what_was_typed(run: Run) -> None:
    answer = client_of("ana").post("/reports/new/", sent({"kind": "curves", "runs": "all", "metrics": ""}))
    assert answer.status_code == 422
    assert "Name the runs, such as r-abc234" in answer.content.decode()
    assert "Week 12" in answer.content.decode()
    assert not Report.objects.exists()


def test_an_editor_changes_it_and_a_viewer_may_not(project: Project, run: Run) -> None:
    report = lifecycle.make(project, User.objects.get(username="ana"), "old", [{"kind": "text", "text": "a"}])
    address = f"/reports/{report.uid}/edit"
    assert client_of("vic").get(address).status_code == 403
    blocks = ({"kind": "text", "text": "kept"}, {"kind": "text", "text": "gone", "DELETE": "on"})
    client_of("ana").post(address, sent(*blocks, title="new"))
    report.refresh_from_db()
    assert (report.title, [block.text for block in report.blocks.all()]) == ("new", ["kept"])


def test_a_link_opens_it_without_an_account_and_shows_no_other_project(project: Project, run: Run) -> None:
    other = made.run(builders.project("other", ana=Role.EDITOR), "their secret")
    fields = {"runs": [run.uid, other.uid], "metrics": ["loss"]}
    blocks = [{"kind": "table", **fields}, {"kind": "curves", **fields}]
    report = lifecycle.make(project, User.objects.get(username="ana"), "shared", blocks)
    page = client_of("ana").post(f"/reports/{report.uid}/link")
    address = f"/reports/by-link/{page.context['address'].split('/')[-2]}/"
    guest = Client().get(address).content.decode()
    assert "fast" in guest
    assert "their secret" not in guest
    numbers = Client().get(f"{address}{report.blocks.get(kind='curves').pk}")
    assert list(numbers.json()["lines"]) == [run.uid]
    assert "no-store" in numbers["Cache-Control"]
    client_of("ana").post(f"/reports/{report.uid}/link", {"revoke": "1"})
    assert Client().get(address).status_code == 404


def test_a_run_that_is_gone_is_said_and_stops_nothing(project: Project, run: Run) -> None:
    fields = {"kind": "table", "runs": [run.uid, "r-gone99"], "metrics": []}
    report = lifecycle.make(project, User.objects.get(username="ana"), "r", [fields])
    assert "1 run is not there or not yours." in client_of("vic").get(f"/reports/{report.uid}/").content.decode()
