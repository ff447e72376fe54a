"""`paceline preflight`: check nodes and the links between them."""

import time
from typing import Any

import click

from trainer_agent.cli.errors import NotReached
from trainer_agent.cli.output import json_option, print_json, table, wants_json
from trainer_agent.cli.server import Server, server

PAUSE = 0.5  # seconds between two questions
TITLES = ("FROM", "TO", "MB/S", "BEFORE", "ROUND TRIP MS", "HOW")
HOW = {"red": "bad", "amber": "look at it", "green": "in line"}


@click.command()
@click.argument("nodes", nargs=-1, metavar="[NODE]...")
@click.option("--links", "with_links", is_flag=True, help="List every link, not only those that deviate.")
@json_option
def preflight(nodes: tuple[str, ...], with_links: bool) -> None:
    """Check NODEs (names or ids; all when none is named) and the links between them.

    Disk, versions, clocks, GPUs, ports, bandwidth and latency; a minute at most. Exit code 1 when something is bad.
    """
    found = _until_done(server(), server().post("/checks", {"nodes": list(nodes)}))
    if wants_json():
        print_json(found)
    else:
        _print(found, with_links)
    raise SystemExit(1 if found["level"] == "red" else 0)


def _until_done(source: Server, found: dict[str, Any]) -> dict[str, Any]:
    """A server that restarts meanwhile is asked again; it ends every check after a minute."""
    while not found["done"]:
        time.sleep(PAUSE)
        try:
            found = source.get(f"/checks/{found['id']}")
        except NotReached:
            continue
    return found


def _print(found: dict[str, Any], with_links: bool) -> None:
    click.echo(found["sentence"])
    for one in found["findings"]:
        click.echo(f"  {HOW[one['level']]}: {one['sentence']} {one['next']}")
    links = [link for link in found["links"] if with_links or link["level"] != "green"]
    if links:
        table(TITLES, [_row(link) for link in links], right=TITLES[2:5])
    click.echo(found["url"], err=True)


def _row(link: dict[str, Any]) -> tuple[Any, ...]:
    numbers = [f"{link[name]:,.1f}" if link[name] is not None else "–" for name in ("mb_s", "usual_mb_s")]
    trip = f"{link['rtt_ms']:,.2f}" if link["rtt_ms"] is not None else "–"
    return link["source"], link["target"], *numbers, trip, link["error"] or HOW[link["level"]]
