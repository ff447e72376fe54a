"""TensorBoard's and MLflow's files become runs: by the real command line, server and ingest."""

import json
import math
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.imports.stores import BEGAN, ENDED, Writer, mlflow_database, mlflow_folder
from tests.waiting import until
from webapp.history.models import ConfigValue
from webapp.runs.models import Run, Status
from webapp.telemetry.models import Metric
from webapp.telemetry.read import metrics, series

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("ingest")]


def points(run: Run, key: str) -> dict[int, float]:
    found = series(run.attempts.get(), key)
    return dict(zip(found.index.tolist(), found.values[:, 0].tolist(), strict=True)) if found.index.size else {}


def told(done: "subprocess.CompletedProcess[bytes]") -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr.decode()
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_each_log_folder_is_a_run_and_importing_again_adds_only_what_is_new(cli: Cli, tmp_path: Path) -> None:
    first, second = Writer(tmp_path / "logs" / "a"), Writer(tmp_path / "logs" / "b")
    first.scalars(loss={0: 1.0, 1: 0.5}, lr={0: 0.25})
    first.tensor("acc", 3, 0.75)
    first.tensor("weights", 3, [1.0, 2.0])
    second.scalars(loss={0: 9.0})
    done = told(cli("import", "tensorboard", str(tmp_path / "logs"), "--json"))
    assert [one["points"] for one in done] == [4, 1]
    run = Run.objects.get(uid=done[0]["run"])
    assert (run.name, run.status, run.outcome) == ("a", Status.ENDED, "succeeded")
    assert points(run, "loss") == {0: 1.0, 1: 0.5}
    assert points(run, "acc") == {3: 0.75}
    assert {metric.name for metric in metrics(run.attempts.get())} == {"loss", "lr", "acc"}
    first.scalars(loss={2: 0.25})
    again = told(cli("import", "tensorboard", str(tmp_path / "logs"), "--json"))
    assert [(one["run"], one["points"]) for one in again] == [(done[0]["run"], 1), (done[1]["run"], 0)]
    assert points(run, "loss") == {0: 1.0, 1: 0.5, 2: 0.25}
    until(lambda: sum(Metric.objects.filter(attempt__run=run).values_list("points", flat=True)) == 5)
    assert Run.objects.count() == 2


def test_points_appear_while_the_files_grow_and_the_run_ends_with_the_importer(
    cli: Cli, environment: dict[str, str], tmp_path: Path, repo: Path
) -> None:
    writer = Writer(tmp_path / "live")
    writer.scalars(loss={0: 1.0})
    command = [sys.executable, "-m", "trainer_agent.cli", "import", "tensorboard", str(tmp_path / "live"), "--watch"]
    importer = subprocess.Popen([*command, "--json"], cwd=repo, env=environment, stdout=subprocess.PIPE)
    try:
        until(lambda: any(points(run, "loss") == {0: 1.0} for run in Run.objects.all()), timeout=60)
        run = Run.objects.get()
        assert run.status == Status.RUNNING
        writer.scalars(loss={1: 0.5})
        until(lambda: points(run, "loss") == {0: 1.0, 1: 0.5}, timeout=60)
    finally:
        importer.send_signal(signal.SIGINT)
        said, _errors = importer.communicate(timeout=60)
    assert json.loads(said)[0]["points"] == 2
    run.refresh_from_db()
    assert (run.status, run.outcome) == (Status.ENDED, "succeeded")


def test_both_stores_of_mlflow_give_the_same_run_with_its_times_and_settings(cli: Cli, tmp_path: Path) -> None:
    (one,) = told(cli("import", "mlflow", str(mlflow_folder(tmp_path)), "--json"))
    run = Run.objects.get(uid=one["run"])
    assert (run.name, run.status, run.outcome) == ("calm-owl", Status.ENDED, "failed")
    assert (run.started_at, run.ended_at) == (datetime.fromtimestamp(BEGAN, UTC), datetime.fromtimestamp(ENDED, UTC))
    found = points(run, "val/loss")
    assert found[0] == 1.5
    assert math.isnan(found[7])
    settings = dict(ConfigValue.objects.filter(run=run).values_list("key__name", "text"))
    assert settings == {"lr": "0.25", "tag.team": "vision"}
    (same,) = told(cli("import", "mlflow", str(mlflow_database(tmp_path / "mlflow.db")), "--json"))
    assert (same["run"], same["points"]) == (one["run"], 0)
    assert Run.objects.count() == 1
