"""Writes one unit of a plan into the archive. Nothing here holds more than one window of points."""

import json
import zipfile
from collections.abc import Callable, Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from webapp.api import events, incidents, log_bytes, points, provenance, shapes
from webapp.exports.models import Export, Kind
from webapp.exports.parquet import parquet
from webapp.exports.plan import Unit, file_names
from webapp.incidents import queries
from webapp.telemetry import ledger, slot_time
from webapp.telemetry.read import Reader
from webapp.telemetry.units import unit_of

_LOG_PIECE = 4 * 1024 * 1024


class Content:
    """The run behind an export. `alive` is called between pieces of what takes long."""

    def __init__(self, row: Export, alive: Callable[[], None]) -> None:
        self._run, self._kinds, self._alive = row.run, row.kinds, alive
        self._reader: Reader | None = None

    def write(self, archive: zipfile.ZipFile, unit: Unit) -> None:
        """One unit, whole."""
        write: dict[str, Callable[[zipfile.ZipFile, Unit], None]] = {
            "run": self._about_run,
            "attempt": self._about_attempt,
            "log": self._log,
            Kind.PARQUET.value: self._parquet,
        }
        write.get(unit["what"], self._text)(archive, unit)

    def _about_run(self, archive: zipfile.ZipFile, unit: Unit) -> None:
        run = self._run
        _json(archive, "run.json", shapes.show(run))
        _json(archive, "events.json", events.of_run(run))
        _json(archive, "incidents.json", [incidents.shown(row) for row in queries.of_run(run)])
        _json(archive, "hours.json", slot_time.of_run(run))

    def _about_attempt(self, archive: zipfile.ZipFile, unit: Unit) -> None:
        reader = self._read(unit)
        _json(archive, f"{unit['path']}/ledger.json", ledger.of_attempt(reader.attempt))
        _json(archive, f"{unit['path']}/provenance.json", provenance.of_attempt(reader.attempt))
        metrics = reader.metrics()
        files = file_names([metric.name for metric in metrics])
        listed = [
            {"name": m.name, "file": files[m.name], "unit": unit_of(m.name), "axis": m.axis, "points": m.points}
            for m in metrics
        ]
        _json(archive, f"{unit['path']}/metrics.json", listed)

    def _parquet(self, archive: zipfile.ZipFile, unit: Unit) -> None:
        reader = self._read(unit)
        series = (reader.series(piece["name"], piece["first"], piece["last"]) for piece in unit["pieces"])
        stored = zipfile.ZipInfo(unit["path"])  # Parquet is compressed already
        archive.writestr(stored, parquet(series), compress_type=zipfile.ZIP_STORED)

    def _text(self, archive: zipfile.ZipFile, unit: Unit) -> None:
        reader = self._read(unit)
        (piece,) = unit["pieces"]
        part = reader.series(piece["name"], piece["first"], piece["last"])
        if unit["what"] == Kind.CSV:
            lines = points.csv_of(part.axis, [part], None)
        else:
            head = {"name": part.name, "unit": part.unit, "attempt": unit["attempt"], "axis": part.axis}
            lines = points.json_of_all(head, [part])
        self._stream(archive, unit["path"], lines)

    def _log(self, archive: zipfile.ZipFile, unit: Unit) -> None:
        attempt, rank = self._read(unit).attempt, unit["rank"]
        end = log_bytes.end_of(attempt, rank)
        starts = range(0, end, _LOG_PIECE)
        self._stream(
            archive,
            unit["path"],
            (part for start in starts for part in log_bytes.raw(attempt, rank, start, min(start + _LOG_PIECE, end))),
        )

    def _stream(self, archive: zipfile.ZipFile, path: str, parts: Iterator[bytes]) -> None:
        with archive.open(path, "w", force_zip64=True) as member:
            for part in parts:
                member.write(part)
                self._alive()

    def _read(self, unit: Unit) -> Reader:
        """The attempt at one moment: its young data is read once a slice."""
        if self._reader is None or self._reader.attempt.number != unit["attempt"]:
            self._reader = Reader(self._run.attempts.select_related("run").get(number=unit["attempt"]))
        return self._reader


def _json(archive: zipfile.ZipFile, path: str, document: Any) -> None:
    text = json.dumps(document, indent=2, ensure_ascii=False, cls=DjangoJSONEncoder)
    archive.writestr(path, text + "\n")
