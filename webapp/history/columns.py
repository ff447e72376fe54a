"""Columns of a runs list: which ones were chosen, and what stands in them. Keys are read only where they are chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, unquote

from django.db.models import QuerySet
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from webapp.history.models import ConfigValue, Kind, MetricValue
from webapp.history.numbered import Numbered, numbered
from webapp.runs.models import Run

MOST = 40
STANDARD = ("project", "owner", "ranks", "steps", "loss", "health", "duration", "created")
TITLES: dict[str, str | Promise] = {
    "project": gettext_lazy("Project"),
    "owner": gettext_lazy("Owner"),
    "group": gettext_lazy("Group"),
    "ranks": gettext_lazy("Ranks"),
    "nodes": gettext_lazy("Nodes"),
    "steps": gettext_lazy("Steps"),
    "pace": gettext_lazy("Steps per second"),
    "loss": gettext_lazy("Loss"),
    "health": gettext_lazy("Health"),
    "attempts": gettext_lazy("Attempts"),
    "duration": gettext_lazy("Duration"),
    "created": gettext_lazy("Created"),
}
_TEXTS = ("name", "status", "project", "owner", "group", "health")  # to the left, and sorted upwards first
_NARROW = {"project": "hide-t", "owner": "hide-m", "duration": "hide-t"}  # go first when the window is narrow


@dataclass(frozen=True, slots=True)
class Column:
    """One column. `kind`: a word of TITLES, `metric` or `config`."""

    word: str
    kind: str
    title: str | Promise
    asked: Numbered | None = None

    @property
    def is_text(self) -> bool:
        return self.kind in _TEXTS

    @property
    def css(self) -> str:
        return " ".join(filter(None, ("" if self.is_text or self.kind == "ranks" else "num", _NARROW.get(self.kind))))

    @property
    def sortable(self) -> bool:
        return self.kind != "health"


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a metric's or a setting's column. `mark`: low or high, the most extreme of the page."""

    column: Column
    value: Any = None
    mark: str = ""


def chosen(text: str) -> list[Column]:
    """The columns that `cols=` of an address names; the standard ones for an empty or senseless text."""
    words = list(dict.fromkeys(unquote(part) for part in text.split(",") if part))[:MOST]
    found = [column for column in map(_column, words) if column is not None]
    return found or [column for column in map(_column, STANDARD) if column is not None]


def written(columns: Sequence[Column]) -> str:
    """The text for `cols=`, empty for the standard ones."""
    words = tuple(column.word for column in columns)
    return "" if words == STANDARD else ",".join(quote(word, safe="") for word in words)


def cells(runs: Sequence[Run], columns: Sequence[Column]) -> dict[int, list[Cell]]:
    """Of each run, by its key; two queries however many columns there are."""
    values = _metrics(runs, columns) | _settings(runs, columns)
    marks = {column.word: _extremes(column, runs, values) for column in columns if column.kind == "metric"}
    return {
        run.pk: [
            Cell(column, values.get((run.pk, column.word)), marks.get(column.word, {}).get(run.pk, ""))
            for column in columns
        ]
        for run in runs
    }


def _column(word: str) -> Column | None:
    if word in TITLES:
        return Column(word, word, TITLES[word])
    asked = numbered(word)
    if asked is None:
        return None
    title = asked.name if asked.place in ("", "last") else asked.word
    return Column(asked.word, asked.kind.value, title, asked)


def _metrics(runs: Sequence[Run], columns: Sequence[Column]) -> dict[tuple[int, str], Any]:
    asked = [column.asked for column in columns if column.asked and column.kind == "metric"]
    if not asked:
        return {}
    names = {one.name for one in asked}
    rows: QuerySet[MetricValue] = MetricValue.objects.filter(run__in=runs, key__kind=Kind.METRIC, key__name__in=names)
    found = list(rows.select_related("key"))
    return {
        (row.run_id, one.word): getattr(row, one.place) for row in found for one in asked if one.name == row.key.name
    }


def _settings(runs: Sequence[Run], columns: Sequence[Column]) -> dict[tuple[int, str], Any]:
    asked = {column.asked.name: column.word for column in columns if column.asked and column.kind == "config"}
    if not asked:
        return {}
    rows = ConfigValue.objects.filter(run__in=runs, key__kind=Kind.CONFIG, key__name__in=asked).select_related("key")
    return {(row.run_id, asked[row.key.name]): row.text for row in rows}


def _extremes(column: Column, runs: Sequence[Run], values: dict[tuple[int, str], Any]) -> dict[int, str]:
    """The runs with the lowest and the highest value, if there is something to tell apart."""
    known = {run.pk: values[run.pk, column.word] for run in runs if values.get((run.pk, column.word)) is not None}
    if len(set(known.values())) < 2:
        return {}
    return {min(known, key=lambda pk: known[pk]): "low", max(known, key=lambda pk: known[pk]): "high"}
