"""`paceline import`: runs that were logged by another tool."""

import time
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import click

from trainer_agent.cli import import_mlflow, import_tensorboard
from trainer_agent.cli.errors import Refused
from trainer_agent.cli.import_sender import POINTS, Point, Run, Sending
from trainer_agent.cli.import_tensorboard import LogFolder
from trainer_agent.cli.output import json_option, print_json, wants_json
from trainer_agent.cli.server import Server, server

LOOK_EVERY = 1.0  # seconds
SAY_EVERY = 15.0  # seconds without anything new after which the server is told that we are there
_project = click.option("--project", default="", envvar="PACELINE_PROJECT", help="Slug; the only one if left out.")


@click.group(name="import")
def import_group() -> None:
    """Take over runs that another tool has logged. Importing them again adds what is new and nothing twice."""


@import_group.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@_project
@click.option("--watch", is_flag=True, help="Go on as the files grow, until Ctrl-C.")
@json_option
def tensorboard(folder: Path, project: str, *, watch: bool) -> None:
    """Scalars of TensorBoard's event files; each folder that holds some becomes a run."""
    source = server()
    project = project or _only_project(source)
    if watch:
        _follow(source, project, folder)
        return
    found = import_tensorboard.folders(folder)
    if not found:
        raise Refused(f"There are no event files of TensorBoard below {folder}.")
    _tell([_take_over(source, project, folder, one) for one in found])


@import_group.command()
@click.argument("store", type=click.Path(exists=True, path_type=Path))
@_project
@json_option
def mlflow(store: Path, project: str) -> None:
    """Runs of an MLflow store: the folder mlruns, or its SQLite file."""
    source = server()
    project = project or _only_project(source)
    _tell([_send_whole(source, project, run, points) for run, points in import_mlflow.runs(store)])


def _take_over(source: Server, project: str, root: Path, folder: Path) -> Sending:
    sending = Sending(source, project, LogFolder(root, folder, {}).run)
    _send_new(sending, LogFolder(root, folder, sending.cursor))
    sending.finish()
    return sending


def _send_whole(source: Server, project: str, run: Run, points: Iterable[Point]) -> Sending:
    """MLflow's points have no order that lasts; the cursor is how many there were."""
    sending = Sending(source, project, run)
    every = list(points)
    if sending.cursor.get("points") != len(every):
        for at in range(0, len(every), POINTS):
            done = min(at + POINTS, len(every))
            sending.send(every[at:done], {"points": done})
    sending.finish()
    return sending


def _send_new(sending: Sending, reading: LogFolder) -> int:
    """What came since; the number of points."""
    before = sending.points
    new = reading.new()
    while points := list(islice(new, POINTS)):
        sending.send(points, dict(reading.cursor), reading.config)
    return sending.points - before


def _follow(source: Server, project: str, root: Path) -> None:
    """Until Ctrl-C. Folders that appear later become runs too."""
    followed: dict[Path, tuple[Sending, LogFolder]] = {}
    said = time.monotonic()
    click.echo(f"Watching {root}; Ctrl-C ends it.", err=True)
    try:
        while True:
            for folder in import_tensorboard.folders(root):
                if folder not in followed:
                    sending = Sending(source, project, LogFolder(root, folder, {}).run, live=True)
                    followed[folder] = sending, LogFolder(root, folder, sending.cursor)
                    click.echo(f"{folder} is run {sending.run}: {sending.url}", err=True)
            new = sum([_send_new(*one) for one in followed.values()])
            if not new and time.monotonic() - said > SAY_EVERY:
                said = time.monotonic()
                for sending, _reading in followed.values():
                    sending.alive()
            time.sleep(LOOK_EVERY)
    except KeyboardInterrupt:
        for sending, _reading in followed.values():
            sending.finish()
            sending.end(time.time())
    _tell([sending for sending, _reading in followed.values()])


def _only_project(source: Server) -> str:
    slugs = [str(project["slug"]) for project in source.get("/projects")]
    if len(slugs) != 1:
        raise Refused("Say into which project: --project with its slug.")
    return slugs[0]


def _tell(done: list[Sending]) -> None:
    if wants_json():
        print_json([{"run": one.run, "url": one.url, "points": one.points} for one in done])
        return
    for line in _lines(done):
        click.echo(line)


def _lines(done: list[Sending]) -> Iterator[str]:
    for one in done:
        yield f"{one.run}  {one.points:,} new points  {one.url}"
    if not done:
        yield "There was nothing to import."
