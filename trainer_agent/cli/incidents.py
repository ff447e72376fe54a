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
        table(
            ("ID", "KIND", "SUBJECT", "SEVERITY", "CAUSE", "AGE", "WHAT"),
            [
                (i["id"], i["kind"], i["subject"], i["severity"], i["cause"], age(i["opened_at"]), i["sentence"])
                for i in found
            ],
        )
    else:
        click.echo("No incidents.", err=True)
