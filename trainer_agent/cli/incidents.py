"""`paceline incidents`: what was found wrong with a run."""

import click

from trainer_agent.cli.output import age, json_option, print_json, table, wants_json
from trainer_agent.cli.runs import run_path
from trainer_agent.cli.server import server


@click.command()
@click.argument("run")
@json_option
def incidents(run: str) -> None:
    """List the incidents of a run."""
    found = server().get(run_path(run, "incidents"))
    if wants_json():
        print_json(found)
    elif found:
        columns = ("id", "kind", "subject", "severity", "cause")
        rows = [(*(one[key] for key in columns), age(one["opened_at"]), one["sentence"]) for one in found]
        table(("ID", "KIND", "SUBJECT", "SEVERITY", "CAUSE", "AGE", "WHAT"), rows)
    else:
        click.echo("No incidents.", err=True)
