"""The agent's look at code, packages and environment."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from trainer_agent.agent import code_state, packages, provenance
from trainer_agent.agent.environment import Folders
from trainer_agent.wire.hidden import MASK, without_credentials
from trainer_agent.wire.messages import StartAttempt


def git(folder: Path, *arguments: str) -> None:
    own = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), **own}
    subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "jobs").mkdir(parents=True)
    (folder / "jobs" / "train.py").write_text("lr = 1\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "remote", "add", "origin", "https://ana:ghp_secret@example.org/team/code.git")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "first")
    return folder


def test_a_clean_repository_is_told_by_commit_branch_and_remote_without_its_login(repository: Path) -> None:
    found = code_state.look(repository / "jobs")
    assert len(found["commit"]) == 40
    assert (found["branch"], found["remote"]) == ("main", "https://example.org/team/code.git")
    assert (found["dirty"], found["diff"], found["untracked"]) == (False, "", [])


def test_what_is_changed_or_new_is_told_and_a_long_difference_is_cut(repository: Path, monkeypatch) -> None:
    (repository / "jobs" / "train.py").write_text("lr = 2\n")
    (repository / "new é.py").write_text("")
    found = code_state.look(repository / "jobs")
    assert "-lr = 1\n+lr = 2\n" in found["diff"]
    assert (found["dirty"], found["diff_cut"], found["untracked"]) == (True, False, ["new é.py"])
    monkeypatch.setattr(code_state, "DIFF_LIMIT", 20)
    cut = code_state.look(repository)
    assert (len(cut["diff"]), cut["diff_cut"]) == (20, True)


def test_nothing_that_a_repository_names_as_a_program_is_started(repository: Path, tmp_path: Path) -> None:
    (repository / ".gitattributes").write_text("*.py diff=evil\n")
    for key in ("core.fsmonitor", "diff.external", "diff.evil.command", "diff.evil.textconv"):
        git(repository, "config", key, f"touch {tmp_path}/started;")
    (repository / "jobs" / "train.py").write_text("lr = 2\n")
    assert code_state.look(repository)["dirty"] is True
    assert not (tmp_path / "started").exists()


def test_a_repository_around_the_agents_own_home_does_not_count(repository: Path) -> None:
    work = repository / "attempts" / "7" / "work"
    work.mkdir(parents=True)
    assert code_state.look(work, work.parent) == {}


def test_the_packages_are_those_of_the_interpreter_that_trains() -> None:
    found = packages.ask(sys.executable, {"PATH": os.environ["PATH"], "PYTHONPATH": "/x/trainer_agent/inject"})
    assert found["packages"]["pytest"] == pytest.__version__
    assert found["python"] == ".".join(map(str, sys.version_info[:3]))
    assert packages.ask("/no/such/python", {}) == {}


def test_what_a_person_set_and_what_looks_secret_stays_out(repository: Path, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("NCCL_DEBUG", "INFO")
    monkeypatch.setenv("CUDA_AUTH_TOKEN", "t0p")
    monkeypatch.setenv("http_proxy", "http://ana:pw@proxy:3128")
    start = StartAttempt(
        v=1, id=1, attempt=7, run="r-1", attempt_number=1, node_rank=0, nnodes=1, ranks_per_node=1, slots=[0],
        master_addr="127.0.0.1", master_port=29500, argv=[str(repository / "jobs" / "train.py")],
        env={"PASSPHRASE_OF_MINE": "hush", "NCCL_SOCKET_IFNAME": "eth0"},
    )  # fmt: skip
    folders = Folders(tmp_path / "7" / "ranks", tmp_path / "rings", tmp_path / "checkpoints")
    found = provenance.of_launch(start, tmp_path, python=sys.executable, node="n-1", folders=folders, gpus=False)
    told = found["environment"]
    assert (told["NCCL_DEBUG"], told["http_proxy"], told["CUDA_AUTH_TOKEN"]) == ("INFO", "http://proxy:3128", MASK)
    assert not {"PASSPHRASE_OF_MINE", "NCCL_SOCKET_IFNAME", "PYTHONPATH", "PACELINE_MARK"} & set(told)
    assert found["branch"] == "main"  # of the script's folder, not of the one it was started in


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("https://u:p@h/x.git", "https://h/x.git"),
        ("https://ghp_1@h/x", "https://h/x"),
        ("ssh://git:pw@h/x", "ssh://git@h/x"),
        ("git@h:team/x.git", "git@h:team/x.git"),
        ("redis://:p@ss@h:6379/0", "redis://h:6379/0"),
        ("https://h/a@b", "https://h/a@b"),
    ],
)
def test_addresses_lose_their_login(address: str, told: str) -> None:
    assert without_credentials(address) == told
