"""What commands print: aligned text for people, exactly one JSON document with `--json`."""

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def json_option(command: F) -> F:
    """Adds `--json`; ask `wants_json()` for it. `paceline --json COMMAND` means the same."""
    return click.option(
        "--json", "_json", is_flag=True, expose_value=False, callback=_note, help="Print one JSON document."
    )(command)


def wants_json() -> bool:
    """Whether the person asked for JSON."""
    return bool(click.get_current_context().meta.get("paceline.json"))


def print_json(document: Any) -> None:
    """The one document of this command."""
    click.echo(json.dumps(document, indent=2, ensure_ascii=False))


def table(titles: Sequence[str], rows: Iterable[Sequence[Any]], right: Sequence[str] = ()) -> None:
    """Columns as wide as their widest cell; those named in `right` are flush right."""
    lines = [list(titles), *([_cell(value) for value in row] for row in rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    for line in lines:
        cells = [
            text.rjust(width) if title in right else text.ljust(width)
            for title, text, width in zip(titles, line, widths, strict=True)
        ]
        click.echo("  ".join(cells).rstrip())


def age(moment: str | None) -> str:
    """How long ago an ISO time was: `40 s`, `12 min`, `3 h`, `9 d`."""
    if not moment:
        return "–"
    return duration((datetime.now(UTC) - datetime.fromisoformat(moment)).total_seconds())


def duration(seconds: float) -> str:
    """Seconds in the largest unit that fits."""
    whole = max(0, int(seconds))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"


def _cell(value: Any) -> str:
    if value is None or value == "":
        return "–"
    if isinstance(value, float):
        return f"{value:.4g}"
    # A name may hold anything; a control character must not move the reader's cursor.
    return "".join(c if c.isprintable() else "�" for c in str(value))


def _note(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    if value:
        context.meta["paceline.json"] = True
