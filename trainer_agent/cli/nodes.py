"""`paceline nodes | drain | undrain`."""

import time
from typing import Any
from urllib.parse import quote

import click

from trainer_agent.cli.errors import NotReached, Refused
from trainer_agent.cli.output import age, json_option, print_json, table, wants_json
from trainer_agent.cli.server import Server, server

TITLES = ("NODE", "STATE", "FREE", "SLOTS", "DEVICE", "RUNS", "HEARD", "AGENT")
PAUSE = 1.0  # seconds between two questions
TIMED_OUT = 124  # as timeout(1)


@click.command()
@json_option
def nodes() -> None:
    """List the nodes, what is free on them, and which of your runs hold them."""
    found = server().get("/nodes")
    if wants_json():
        print_json(found)
        return
    if not found:
        click.echo("No nodes. Add one: “paceline join --help” on the machine.", err=True)
        return
    table(TITLES, [_row(node) for node in found], right=("FREE", "SLOTS", "HEARD"))
    for node in found:
        for text in filter(None, (node["sentence"], node["trouble"])):
            click.echo(f"{node['name']}: {text}", err=True)


@click.command()
@click.argument("node")
@click.option("--wait", is_flag=True, help="Return only when nothing runs there any more.")
@click.option("--timeout", type=click.FloatRange(min=0), help="Seconds for --wait; exit code 124 when they are over.")
@json_option
def drain(node: str, wait: bool, timeout: float | None) -> None:
    """Place nothing new on NODE (its name or id); what runs there goes on to its end."""
    source = server()
    found = source.post(_path(node, "drain"))
    if wait:
        found = _until_drained(source, found, timeout)
    if wants_json():
        print_json(found)
    elif found["sentence"]:
        click.echo(f"{found['name']}: {found['sentence']}")
    if wait and found["state"] != "drained":
        click.echo(f"paceline: {found['name']} is still {found['state']} after {timeout:g} s.", err=True)
        raise SystemExit(TIMED_OUT)


@click.command()
@click.argument("node")
@json_option
def undrain(node: str) -> None:
    """Let NODE (its name or id) take runs again."""
    found = server().post(_path(node, "undrain"))
    print_json(found) if wants_json() else click.echo(f"{found['name']} takes runs again.")


def _until_drained(source: Server, found: dict[str, Any], timeout: float | None) -> dict[str, Any]:
    """The node as last read. A server that restarts meanwhile is asked again."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while found["state"] != "drained":
        left = PAUSE if deadline is None else deadline - time.monotonic()
        if left <= 0:
            break
        time.sleep(min(PAUSE, left))
        try:
            known = {node["id"]: node for node in source.get("/nodes")}
        except NotReached:
            continue
        if found["id"] not in known:
            raise Refused(f"{found['name']} was removed from the list of nodes.")
        found = known[found["id"]]
        if not found["draining"]:
            raise Refused(f"Somebody lets {found['name']} take runs again.")
    return found


def _path(node: str, act: str) -> str:
    return f"/nodes/{quote(node, safe='')}/{act}"


def _row(node: dict[str, Any]) -> tuple[Any, ...]:
    slots = node["slots"]
    device = slots[0]["model"] or slots[0]["kind"] if slots else ""
    runs = sorted({slot["run"] for slot in slots if slot["run"]})
    return (
        node["name"],
        node["state"],
        node["slots_free"],
        node["slots_total"],
        device,
        " ".join(runs),
        age(node["last_heard"]),
        node["agent_version"],
    )
