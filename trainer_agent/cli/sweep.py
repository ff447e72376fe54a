"""`paceline sweep`: launch one command many times with other arguments."""

from typing import Any

import click

from trainer_agent.cli.output import json_option, print_json, wants_json
from trainer_agent.cli.server import server
from trainer_agent.cli.submit import Pairs, asked_run, pairs, run_options


@click.command(context_settings={"allow_interspersed_args": False})
@run_options
@click.option("--try", "space", multiple=True, required=True, callback=pairs, metavar="ARGUMENT=VALUES")
@click.option("--method", type=click.Choice(["grid", "random", "optuna"]), default="optuna", show_default=True)
@click.option("--goal", default="loss", show_default=True, help="Metric that decides; its last value counts.")
@click.option("--maximize", is_flag=True, help="Higher is better.")
@click.option("--runs", "most_runs", type=int, default=20, show_default=True, help="Runs at most.")
@click.option("--parallel", type=int, default=1, show_default=True, help="Runs at the same time.")
@click.option("--early", is_flag=True, help="Stop runs that are worse than the median.")
@json_option
@click.argument("argv", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- SCRIPT [ARGUMENT]...")
def sweep(space: Pairs, maximize: bool, **asked: Any) -> None:
    """Start a sweep and print its id.

    --try "--lr=log 1e-5..1e-1" --try "--batch=16, 32, 64" --try "--layers=2..8": lists, ranges of whole numbers or
    numbers (with “step 0.1” if you like), and ranges by magnitude. A name without dashes becomes name=value.
    """
    search = {name: asked.pop(name) for name in ("method", "goal", "most_runs", "parallel", "early")}
    direction = "maximize" if maximize else "minimize"
    made = server().post("/sweeps", {**asked_run(**asked), **search, "space": space, "direction": direction})
    print_json(made) if wants_json() else click.echo(made["id"])
