"""The page and what its cards ask for, over stored points."""

import pytest
from django.test import Client

from tests import builders
from tests.compare import made
from webapp.accounts.models import User
from webapp.history.arrange import group
from webapp.history.record import Came, note_metrics
from webapp.projects.models import Project
from webapp.runs.models import Run

pytestmark = pytest.mark.django_db


@pytest.fixture
def runs(project: Project) -> list[Run]:
    fast = made.run(project, "fast", "--lr", "0.1", "--depth", "12")
    return [fast, made.run(project, "slow", "--lr", "0.2", "--depth", "12", slow_ms=80, nodes=2, noise=0.1)]


@pytest.fixture
def vic(project: Project, client: Client) -> Client:
    client.force_login(User.objects.get(username="vic"))
    return client


def asked(runs: list[Run]) -> dict[str, str]:
    return {"runs": ",".join(run.uid for run in runs)}


def test_a_run_of_strangers_is_as_one_that_does_not_exist(vic: Client, runs: list[Run]) -> None:
    hidden = made.run(builders.project("other"), "their secret")
    for lost in (hidden.uid, "r-nobody"):
        query = {"runs": f"{runs[0].uid},{lost}"}
        page = vic.get("/compare/", query).content.decode()
        assert "1 run is not there or not yours." in page
        assert "their secret" not in page
        assert list(vic.get("/compare/curve", {**query, "metric": "loss"}).json()["lines"]) == [runs[0].uid]


def test_curves_by_step_time_and_relative_time(vic: Client, runs: list[Run]) -> None:
    fast, slow = (run.uid for run in runs)
    query = {**asked(runs), "metric": "loss", "smooth": "0.6"}
    by_step = vic.get("/compare/curve", query).json()
    assert by_step["lines"][fast]["x"] == list(range(40))
    assert len(by_step["lines"][fast]["s"]) == 40
    relative = vic.get("/compare/curve", {**query, "axis": "relative"}).json()["lines"][slow]["x"]
    assert (relative[0], relative[-1]) == (0, pytest.approx(39 * 0.08, abs=0.06))
    by_time = vic.get("/compare/curve", {**query, "axis": "time"}).json()
    assert by_time["base"] == pytest.approx(1_700_000_000)
    assert vic.get("/compare/curve", {**query, "smooth": "nan", "width": "x", "axis": "?"}).json()["axis"] == "step"


def test_a_part_of_a_curve_is_read_anew_by_step_and_by_time(vic: Client, runs: list[Run]) -> None:
    slow = runs[1].uid
    query = {**asked(runs), "metric": "loss", "width": "10"}
    whole = vic.get("/compare/curve", query).json()["lines"][slow]
    part = vic.get("/compare/curve", {**query, "lo": "10", "hi": "20", "smooth": "0.9"}).json()["lines"][slow]
    assert (part["x"], part["of"]) == (list(range(10, 21)), 21)  # ten before them lead the smoothed line
    assert set(part["y"]) <= set(whole["y"])
    relative = vic.get("/compare/curve", {**query, "axis": "relative", "lo": "0.8", "hi": "1.6"}).json()["lines"][slow]
    assert (relative["x"][0], relative["x"][-1]) == (pytest.approx(0.8, abs=0.1), pytest.approx(1.6, abs=0.1))
    for lo, hi in (("20", "10"), ("nan", "1"), ("x", "9"), ("1e400", "1e401")):
        assert vic.get("/compare/curve", {**query, "lo": lo, "hi": hi}).json()["lines"][slow] == whole


def test_step_time_is_compared_without_being_logged(vic: Client, runs: list[Run]) -> None:
    answer = vic.get("/compare/curve", {**asked(runs), "metric": "phase/step"}).json()
    assert (answer["title"], answer["unit"]) == ("Step time", "ms")
    assert answer["finding"] == "Step time ends lowest in fast: 80.00."
    table = vic.get("/compare/summary", {**asked(runs), "metrics": "phase/step"}).content.decode()
    assert "<b>80.00</b>" in table


def test_phases_and_scaling_of_each_run(vic: Client, runs: list[Run]) -> None:
    fast, slow = (run.uid for run in runs)
    phases = vic.get("/compare/phases", asked(runs)).json()
    assert phases["runs"][slow]["exposed_comm"] == 85
    assert phases["finding"] == "slow waits for 53 % of its step, fast for 6 %."
    scaling = vic.get("/compare/scaling", asked(runs)).json()
    assert (scaling["uids"], scaling["ranks"]) == ([fast, slow], [2, 4])
    assert scaling["finding"] == "4 ranks bring 50 % of what 2 promise."


def test_settings_that_differ_stand_out_and_equal_ones_are_folded(vic: Client, runs: list[Run]) -> None:
    page = vic.get("/compare/config", asked(runs)).content.decode()
    assert "3 settings differ." in page  # lr, ranks, nodes
    differing, equal = page.split("<details")
    assert ">lr<" in differing
    assert ">depth<" not in differing
    assert ">depth<" in equal
    assert ">nodes<" not in vic.get("/compare/config", {**asked(runs), "find": "lr"}).content.decode()


def test_settings_and_results_for_parallel_coordinates(vic: Client, runs: list[Run]) -> None:
    answer = vic.get("/compare/values", {**asked(runs), "metrics": "loss"}).json()
    assert {one["title"]: one["values"] for one in answer["settings"]}["lr"] == [0.1, 0.2]
    assert [one["word"] for one in answer["results"]] == ["metric.loss", "pace"]


def test_a_metric_is_found_by_a_part_of_its_name(vic: Client, runs: list[Run]) -> None:
    answer = vic.get("/compare/names", {**asked(runs), "part": "LOS"}).json()
    assert answer == {"found": [{"name": "loss", "title": "loss", "runs": 2}], "total": 1}


def test_of_very_many_keys_some_are_shown_and_the_loss_is_found_to_begin_with(vic: Client, runs: list[Run]) -> None:
    keys = [f"layer{number}/norm" for number in range(120)]
    for run in runs:
        run.metric_values.all().delete()
        note_metrics(run, 1, dict.fromkeys([*keys, "train/loss"], Came(9, 1.0, 1.0, 2.0)), {})
    answer = vic.get("/compare/names", {**asked(runs), "part": "layer"}).json()
    assert [one["name"] for one in answer["found"]] == sorted(keys)[:50]
    assert answer["total"] == 120
    assert vic.get("/compare/", asked(runs)).context["state"]["metrics"] == ["train/loss", "layer0/norm"]


def test_the_other_end_is_best_when_somebody_says_so(vic: Client, runs: list[Run]) -> None:
    answer = vic.get("/compare/curve", {**asked(runs), "metric": "loss", "turned": "1"}).json()
    assert answer["finding"].startswith("loss ends highest in ")
    assert (
        "highest is best"
        in vic.get("/compare/summary", {**asked(runs), "metrics": "loss", "turned": "loss"}).content.decode()
    )


def test_runs_that_a_search_finds_are_compared_in_its_order(vic: Client, runs: list[Run]) -> None:
    group([run.pk for run in runs], "sizes")
    made.run(runs[0].project, "outside")
    page = vic.get("/compare/", {"q": "group:sizes", "sort": "config.lr"})
    assert [run["name"] for run in page.context["state"]["runs"]] == ["fast", "slow"]


def test_many_runs_answer_in_less_than_300_kb_and_what_is_too_many_is_said(vic: Client, project: Project) -> None:
    runs = [made.run(project, f"run {k}", "--lr", f"{k}", steps=400, noise=0.1) for k in range(12)]
    uids = [run.uid for run in runs]
    answer = vic.get("/compare/curve", {"runs": ",".join(uids), "metric": "loss", "smooth": "0.9", "width": "2000"})
    assert len(answer.content) < 300_000
    many = vic.get("/compare/", {"runs": ",".join([*uids, *(f"r-{k}" for k in range(60))])}).content.decode()
    assert "At most 50 runs are compared at once, so 22 are left out." in many


def test_without_runs_the_page_says_how_to_choose(vic: Client) -> None:
    assert "Tick 2 to 50 runs in the list" in vic.get("/compare/").content.decode()
