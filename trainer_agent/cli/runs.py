"""`paceline ls | show | stop`."""

from typing import Any
from urllib.parse import quote

import click

from trainer_agent.cli.output import age, json_option, print_json, table, wants_json
from trainer_agent.cli.server import server

TITLES = ("ID", "NAME", "PROJECT", "OWNER", "STATUS", "RANKS", "STEPS", "LOSS", "AGE")


@click.command()
@click.argument("query", nargs=-1)
@click.option("--project", help="Slug of a project.")
@click.option("--status", help="queued, running, succeeded, failed, stopped, …")
@click.option("--owner", help="User name.")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True)
@json_option
def ls(query: tuple[str, ...], project: str | None, status: str | None, owner: str | None, limit: int) -> None:
    """List runs, newest first. QUERY searches as on the page."""
    found = server().get("/runs", q=" ".join(query), project=project, status=status, owner=owner, limit=limit)
    if wants_json():
        print_json(found)
    elif found:
        table(TITLES, [_row(run) for run in found], right=("RANKS", "STEPS", "LOSS", "AGE"))
    else:
        click.echo("No runs. Start one with “paceline submit --help”.", err=True)


@click.command()
@click.argument("run")
@json_option
def show(run: str) -> None:
    """Show one run."""
    found = server().get(run_path(run))
    print_json(found) if wants_json() else print_run(found)


@click.command()
@click.argument("run")
@json_option
def stop(run: str) -> None:
    """Ask a run to stop.

    It gets its stop signal and its grace period, then every process that is left is killed.
    """
    found = server().post(run_path(run, "stop"))
    if wants_json():
        print_json(found)
    elif found["status"] == "ended":
        click.echo(f"Run {found['id']} has ended: {state(found)}.")
    else:
        click.echo(f"Run {found['id']} is stopping.")


def run_path(run: str, *rest: str) -> str:
    """Address of a run in the API."""
    return "/".join(["/runs", quote(run, safe=""), *rest])


def state(run: dict[str, Any]) -> str:
    """Outcome with cause once there is one, else the status."""
    if not run["outcome"] or run["status"] != "ended":
        return str(run["status"])
    return f"{run['outcome']} ({run['cause']})" if run["cause"] else str(run["outcome"])


def print_run(run: dict[str, Any]) -> None:
    """The fields of one run, one a line."""
    steps = f"{run['steps']:,}" + (f" of {run['total_steps']:,}" if run["total_steps"] else "")
    lines = [
        ("run", f"{run['name']}  {run['id']}"),
        ("project", run["project"]),
        ("owner", run["owner"]),
        ("state", state(run)),
        ("", run["sentence"]),
        ("", run.get("cleanup")),
        ("attempt", run["attempt"]),
        ("ranks", f"{run['world_size']} on {run['nodes']} nodes" if run["nodes"] > 1 else run["world_size"]),
        ("nodes", ", ".join(run["node_names"])),
        ("steps", steps),
        ("loss", "" if run["last_loss"] is None else f"{run['last_loss']:.6g}"),
        ("created", f"{age(run['created_at'])} ago"),
        ("command", run["command"]),
        ("commit", commit(run)),
        ("page", run["url"]),
    ]
    for label, value in lines:
        if value not in ("", None):
            click.echo(f"{label:<9}{value}")


def commit(run: dict[str, Any]) -> str:
    """The commit and whether the code differed from it; a server of an earlier version does not say."""
    differs = ", with changes that are not in it" if run.get("dirty") else ""
    return f"{run['commit'][:12]}{differs}" if run.get("commit") else ""


def _row(run: dict[str, Any]) -> tuple[Any, ...]:
    return (
        run["id"],
        run["name"],
        run["project"],
        run["owner"],
        state(run),
        run["world_size"],
        run["steps"],
        run["last_loss"],
        age(run["created_at"]),
    )
