"""`paceline attach`: watches a launch that somebody else's scheduler makes.

This process becomes the small parent of the command (trainer_agent/shim/attach.py). Whatever is wrong with Paceline,
the command runs as it was typed.
"""

import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import click

import trainer_agent
from trainer_agent.cli.errors import Refused
from trainer_agent.cli.launch_facts import facts_of
from trainer_agent.cli.login_file import Login, current
from trainer_agent.wire import environment

FRONT = Path(trainer_agent.__file__).resolve().parent / "shim" / "attach.py"
RINGS = "/dev/shm/paceline"  # noqa: S108  (each launch's folder in it is 0700)
NOT_FOUND, CANNOT_RUN = 127, 126  # as a shell says it


@click.command(context_settings={"allow_interspersed_args": False})
@click.option("--name", default="", help="The script's name when left out.")
@click.option("--project", default="", envvar="PACELINE_PROJECT", help="Slug of the project; the only one if left out.")
@click.option("--job", default="", help="Same word on every node and at every relaunch. Slurm's job id if left out.")
@click.option("--node-rank", type=click.IntRange(min=0), help="Which node of the job this is.")
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- COMMAND [ARGUMENT]...")
def attach(*, name: str, project: str, job: str, node_rank: int | None, argv: tuple[str, ...]) -> None:
    """Run a launch as it is, and watch it.

    The command keeps its terminal, output, signals and exit code; with several nodes, attach on each of them:
    srun paceline attach -- torchrun … train.py
    """
    if environment.RING_DIR in os.environ:
        run_unwatched(argv, "This command is already part of a run.")
    try:
        facts = facts_of(argv, os.environ, name=name, job=job, node_rank=node_rank, gpus=gpus(os.environ), cpus=cpus())
        plan = _plan(current(), {"project": project, "argv": _printable(argv), **asdict(facts)}, argv)
        folder = _folder_with(plan)
        os.execv(sys.executable, [sys.executable, "-I", "-S", str(FRONT), str(folder), *argv])  # noqa: S606
    except Refused as error:
        run_unwatched(argv, error.message)
    except Exception as error:  # the launch is worth more than our view of it
        run_unwatched(argv, f"{type(error).__name__}: {error}.")


def run_unwatched(argv: Sequence[str], why: str) -> NoReturn:
    """Say why in one line, then be the command."""
    click.echo(f"paceline: {why} The command runs unwatched.", err=True)
    try:
        os.execvp(argv[0], list(argv))  # noqa: S606
    except OSError as error:
        click.echo(f"paceline: {argv[0]}: {error.strerror}", err=True)
        raise SystemExit(NOT_FOUND if isinstance(error, FileNotFoundError) else CANNOT_RUN) from None


def gpus(environ: Mapping[str, str]) -> int:
    """How many GPUs the launch may see."""
    chosen = environ.get("CUDA_VISIBLE_DEVICES")
    if chosen is not None:
        return len([part for part in chosen.split(",") if part.strip() and part.strip() != "-1"])
    return sum(path.name.removeprefix("nvidia").isdecimal() for path in Path("/dev").glob("nvidia*"))


def cpus() -> int:
    """Processors, as torchrun counts them."""
    return os.cpu_count() or 1


def _plan(login: Login, call: dict[str, Any], argv: Sequence[str]) -> dict[str, Any]:
    """What the front and its agent need; the agent removes it once read, for it holds the token."""
    member = secrets.token_hex(16)
    return {
        "url": login.url,
        "token": login.token,
        "mark": f"attached/{member}",
        "rings": f"{RINGS}/attached-{member}",
        "python": _python(argv[0]),
        "gpus": _chosen(os.environ.get("CUDA_VISIBLE_DEVICES")),
        "call": {"member": member, **call},
    }


def _folder_with(plan: dict[str, Any]) -> Path:
    """A new folder on this machine's own disk, for its owner only, with the plan in it."""
    folder = Path(tempfile.mkdtemp(prefix="paceline-attach-"))
    with os.fdopen(os.open(folder / "plan.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(plan, file)
    return folder


def _chosen(devices: str | None) -> list[int] | None:
    """Indexes of the GPUs that the launch may see; None for all, and where they are named in another way."""
    parts = [part.strip() for part in devices.split(",")] if devices else []
    return [int(part) for part in parts] if parts and all(part.isdecimal() for part in parts) else None


def _python(program: str) -> str:
    """The interpreter that the command uses, asked for its versions; empty where it is not plain to see."""
    path = shutil.which(program)
    if path is None:
        return ""
    if Path(path).name.startswith("python"):
        return path
    try:
        with open(path, "rb") as file:
            head = file.readline(300)
    except OSError:
        return ""
    words = head.removeprefix(b"#!").decode("utf-8", "replace").split() if head.startswith(b"#!") else []
    return words[0] if words and Path(words[0]).name.startswith("python") else ""


def _printable(argv: Sequence[str]) -> list[str]:
    return [part.encode("utf-8", "replace").decode() for part in argv]
