"""What TensorBoard and MLflow leave on a disk."""

import sqlite3
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.util.tensor_util import make_tensor_proto

UID = "0123456789abcdef0123456789abcdef"
BEGAN, ENDED = 1_700_000_000.0, 1_700_000_100.0


class Writer:
    """Writes scalars of both generations of summaries, and what is no scalar."""

    def __init__(self, folder: Path) -> None:
        self._writer = EventFileWriter(str(folder))

    def scalars(self, **by_key: dict[int, float]) -> None:
        for key, points in by_key.items():
            for step, value in points.items():
                self._add(step, Summary.Value(tag=key, simple_value=value))
        self._writer.flush()

    def tensor(self, key: str, step: int, value: object) -> None:
        self._add(step, Summary.Value(tag=key, tensor=make_tensor_proto(np.asarray(value))))
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()

    def _add(self, step: int, value: Summary.Value) -> None:
        self._writer.add_event(Event(wall_time=BEGAN + step, step=step, summary=Summary(value=[value])))


def mlflow_folder(root: Path) -> Path:
    """`mlruns` with one run."""
    run = root / "mlruns" / "0" / UID
    files = {
        "meta.yaml": (
            f"run_id: {UID}\nrun_name: calm-owl\nstatus: 4\nlifecycle_stage: active\n"
            f"start_time: {BEGAN * 1000:.0f}\nend_time: {ENDED * 1000:.0f}\n"
        ),
        "params/lr": "0.25",
        "metrics/val/loss": "1700000001000 1.5 0\n1700000002000 nan 7\n",
        "tags/team": "vision",
        "tags/mlflow.user": "ana",
    }
    for name, text in files.items():
        (run / name).parent.mkdir(parents=True, exist_ok=True)
        (run / name).write_text(text)
    return root / "mlruns"


def mlflow_database(path: Path) -> Path:
    """The same run in SQLite, and one that was deleted."""
    with sqlite3.connect(path) as database:
        database.executescript(
            "CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, lifecycle_stage TEXT,"
            " start_time INTEGER, end_time INTEGER);"
            "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
            "CREATE TABLE tags (key TEXT, value TEXT, run_uuid TEXT);"
            "CREATE TABLE metrics"
            " (key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT, step INTEGER, is_nan BOOLEAN);"
        )
        times = (int(BEGAN * 1000), int(ENDED * 1000))
        database.execute("INSERT INTO runs VALUES (?, 'calm-owl', 'FAILED', 'active', ?, ?)", (UID, *times))
        database.execute("INSERT INTO runs VALUES ('gone', 'gone', 'FINISHED', 'deleted', ?, ?)", times)
        database.execute("INSERT INTO params VALUES ('lr', '0.25', ?)", (UID,))
        database.execute("INSERT INTO tags VALUES ('team', 'vision', ?)", (UID,))
        rows = [("val/loss", 1.5, 1700000001000, UID, 0, False), ("val/loss", 0.0, 1700000002000, UID, 7, True)]
        database.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", rows)
    database.close()
    return path
