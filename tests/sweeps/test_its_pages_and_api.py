"""The form, the page, the API and the command line of sweeps."""

import re

import pytest
from django.test import Client

from tests import builders
from tests.pages.people import team
from webapp.accounts.models import ApiToken, User
from webapp.projects.models import Role
from webapp.sweeps.models import State, Sweep, Trial

pytestmark = pytest.mark.django_db


def typed(*rows: tuple[str, str], **changes: str) -> dict[str, str]:
    """What a browser sends."""
    form = {"project": "demo", "name": "find lr", "command": "train.py", "source": "none", "nodes": "1",
            "ranks_per_node": "1", "grace": "20", "stop_signal": "SIGTERM", "retries": "0", "method": "grid",
            "goal": "loss", "direction": "minimize", "most_runs": "20", "parallel": "2", "not_before": "20",
            "env-TOTAL_FORMS": "0", "env-INITIAL_FORMS": "0", "space-TOTAL_FORMS": str(len(rows)),
            "space-INITIAL_FORMS": "0"}  # fmt: skip
    cells = {
        f"space-{i}-{key}": value
        for i, row in enumerate(rows)
        for key, value in zip(("name", "values"), row, strict=True)
    }
    return {**form, **cells, **changes}


@pytest.fixture
def page() -> Client:
    builders.project("demo", ana=Role.EDITOR)
    builders.node(slots=4)
    client = Client()
    client.force_login(User.objects.get(username="ana"))
    return client


def test_the_form_makes_a_sweep_that_knows_how_large_its_grid_is(page):
    answer = page.post("/sweeps/new/", typed(("--lr", "0.1, 0.2"), ("", ""), ("--depth", "2..4")))
    sweep = Sweep.objects.get()
    assert (answer.status_code, answer.url) == (302, f"/sweeps/{sweep.uid}/")
    assert (sweep.most_runs, sweep.space) == (6, [["--lr", "0.1, 0.2"], ["--depth", "2..4"]])
    shown = page.get(answer.url).content.decode()
    assert "No run has logged loss yet. 0 of 6 runs made, 0 running." in shown


@pytest.mark.parametrize(
    ("rows", "changes", "sentence"),
    [
        ((), {}, "Name at least one argument to try."),
        ((("--lr", ""),), {}, "Type values"),
        ((("", "1, 2"),), {}, "Name the argument"),
        ((("--lr", "1, 2"), ("--lr", "3")), {}, "--lr is given twice."),
        ((("--lr", "0.0..1.0"),), {}, "A grid needs values"),
        ((("--lr", "1, 2"),), {"name": "x" * 101}, "at most 100 characters"),
        ((("--lr", "1, 2"),), {"parallel": "0"}, "greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(page, rows, changes, sentence):
    answer = page.post("/sweeps/new/", typed(*rows, **changes))
    assert answer.status_code == 422
    assert sentence in re.sub(r"&#x27;|&quot;", "'", answer.content.decode())
    assert not Sweep.objects.exists()


def test_the_page_names_the_best_first(page):
    page.post("/sweeps/new/", typed(("--lr", "0.1, 0.2, 0.3")))
    sweep = Sweep.objects.get()
    for number, value, state in ((1, 2.0, State.DONE), (2, 1.25, State.EARLY), (3, None, State.FAILED)):
        Trial.objects.create(
            sweep=sweep, number=number, arguments={"--lr": number / 10}, value=value, state=state,
            curve=[[0, 3.0], [5, value]] if value else [],
        )  # fmt: skip
    shown = page.get(f"/sweeps/{sweep.uid}/").content.decode()
    assert "Best so far: loss 1.25 with --lr 0.2, in run 2. 3 of 3 runs made, 0 running, 1 stopped early." in shown
    assert shown.index("run 2, deleted") < shown.index("run 1, deleted") < shown.index("run 3, deleted")
    chart = page.get(f"/sweeps/{sweep.uid}/chart").json()
    assert chart["best"] == {"x": [1, 2], "y": [2.0, 1.25]}
    assert [curve["number"] for curve in chart["curves"]] == [1, 2]


def test_the_api_starts_reads_and_stops(page):
    _token, secret = ApiToken.issue(User.objects.get(username="ana"), "mine")
    ask = {"headers": {"Authorization": f"Bearer {secret}"}, "content_type": "application/json"}
    asked = {"project": "demo", "name": "s", "argv": ["t.py"], "space": {"--lr": "log 1e-5..1e-1"}, "most_runs": 3}
    made = page.post("/api/v1/sweeps", asked, **ask)
    assert made.status_code == 201, made.content
    uid = made.json()["id"]
    assert made.json()["method"] == "optuna"
    assert [one["id"] for one in page.get("/api/v1/sweeps?project=demo", **ask).json()] == [uid]
    assert page.post(f"/api/v1/sweeps/{uid}/stop", **ask).json()["ended"] == "stopped"
    assert page.get(f"/api/v1/sweeps/{uid}", **ask).json()["sentence"].endswith("The sweep was stopped.")
    for space, word in (({}, "space"), ({"--lr": "2..1"}, "--lr: The first number")):
        refused = page.post("/api/v1/sweeps", {**asked, "space": space}, **ask)
        assert refused.status_code == 422
        assert word in refused.content.decode()


@pytest.mark.parametrize(
    ("kind", "may_see", "may_stop"),
    [("stranger", 404, 404), ("viewer", 200, 403), ("editor", 200, 302), ("logged_out", 302, 302)],
)
def test_who_may_what(kind, may_see, may_stop):
    made = team()
    sweep = Sweep.objects.create(
        project=made.project, owner=User.objects.get(username="admin"), name="s", spec=builders.spec().model_dump(),
        space=[["--lr", "1, 2"]], method="grid", goal="loss", most_runs=2,
    )  # fmt: skip
    client = made.client(kind)
    assert client.get(f"/sweeps/{sweep.uid}/").status_code == may_see
    assert client.get(f"/sweeps/{sweep.uid}/chart").status_code == may_see
    assert client.post(f"/sweeps/{sweep.uid}/stop").status_code == may_stop
    sweep.refresh_from_db()
    assert (sweep.ended == "stopped") == (kind == "editor")
