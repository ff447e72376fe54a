"""The real frameworks train a tiny model with our loggers, as ranks with the probe and without any run around them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import free_port
from tests.rank.launch import INJECT, Outcome, Rank, run

pytestmark = pytest.mark.torch
SCRIPTS = Path(__file__).resolve().parent / "scripts"


def one_rank(script: str, tmp_path: Path) -> Rank:
    outcome = run([str(SCRIPTS / script)], tmp_path / "rings", 1, {"RANK": "0"})
    assert outcome.code == 0, outcome.output
    return outcome.ranks[0]


def points(rank: Rank, key: str) -> dict[int, float]:
    return {value.step: value.value for value in rank.logged(key)}


def config(rank: Rank) -> dict[str, str]:
    told = [line["facts"]["config"] for line in rank.facts if "config" in line.get("facts", {})]
    return {name: value for one in told for name, value in one.items()}


@pytest.mark.timeout(110)
def test_lightning_logs_on_both_ranks_by_its_global_step(tmp_path: Path) -> None:
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={free_port()}"]
    outcome: Outcome = run([*launcher, str(SCRIPTS / "with_lightning.py")], tmp_path / "rings", 2, {})
    assert outcome.code == 0, outcome.output
    first, second = outcome.ranks
    assert points(first, "mine") == {1: 0.0, 3: 0.0, 5: 0.0}
    assert points(second, "mine") == {1: 1.0, 3: 1.0, 5: 1.0}
    assert list(points(first, "loss")) == list(points(second, "loss")) == [1, 3, 5]
    assert config(first) == {"lr": "0.25", "optimizer.momentum": "0.5"}
    assert config(second) == {}


def test_the_hugging_face_trainer_logs_by_its_global_step_and_tells_its_arguments(tmp_path: Path) -> None:
    rank = one_rank("with_transformers.py", tmp_path)
    assert list(points(rank, "loss")) == [2, 4, 6]
    assert "train_runtime" in rank.keys.values()
    assert config(rank)["learning_rate"] == "0.25"


def test_accelerate_logs_by_the_scripts_own_step(tmp_path: Path) -> None:
    rank = one_rank("with_accelerate.py", tmp_path)
    assert points(rank, "loss") == {0: 1.0, 10: 0.5, 20: 1.0 / 3}
    assert config(rank) == {"lr": "0.25", "model.width": "8"}


def test_keras_logs_every_batch_over_all_epochs_and_what_was_validated(tmp_path: Path) -> None:
    rank = one_rank("with_keras.py", tmp_path)
    assert list(points(rank, "loss")) == [0, 1, 2, 3]
    assert list(points(rank, "val_loss")) == [1, 3]
    assert config(rank)["epochs"] == "2"


def test_outside_a_run_they_do_nothing(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PACELINE_", "DJANGO_"))}
    env = {**clean, "PYTHONPATH": str(INJECT)}
    script = [sys.executable, str(SCRIPTS / "with_accelerate.py")]
    done = subprocess.run(script, env=env, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=100)
    assert done.returncode == 0, done.stderr
    assert "paceline" not in done.stdout + done.stderr
    assert list(tmp_path.iterdir()) == []
