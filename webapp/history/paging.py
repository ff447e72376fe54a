"""One page of runs at a cursor. Cost does not grow with depth, and a run that is added shifts nothing."""

import json
import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from webapp.history.orders import Band, bands
from webapp.runs.models import Run

PAGE_SIZE = 30
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)
_LONGEST_CURSOR = 4_000


@dataclass(frozen=True)
class Page:
    """One page of runs. `newer` and `older` are cursors towards its start and its end, empty where there is nothing."""

    rows: list[Run]
    newer: str
    older: str
    total: int


@dataclass(frozen=True, slots=True)
class _Cursor:
    towards: str  # "newer": before the row; "older": after it
    band: int
    pk: int
    value: Any


def page(
    runs: QuerySet[Run], cursor: str = "", size: int = PAGE_SIZE, order: str = "", total: int | None = None
) -> Page:
    """The page at a cursor; the first page for an empty or unreadable one, or one of another order.

    `total`: how many runs there are, where that is known already.
    """
    ordered = bands(runs, order) if order else bands(runs)
    found = _read(cursor, ordered)
    back = found is not None and found.towards == "newer"
    taken = _take(ordered, found, size + 1, back=back)
    more, taken = len(taken) > size, taken[:size]
    if back:
        taken.reverse()
    before, after = (more, True) if back else (found is not None, more)
    return Page(
        [run for _band, run in taken],
        _written("newer", *taken[0], ordered) if taken and before else "",
        _written("older", *taken[-1], ordered) if taken and after else "",
        runs.count() if total is None else total,
    )


def _take(ordered: list[Band], start: _Cursor | None, size: int, *, back: bool) -> list[tuple[int, Run]]:
    taken: list[tuple[int, Run]] = []
    numbers = range(len(ordered))
    for number in reversed(numbers) if back else numbers:
        if start is not None and (number > start.band if back else number < start.band):
            continue
        band = ordered[number]
        down = band.down != back
        sign = "-" if down else ""
        rows = band.runs.order_by(f"{sign}{band.place}", f"{sign}pk")
        if start is not None and number == start.band:
            rows = rows.filter(_beyond(band.place, start, "lt" if down else "gt"))
        taken += [(number, run) for run in _whole(band, rows, size - len(taken))]
        if len(taken) == size:
            break
    return taken


def _whole(band: Band, rows: QuerySet[Run], size: int) -> list[Run]:
    """The first rows. Their keys come first: a database that sorts all runs would carry each of them whole."""
    keys = list(rows.values_list("pk", flat=True)[:size])
    found = {run.pk: run for run in band.runs.filter(pk__in=keys).select_related("project", "owner")}
    return [found[pk] for pk in keys if pk in found]


def _beyond(place: str, start: _Cursor, way: str) -> Q:
    # The first condition repeats what the second says, in a form that an index can start from.
    same = Q(**{place: start.value, f"pk__{way}": start.pk})
    return Q(**{f"{place}__{way}e": start.value}) & (Q(**{f"{place}__{way}": start.value}) | same)


def _written(towards: str, number: int, run: Run, ordered: list[Band]) -> str:
    value: Any = run
    for part in ordered[number].place.split("__"):
        value = value[part] if isinstance(value, dict) else getattr(value, part)
    kind, plain = "", value
    if isinstance(value, datetime):
        kind, plain = "t", (value - _EPOCH) // _MICRO
    return f"{towards}.{number}.{run.pk}.{kind}{json.dumps(plain, ensure_ascii=False)}"


def _read(cursor: str, ordered: list[Band]) -> _Cursor | None:
    towards, number, pk, value = (cursor.split(".", 3) + [""] * 3)[:4]
    fits = towards in ("newer", "older") and number.isdecimal() and pk.isdecimal() and len(pk) <= 18
    if not fits or len(cursor) > _LONGEST_CURSOR or len(number) > 1 or int(number) >= len(ordered):
        return None
    band = ordered[int(number)]
    try:
        found = _Cursor(towards, int(number), int(pk), _value(value, band.place))
        band.runs.filter(**{band.place: found.value})  # refuses what the place cannot hold; nothing is read
        return found
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None


def _value(text: str, place: str) -> Any:
    kind = text[:1]
    value = json.loads(text[1:] if kind == "t" else text)
    if (kind == "t") != (place == "created_at") or not isinstance(value, int | float | str):
        raise ValueError(text)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(text)
    if isinstance(value, int) and abs(value) >= 1 << 63:
        raise ValueError(text)
    return _EPOCH + timedelta(microseconds=int(value)) if kind == "t" else value
