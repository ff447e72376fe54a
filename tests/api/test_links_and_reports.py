"""Share links and reports over HTTP, as a script makes and removes them."""

from urllib.parse import urlsplit

import pytest
from django.test import Client

from tests import builders
from tests.api.asking import Asker, asker
from webapp.accounts.models import User
from webapp.audit.models import Entry, Verb
from webapp.projects.models import Role
from webapp.runs.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def run() -> Run:
    project = builders.project("demo", ed=Role.EDITOR)
    return builders.running_attempt(in_project=project).run


@pytest.fixture
def ed(run: Run) -> Asker:
    return asker(User.objects.get(username="ed"))


def test_a_link_is_made_listed_without_its_secret_and_taken_back(run: Run, ed: Asker) -> None:
    made = ed.post(f"/runs/{run.uid}/links", {"days": 1, "view": "https://elsewhere.example/?step=7#logs"}).json()
    path = urlsplit(made["url"]).path
    assert made["view"] == "?step=7#logs"
    assert made["url"].endswith("?step=7#logs")
    assert Client().get(path).status_code == 200
    (listed,) = ed.get(f"/runs/{run.uid}/links").json()
    assert listed == {name: value for name, value in made.items() if name != "url"} | {
        "opened": 1,
        "opened_at": listed["opened_at"],
    }
    assert ed.delete(f"/runs/{run.uid}/links/{made['id']}").status_code == 204
    assert ed.get(f"/runs/{run.uid}/links").json() == []
    assert Client().get(path).status_code == 404
    written = list(Entry.objects.order_by("pk").values_list("verb", "target"))
    assert written == [(Verb.SHARED, str(run)), (Verb.UNSHARED, str(run))]


def test_a_link_without_an_end_needs_null(run: Run, ed: Asker) -> None:
    assert ed.post(f"/runs/{run.uid}/links", {"days": None}).json()["expires_at"] is None
    assert ed.post(f"/runs/{run.uid}/links", {"days": 0}).status_code == 422


def test_a_report_is_written_read_changed_and_removed(run: Run, ed: Asker) -> None:
    curves = {"kind": "curves", "runs": [run.uid], "metrics": ["loss"], "text": "falls"}
    made = ed.post("/reports", {"project": "demo", "title": "Week 12", "blocks": [{"text": "# Hi"}, curves]}).json()
    assert [block["kind"] for block in made["blocks"]] == ["text", "curves"]
    assert made["blocks"][1] == {**curves, "axis": "step", "smooth": 0.0}
    assert [one["title"] for one in ed.get("/reports", project="demo").json()] == ["Week 12"]
    assert ed.get("/reports", project="other").json() == []
    changed = ed.put(f"/reports/{made['id']}", {"title": "Week 13", "blocks": made["blocks"][1:]}).json()
    assert (changed["title"], changed["blocks"]) == ("Week 13", made["blocks"][1:])
    assert ed.get(f"/reports/{made['id']}").json() == changed
    assert ed.delete(f"/reports/{made['id']}").status_code == 204
    assert ed.get(f"/reports/{made['id']}").status_code == 404
    acts = list(Entry.objects.order_by("pk").values_list("verb", "target"))
    assert acts == [
        (Verb.REPORT_MADE, "Week 12"),
        (Verb.REPORT_CHANGED, "Week 13"),
        (Verb.REPORT_REMOVED, "Week 13"),
    ]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        ({"kind": "table"}, "Name the runs of this chart."),
        ({"kind": "curves", "runs": ["r-abc234"]}, "Name the metric, such as loss."),
    ],
)
def test_a_chart_that_draws_nothing_is_refused_with_a_sentence(run: Run, ed: Asker, block: object, said: str) -> None:
    answer = ed.post("/reports", {"project": "demo", "title": "x", "blocks": [block]})
    assert answer.status_code == 422
    assert answer.json()["fields"] == {"blocks.0": said}
