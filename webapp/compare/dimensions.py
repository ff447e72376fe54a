"""What parallel coordinates and the scatter plot can show: settings that differ, and metrics. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from webapp.compare.difference import Difference

MOST_SETTINGS, MOST_WORDS = 24, 12  # settings; different texts of one that is no number


def of_settings(found: Difference) -> list[dict[str, Any]]:
    """`{word, title, values: [number, text or null of each run]}` of settings that differ; numbers first."""
    rows = [
        {"word": f"config.{r.name}", "title": r.name, "values": [_value(c.text) for c in r.cells]}
        for r in found.different
    ]
    fit = [row for row in rows if _is_number(row) or len(set(row["values"]) - {None}) <= MOST_WORDS]
    return sorted(fit, key=lambda row: not _is_number(row))[:MOST_SETTINGS]


def of_numbers(word: str, title: str, values: Mapping[str, float | None], uids: Sequence[str]) -> dict[str, Any]:
    """A metric, or a count such as ranks, in the same shape."""
    return {"word": word, "title": title, "values": [values.get(uid) for uid in uids]}


def _is_number(row: dict[str, Any]) -> bool:
    return all(isinstance(value, float | None) for value in row["values"])


def _value(text: str) -> float | str | None:
    try:
        number = float(text)
    except ValueError:
        return text or None
    return number if abs(number) < float("inf") else text
