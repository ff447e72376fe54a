"""`paceline submit`: start a run."""

import os
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import click

from trainer_agent.cli.output import json_option, print_json, wants_json
from trainer_agent.cli.server import server
from trainer_agent.cli.upload import upload_folder

Pairs = dict[str, str]


def pairs(_context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]) -> Pairs:
    """`K=V`, many times. Only the first `=` counts."""
    found: Pairs = {}
    for text in values:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.BadParameter(f"“{text}” is not of the form NAME=VALUE.")
        found[name] = value
    return found


def _secrets(context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> Pairs:
    """`K=V`, or `K` alone: its value then comes from this shell's environment and from no command line."""
    full = []
    for text in values:
        if "=" not in text and text not in os.environ:
            raise click.BadParameter(f"{text} is not set in this environment; set it, or write {text}=VALUE.")
        full.append(text if "=" in text else f"{text}={os.environ[text]}")
    return pairs(context, parameter, tuple(full))


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    folder = click.Path(exists=True, file_okay=False, path_type=Path)
    for option in reversed(
        [
            click.option("--project", required=True, envvar="PACELINE_PROJECT", help="Slug of the project."),
            click.option("--name", help="The script's name when left out."),
            click.option("--nodes", type=int, default=1, show_default=True),
            click.option("--ranks-per-node", type=int, default=1, show_default=True),
            click.option("--env", multiple=True, callback=pairs, metavar="K=V"),
            click.option("--secret", "secrets", multiple=True, callback=_secrets, metavar="K[=V]"),
            click.option("--workdir", help="Run in this folder of every node."),
            click.option("--git", "git_url", help="Clone this URL on every node and run there."),
            click.option("--ref", "git_ref", help="Branch, tag or commit for --git."),
            click.option("--upload", type=folder, help="Send this folder to every node and run there."),
            click.option("--grace", type=float, default=20.0, show_default=True, help="Seconds from signal to kill."),
            click.option("--retries", type=int, default=0, show_default=True, help="New attempts after a failure."),
            click.option("--timeout", type=float, help="Stop after this many seconds of running."),
            click.option("--deep", is_flag=True, help="Measure every gradient bucket; costs a little speed."),
            click.option("--preflight", is_flag=True, help="Check the nodes first; what is bad ends the run."),
        ]
    ):
        command = option(command)
    return command


@click.command(context_settings={"allow_interspersed_args": False})
@run_options
@json_option
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- SCRIPT [ARGUMENT]...")
def submit(**asked: Any) -> None:
    """Start a run and print its id.

    Without --workdir, --git or --upload the command runs as it is on the node, in a new empty folder: a script is then
    an absolute path there.
    """
    run = server().post("/runs", asked_run(**asked))
    print_json(run) if wants_json() else click.echo(run["id"])


def asked_run(
    *,
    project: str,
    name: str | None,
    env: Pairs,
    secrets: Pairs,
    workdir: str | None,
    git_url: str | None,
    git_ref: str | None,
    upload: Path | None,
    argv: tuple[str, ...],
    **limits: Any,
) -> dict[str, Any]:
    """What the options ask for, as the API takes it; the folder of --upload is sent."""
    if git_ref and not git_url:
        raise click.UsageError("--ref needs --git.")
    if sum(source is not None for source in (workdir, git_url, upload)) > 1:
        raise click.UsageError("Choose one of --workdir, --git and --upload.")
    return {
        "project": project,
        "name": name or PurePosixPath(argv[0]).stem or argv[0],
        "argv": list(argv),
        "env": env,
        "secrets": secrets,
        "workdir": workdir or "",
        "git_url": git_url or "",
        "git_ref": git_ref or "",
        "upload_sha256": upload_folder(server(), project, upload) if upload else "",
        **limits,
    }
