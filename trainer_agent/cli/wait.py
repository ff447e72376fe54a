"""`paceline wait`: until a run has ended."""

import time
from typing import Any

import click

from trainer_agent.cli.errors import NotReached
from trainer_agent.cli.output import json_option, print_json, wants_json
from trainer_agent.cli.runs import run_path, state
from trainer_agent.cli.server import Server, server

PAUSE = 0.5  # seconds between two questions
TIMED_OUT = 124  # as timeout(1)


@click.command()
@click.argument("run")
@click.option("--timeout", type=click.FloatRange(min=0), help="Seconds; exit code 124 when they are over.")
@json_option
def wait(run: str, timeout: float | None) -> None:
    """Wait for the end of a run. Exit code 0 only if it succeeded, 124 on time-out, else 1."""
    found, ended = _until_ended(server(), run, timeout)
    if wants_json():
        print_json(found)
    elif ended:
        click.echo(f"{found['id']} {state(found)}" + (f": {found['sentence']}" if found["sentence"] else ""))
    else:
        click.echo(f"paceline: Run {found['id']} is still {found['status']} after {timeout:g} s.", err=True)
    if not ended:
        raise SystemExit(TIMED_OUT)
    raise SystemExit(0 if found["outcome"] == "succeeded" else 1)


def _until_ended(source: Server, run: str, timeout: float | None) -> tuple[dict[str, Any], bool]:
    """The run as last read, and whether it has ended. A server that restarts meanwhile is asked again."""
    deadline = None if timeout is None else time.monotonic() + timeout
    found: dict[str, Any] | None = None
    while True:
        try:
            found = source.get(run_path(run))
        except NotReached:
            # The first answer must come, so that a wrong address is told at once; later silence is waited out.
            if found is None:
                raise
        if found["status"] == "ended":
            return found, True
        left = PAUSE if deadline is None else deadline - time.monotonic()
        if left <= 0:
            return found, False
        time.sleep(min(PAUSE, left))
