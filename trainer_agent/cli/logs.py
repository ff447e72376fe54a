"""`paceline logs`: what the ranks printed."""

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

import click

from trainer_agent.cli.output import json_option, print_json, wants_json
from trainer_agent.cli.runs import run_path
from trainer_agent.cli.server import Server, server

PAUSE = 0.5  # seconds between two looks while following


@click.command()
@click.argument("run")
@click.option("--rank", type=int, help="One rank's bytes as they were; -1 is the launcher of the first node.")
@click.option("--attempt", type=int, help="The newest one when left out.")
@click.option("--follow", is_flag=True, help="Go on until the run has ended.")
@json_option
def logs(run: str, rank: int | None, attempt: int | None, follow: bool) -> None:
    """Print what the ranks printed.

    With --rank that rank's bytes, else the lines of all ranks with their rank in front.
    """
    if follow and wants_json():
        raise click.UsageError("--json prints one document, so it does not go with --follow.")
    source = server()
    if rank is None:
        print_json(list(_lines(source, run, attempt))) if wants_json() else _print_all(source, run, attempt, follow)
    elif wants_json():
        print_json(_rank_lines(source, run, rank, attempt))
    else:
        _print_rank(source, run, rank, attempt, follow)


def _print_rank(source: Server, run: str, rank: int, attempt: int | None, follow: bool) -> None:
    after = 0
    ended = not follow
    while True:
        after = _copy(source, run, rank, attempt, after)
        if ended:
            return
        # Asked before the last look, so that nothing between the two is missed.
        ended = _has_ended(source, run)
        if not ended:
            time.sleep(PAUSE)


def _copy(source: Server, run: str, rank: int, attempt: int | None, after: int) -> int:
    """Bytes from offset `after` to standard output; the offset where they end."""
    with source.stream(run_path(run, "logs"), rank=rank, attempt=attempt, after=after or None) as response:
        for data in response.iter_bytes():
            sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return int(response.headers["X-Log-End"])


def _print_all(source: Server, run: str, attempt: int | None, follow: bool) -> None:
    after = 0
    ended = not follow
    while True:
        for line in _lines(source, run, attempt, after):
            after = line["cursor"]
            click.echo(f"[{_origin(line['rank'])}] {line['text']}")
        if ended:
            return
        ended = _has_ended(source, run)
        if not ended:
            time.sleep(PAUSE)


def _origin(rank: int) -> str:
    """Ranks below 0 are the nodes' launchers: -1 that of the first node."""
    if rank >= 0:
        return str(rank)
    return "launcher" if rank == -1 else f"launcher {-1 - rank}"


def _lines(source: Server, run: str, attempt: int | None, after: int = 0) -> Iterator[dict[str, Any]]:
    with source.stream(run_path(run, "logs"), attempt=attempt, after=after or None) as response:
        for text in response.iter_lines():
            yield json.loads(text)


def _rank_lines(source: Server, run: str, rank: int, attempt: int | None) -> list[dict[str, Any]]:
    with source.stream(run_path(run, "logs"), rank=rank, attempt=attempt) as response:
        text = response.read().decode("utf-8", "replace")
    return [{"rank": rank, "text": line} for line in text.removesuffix("\n").split("\n") if text]


def _has_ended(source: Server, run: str) -> bool:
    return bool(source.get(run_path(run))["status"] == "ended")
