"""Which process is the rank: not its workers, not its children. A probe that cannot work leaves the script alone."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rank.launch import INJECT, Outcome, ms, python, read_rank, seen, torchrun

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("alone")
    (folder / "site").mkdir()
    (folder / "site" / "sitecustomize.py").write_text("import os\nos.environ['CHAINED'] = 'yes'\n")
    return python("alone.py", folder / "rings", "--epochs", "2", PYTHONPATH=str(folder / "site"))


@pytest.fixture(scope="module")
def deep(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    done = torchrun("deep.py", tmp_path_factory.mktemp("deep") / "rings", PACELINE_DEEP="1")
    assert done.code == 0, done.output
    return done


def test_a_script_keeps_its_exit_code(alone: Outcome) -> None:
    assert alone.code == 7, alone.output


def test_another_sitecustomize_runs_as_if_ours_were_not_there(alone: Outcome) -> None:
    assert "chained: yes" in alone.output
    assert "site/sitecustomize.py" in alone.output


def test_nothing_else_of_paceline_becomes_importable(alone: Outcome) -> None:
    site = "import importlib.util as i; print([n for n in ('webapp', 'workers', 'manage') if i.find_spec(n)])"
    without = subprocess.run([sys.executable, "-c", site], cwd="/", capture_output=True, text=True, check=True)
    assert f"importable: {without.stdout.strip()}" in alone.output


def test_workers_and_children_write_nothing(alone: Outcome) -> None:
    rank = alone.ranks[0]
    assert len(rank.steps) == 12
    assert [rank.keys[value.key] for value in rank.values] == ["from the rank"]


def test_without_a_process_group_and_a_wrapper_the_parts_are_unseen_and_not_zero(alone: Outcome) -> None:
    rank = alone.ranks[0]
    for step in rank.steps:
        assert not seen(step, "exposed_comm")
        assert not seen(step, "forward")
        assert ms(step, "data") > 0
        assert ms(step, "backward") > 0
    assert set(rank.last_facts["cannot_see"]) == {"exposed_comm", "forward"}


def test_the_total_is_learnt_from_epochs_and_the_loader(alone: Outcome) -> None:
    assert alone.ranks[0].last_facts["total_steps"] == 12


def test_a_loop_that_only_evaluates_has_a_step_for_each_pass(deep: Outcome) -> None:
    for rank in deep.ranks:
        evaluated = [step for step in rank.steps if ms(step, "backward") == 0]
        assert len(evaluated) == 20
        assert len(rank.steps) == 20 + 3 * 6


def test_deep_mode_says_when_each_bucket_was_ready_and_done(deep: Outcome) -> None:
    for rank in deep.ranks:
        ready, done = rank.logged("bucket/0/ready_ms"), rank.logged("bucket/0/done_ms")
        assert len(ready) == len(done) == 2 * 6  # not for the model that has a hook of its own
        assert all(0 < r.value < d.value for r, d in zip(ready, done, strict=True))
        assert rank.logged("bucket/1/ready_ms")


def test_the_deep_hook_averages_as_ddp_does_and_compiling_changes_nothing(deep: Outcome) -> None:
    loss = [rank.logged("deep")[0].value for rank in deep.ranks]
    assert [rank.logged("compiled")[0].value for rank in deep.ranks] == pytest.approx(loss, rel=1e-5)
    assert [rank.logged("own hook")[0].value for rank in deep.ranks] == pytest.approx(loss, rel=0.05)
    assert not any(rank.last_facts["failed"] for rank in deep.ranks)


def test_a_probe_that_cannot_write_leaves_the_script_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    done = python("alone.py", Path("file/rings"), "--no-workers", cwd=tmp_path)
    assert done.code == 7, done.output
    assert "Traceback" not in done.output
    assert done.ranks[0].steps == []


@pytest.mark.parametrize("missing", ["PACELINE_RING_DIR", "RANK", "on"])
def test_outside_a_run_logging_does_nothing(tmp_path: Path, missing: str) -> None:
    env = {"PACELINE_RING_DIR": str(tmp_path), "RANK": "0", "PYTHONPATH": str(INJECT), "PATH": os.environ["PATH"]}
    if missing == "on":
        env["PACELINE_PROBE"] = "0"
    else:
        del env[missing]
    script = "import paceline, sys; paceline.log({'loss': 1.0}, step=1); print('trainer_agent.rank' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_value_can_be_logged_by_a_process_that_never_imports_torch(tmp_path: Path) -> None:
    env = {"PACELINE_RING_DIR": str(tmp_path), "RANK": "0", "PYTHONPATH": str(INJECT), "PATH": os.environ["PATH"]}
    script = "import paceline, sys; paceline.log({'loss': 1.5}, step=3); paceline.log(7); print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    rank = read_rank(str(tmp_path), 0)
    assert [(rank.keys[v.key], v.step, v.value) for v in rank.values] == [("loss", 3, 1.5)]
    assert rank.last_facts["dropped"]["unusable"] == 1
