"""What the Config tab says of a run: what measuring costs, and where an imported one comes from."""

import pytest
from django.test import Client

from tests import builders
from webapp.accounts.models import User
from webapp.imports.lifecycle import Asked, begin
from webapp.projects.models import Role
from webapp.runs.models import RankState, Run
from webapp.runs.run_config import tables

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


def test_the_run_tells_its_own_overhead_once_the_probe_has_timed_itself() -> None:
    attempt = builders.running_attempt()
    assert "Measuring costs" not in dict(tables(attempt.run, attempt)["spec_rows"])
    RankState.objects.filter(attempt=attempt).update(facts={"probe_us": 91.4, "step_us": 95_000})
    assert dict(tables(attempt.run, attempt)["spec_rows"])["Measuring costs"] == "91 µs a step and rank (0.096 %)"


def test_an_imported_run_says_where_it_comes_from_and_nothing_of_a_launch() -> None:
    project = builders.project("demo", ana=Role.EDITOR)
    ana = User.objects.get(username="ana")
    run = begin(project, ana, Asked("mlflow", "mlflow:7f3a", "old", config={"lr": "0.25"})).run
    assert tables(run, run.attempts.get())["spec_rows"] == [("Source", "mlflow:7f3a"), ("Logged by", "MLflow")]
    page = _config_tab(ana, run)
    assert "Where it was imported from" in page
    assert "<dt>lr</dt><dd>0.25</dd>" in page
    assert "outside of Paceline" not in page
    assert "Command of each node" not in page
    assert "Not known: another tool logged this run." in page


def _config_tab(user: User, run: Run) -> str:
    client = Client()
    client.force_login(user)
    return "".join(client.get(f"/runs/{run.uid}/{part}").content.decode() for part in ("config", "provenance"))
