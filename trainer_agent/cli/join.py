"""`paceline join`: turns this machine into a node and becomes its agent."""

import os
import sys
from pathlib import Path

import click

DEFAULT_HOME = Path("~/.paceline/node")


@click.command()
@click.argument("url")
@click.option("--token", envvar="PACELINE_JOIN_TOKEN", default="", help="One-time token from the Nodes page.")
@click.option("--slots", type=click.IntRange(min=1), help="CPU slots, instead of one slot per GPU.")
@click.option("--name", default="", help="Name of the node; the host's name if not given.")
@click.option("--home", type=click.Path(path_type=Path), default=DEFAULT_HOME, show_default=True, help="Its files.")
@click.option("--python", default="", help="Interpreter that trains; this one if not given.")
def join(url: str, token: str, home: Path, **how: str | int | None) -> None:
    """Turn this machine into a node of the server at URL. A machine that has joined before just runs again."""
    command = [sys.executable, "-m", "trainer_agent.agent", "--home", str(home.expanduser()), "--join", url]
    for option, value in how.items():
        if value:
            command += [f"--{option}", str(value)]
    # The agent takes this process's place. The token goes by the environment: a command line can be read by anybody.
    os.execve(sys.executable, command, {**os.environ, "PACELINE_JOIN_TOKEN": token})  # noqa: S606
