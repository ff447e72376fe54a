"""`paceline metrics`: stored points at full resolution."""

import sys

import click

from trainer_agent.cli.output import json_option, print_json, table, wants_json
from trainer_agent.cli.runs import run_path
from trainer_agent.cli.server import Server, server


@click.command()
@click.argument("run")
@click.option("--name", help="A metric, such as phase/step or loss; without it the names are listed.")
@click.option("--rank", type=click.IntRange(min=0), help="One rank; all of them when left out.")
@click.option("--attempt", type=click.IntRange(min=1), help="The newest one when left out.")
@click.option("--format", "form", type=click.Choice(["json", "csv"]), default="json", show_default=True)
@json_option
def metrics(run: str, name: str | None, rank: int | None, attempt: int | None, form: str) -> None:
    """Print every stored point of a metric. A value that JSON cannot say is null; “nonfinite” says what it was."""
    source = server()
    if name is None:
        _list(source, run, attempt)
        return
    kind = "json" if wants_json() else form
    with source.stream(run_path(run, "metrics"), name=name, rank=rank, attempt=attempt, format=kind) as response:
        for data in response.iter_bytes():
            sys.stdout.buffer.write(data)
    if kind == "json":
        sys.stdout.buffer.write(b"\n")
    sys.stdout.buffer.flush()


def _list(source: Server, run: str, attempt: int | None) -> None:
    found = source.get(run_path(run, "metrics"), attempt=attempt)
    if wants_json():
        print_json(found)
        return
    rows = [(m["name"], m["unit"], m["axis"], m["points"]) for m in found]
    table(("NAME", "UNIT", "AXIS", "POINTS"), rows, right=("POINTS",))
