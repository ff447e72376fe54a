"""Numbers below each other: every one of a column with as many digits after its point. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10
from typing import Any

from webapp.language.numerals import numeral

_MOST = 8  # digits after the point; where more would be needed, all are written by magnitude
_MOST_BY_MAGNITUDE = 4
_LARGEST, _SMALLEST = 6, 3  # significant digits of the largest and the smallest number


@dataclass(frozen=True, slots=True)
class Column:
    """What its cells show, an empty text for None."""

    name: str
    texts: list[str]
    numeric: bool


def column(name: str, values: Sequence[Any]) -> Column:
    """Numbers in the reader's language and with as many digits; anything else as it is."""
    known = [value for value in values if value is not None]
    if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in known):
        return Column(name, ["" if value is None else str(value) for value in values], numeric=False)
    spec = _spec([value for value in known if isfinite(value)])
    texts = ["" if value is None else numeral(value, spec if isfinite(value) else "") for value in values]
    return Column(name, texts, numeric=True)


def _spec(values: Sequence[float]) -> str:
    texts = [f"{value:.6g}" for value in values]
    if any("e" in text for text in texts):
        needed = max(_decimals(f"{value:.5e}".partition("e")[0].rstrip("0")) for value in values)
        return f".{min(needed, _MOST_BY_MAGNITUDE)}e"
    magnitudes = [floor(log10(abs(value))) for value in values if value] or [0]
    told = max(_LARGEST - 1 - max(magnitudes), _SMALLEST - 1 - min(magnitudes), 0)
    return f".{min(told, _MOST, max(map(_decimals, texts), default=0))}f"


def _decimals(text: str) -> int:
    return len(text.partition(".")[2])
