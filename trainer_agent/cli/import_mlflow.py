"""MLflow's stores: the folder `mlruns`, and the SQLite file. Runs with their points, oldest run first."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from trainer_agent.cli.errors import Refused
from trainer_agent.cli.import_sender import Point, Run

Found = tuple[Run, Iterator[Point]]
_MS = 1_000.0
_OUTCOMES = {"FAILED": "failed", "KILLED": "stopped"}
_STATUSES = {1: "RUNNING", 2: "SCHEDULED", 3: "FINISHED", 4: "FAILED", 5: "KILLED"}
_OWN_TAGS = "mlflow."


def runs(path: Path) -> Iterator[Found]:
    """What a store holds; deleted runs are left out."""
    if path.is_file():
        return _of_database(path)
    if (path / "mlflow.db").is_file() and not any(path.glob("*/*/meta.yaml")):
        return _of_database(path / "mlflow.db")
    if not any(path.glob("*/*/meta.yaml")):
        raise Refused(f"{path} is no store of MLflow: neither a folder with runs (mlruns) nor an SQLite file.")
    return _of_folder(path)


def _of_folder(root: Path) -> Iterator[Found]:
    for meta in sorted(root.glob("*/*/meta.yaml")):
        about = _yaml(meta)
        if about.get("run_id") and about.get("lifecycle_stage", "active") == "active":
            params, tags = _texts(meta.parent / "params"), _texts(meta.parent / "tags")
            yield _run(about, params, tags), _points_of_files(meta.parent / "metrics")


def _yaml(path: Path) -> dict[str, Any]:
    try:
        import yaml
    except ImportError:
        raise Refused("MLflow's folders are read with the package PyYAML: pip install pyyaml.") from None
    try:
        found = yaml.safe_load(path.read_text())
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read: {error}") from None
    return found if isinstance(found, dict) else {}


def _texts(folder: Path) -> dict[str, str]:
    """Files below the folder: a name may have slashes."""
    return {p.relative_to(folder).as_posix(): p.read_text() for p in sorted(folder.rglob("*")) if p.is_file()}


def _points_of_files(folder: Path) -> Iterator[Point]:
    """Lines of `milliseconds value step`; old stores have no step."""
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        key = path.relative_to(folder).as_posix()
        with path.open() as lines:
            for line in lines:
                words = line.split()
                if len(words) >= 2:  # the last line of a run that was killed may be cut off
                    yield Point(key, int(words[2]) if words[2:] else 0, int(words[0]) / _MS, float(words[1]))


def _of_database(path: Path) -> Iterator[Found]:
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
        database.row_factory = sqlite3.Row
        try:
            rows = database.execute(
                "SELECT * FROM runs WHERE lifecycle_stage = 'active' ORDER BY start_time"
            ).fetchall()
        except sqlite3.DatabaseError as error:
            raise Refused(f"{path} is no database of MLflow ({error}).") from None
        for row in rows:
            about = dict(row)
            uid = about["run_id"] = about.pop("run_uuid")
            params = dict(database.execute("SELECT key, value FROM params WHERE run_uuid = ?", (uid,)).fetchall())
            tags = dict(database.execute("SELECT key, value FROM tags WHERE run_uuid = ?", (uid,)).fetchall())
            yield _run(about, params, tags), _points_of_rows(database, uid)


def _points_of_rows(database: sqlite3.Connection, uid: str) -> Iterator[Point]:
    columns = "key, step, timestamp, value, is_nan"
    found = database.execute(f"SELECT {columns} FROM metrics WHERE run_uuid = ? ORDER BY key, step, timestamp", (uid,))  # noqa: S608
    for key, step, at, value, is_nan in found:
        yield Point(key, int(step), at / _MS, float("nan") if is_nan else float(value))


def _run(about: dict[str, Any], params: dict[str, str], tags: dict[str, str]) -> Run:
    uid, status = str(about["run_id"]), about.get("status")
    word = _STATUSES.get(status, "") if isinstance(status, int) else str(status)
    name = about.get("run_name") or about.get("name") or tags.get("mlflow.runName") or uid
    theirs = {f"tag.{key}": text for key, text in tags.items() if not key.startswith(_OWN_TAGS)}
    return Run(
        kind="mlflow",
        source=f"mlflow:{uid}",
        name=str(name),
        started_at=_seconds(about.get("start_time")),
        ended_at=_seconds(about.get("end_time")),
        outcome=_OUTCOMES.get(word, "succeeded"),
        config={key[:500]: str(text) for key, text in list({**params, **theirs}.items())[:2_000]},
    )


def _seconds(ms: Any) -> float | None:
    return ms / _MS if isinstance(ms, int | float) else None
