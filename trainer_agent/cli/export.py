"""`paceline export`: everything about a run as files: Parquet, JSON and logs."""

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import click

from trainer_agent.cli.output import json_option, print_json, wants_json
from trainer_agent.cli.runs import run_path
from trainer_agent.cli.server import Server, server

ROWS_AT_ONCE = 200_000
Row = tuple[str, str, str, int, int, float]


@click.command()
@click.argument("run")
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False, path_type=Path), help="Folder to fill.")
@json_option
def export(run: str, output: Path) -> None:
    """Write a run to files.

    They are run.json, events.json, incidents.json and, for each attempt, ledger.json,
    provenance.json, metrics.parquet and logs.
    """
    arrow = _arrow()
    source = server()
    found = source.get(run_path(run))
    output.mkdir(parents=True, exist_ok=True)
    files = [_write_json(output / "run.json", found)]
    files += [_write_json(output / f"{p}.json", source.get(run_path(run, p))) for p in ("events", "incidents")]
    for number in range(1, found["attempt"] + 1):
        files += _attempt(source, arrow, found, number, output / f"attempt-{number}")
    if wants_json():
        print_json({"run": found["id"], "folder": str(output), "files": [str(f.relative_to(output)) for f in files]})
    else:
        click.echo(f"Wrote {len(files)} files to {output}.")


def _arrow() -> Any:
    """Imported late: it takes longer than most commands do."""
    import pyarrow
    import pyarrow.parquet

    return pyarrow


def _attempt(source: Server, arrow: Any, found: dict[str, Any], number: int, folder: Path) -> list[Path]:
    run, nodes = found["id"], found["nodes"]
    (folder / "logs").mkdir(parents=True, exist_ok=True)
    ledger = source.get(run_path(run, "ledger"), attempt=number)
    files = [_write_json(folder / "ledger.json", ledger)]
    files.append(_write_json(folder / "provenance.json", source.get(run_path(run, "provenance"), attempt=number)))
    files.append(folder / "metrics.parquet")
    _write_metrics(source, arrow, run, number, files[-1])
    for rank in (*range(-nodes, 0), *map(int, ledger["ranks"])):
        path = folder / "logs" / (f"launcher{-1 - rank}.log" if rank < 0 else f"rank{rank}.log")
        with source.stream(run_path(run, "logs"), rank=rank, attempt=number) as response, path.open("wb") as file:
            for data in response.iter_bytes():
                file.write(data)
        files.append(path)
    return files


def _write_metrics(source: Server, arrow: Any, run: str, number: int, path: Path) -> None:
    """One row a point: metric, unit, axis, index (step or epoch seconds), rank (node rank for node/*), value."""
    text = arrow.dictionary(arrow.int32(), arrow.string())
    names = [("metric", text), ("unit", text), ("axis", text)]
    numbers = [("index", arrow.int64()), ("rank", arrow.int32()), ("value", arrow.float64())]
    schema = arrow.schema([*names, *numbers])
    with arrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for metric in source.get(run_path(run, "metrics"), attempt=number):
            with _points(source, run, number, metric) as points:
                while rows := list(islice(points, ROWS_AT_ONCE)):
                    writer.write_table(arrow.table([list(column) for column in zip(*rows, strict=True)], schema=schema))


@contextmanager
def _points(source: Server, run: str, number: int, metric: dict[str, Any]) -> Iterator[Iterator[Row]]:
    name = metric["name"]
    with source.stream(run_path(run, "metrics"), name=name, attempt=number, format="csv") as response:
        lines = csv.reader(response.iter_lines())
        next(lines)
        yield ((name, metric["unit"], metric["axis"], int(i), int(r), float(v)) for i, r, v in lines)


def _write_json(path: Path, document: Any) -> Path:
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
    return path
