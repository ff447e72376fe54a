"""`paceline artifact put | ls | get | rm`: files that belong to a run."""

import hashlib
import os
import socket
import sys
from pathlib import Path
from typing import IO, Any
from urllib.parse import quote

import click

from trainer_agent.cli.download import download
from trainer_agent.cli.output import age, json_option, print_json, table, wants_json
from trainer_agent.cli.runs import run_path
from trainer_agent.cli.server import server

_PIECE = 1024 * 1024


@click.group()
def artifact() -> None:
    """Files that belong to a run."""


@artifact.command()
@click.argument("run")
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", default="", help="Its name in the run; the file's own when left out.")
@click.option("--by-path", is_flag=True, help="Only note where it lies, with its size and hash; nothing is sent.")
@click.option("--replace", is_flag=True, help="Take the place of one of this name.")
@json_option
def put(*, run: str, file: Path, name: str, by_path: bool, replace: bool) -> None:
    """Add FILE to RUN."""
    name = name or file.name
    with file.open("rb") as opened:
        if by_path:
            made = server().post(run_path(run, "artifacts", "paths"), _where(file, opened, name, replace))
        else:
            made = server().send_form_file(run_path(run, "artifacts"), opened, file.name, name=name, replace=replace)
    print_json(made) if wants_json() else click.echo(f"{made['name']}  {made['size']:,} bytes  sha256 {made['sha256']}")


@artifact.command()
@click.argument("run")
@json_option
def ls(run: str) -> None:
    """List the files of RUN."""
    found = server().get(run_path(run, "artifacts"))
    if wants_json():
        print_json(found)
    elif found:
        table(("NAME", "BYTES", "SHA256", "WHERE", "BY", "AGE"), [_row(one) for one in found], right=("BYTES", "AGE"))
    else:
        click.echo("No files. Add one with “paceline artifact put”.", err=True)


@artifact.command()
@click.argument("run")
@click.argument("name")
@click.option("-o", "--output", type=click.Path(path_type=Path), help="Where to; “-” is standard output.")
def get(run: str, name: str, output: Path | None) -> None:
    """Download NAME of RUN.

    What came is checked against its hash. A connection that breaks is taken up again where it broke.
    """
    target = output or Path(name).name
    if str(target) == "-":
        download(server(), _address(run, name), sys.stdout.buffer)
        return
    part = Path(f"{target}.part")
    try:
        with part.open("wb") as file:
            download(server(), _address(run, name), file)
        os.replace(part, target)
    finally:
        part.unlink(missing_ok=True)


@artifact.command()
@click.argument("run")
@click.argument("name")
def rm(run: str, name: str) -> None:
    """Delete NAME of RUN for good."""
    server().delete(_address(run, name))


def _address(run: str, name: str) -> str:
    return run_path(run, "artifacts") + "/" + quote(name, safe="/")


def _where(file: Path, opened: IO[bytes], name: str, replace: bool) -> dict[str, Any]:
    digest = hashlib.sha256()
    while piece := opened.read(_PIECE):
        digest.update(piece)
    return {
        "name": name,
        "path": str(file.resolve()),
        "node": socket.gethostname(),
        "size": file.stat().st_size,
        "sha256": digest.hexdigest(),
        "replace": replace,
    }


def _row(one: dict[str, Any]) -> tuple[Any, ...]:
    where = f"{one['node']}:{one['path']}" if one["kind"] == "path" else "kept"
    return (one["name"], one["size"], one["sha256"][:12], where, one["added_by"] or "", age(one["added_at"]))
