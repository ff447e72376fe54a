"""How the settings of runs differ. Pure: names and texts in, rows out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Settings = Mapping[str, str]
MISSING = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one run has. `text` empty: it has no such setting. `odd`: not what most of the runs have."""

    text: str
    odd: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One setting in all runs, in their order."""

    name: str
    cells: list[Cell]


@dataclass(frozen=True, slots=True)
class Difference:
    """`different`: rows in which some run differs; `equal`: name and text of what all runs have alike."""

    different: list[Row]
    equal: list[tuple[str, str]]


def difference(runs: Sequence[Settings]) -> Difference:
    """Every setting of every run is in exactly one of the two lists, by name. A single run differs in nothing."""
    different, equal = [], []
    for name in sorted({name for settings in runs for name in settings}):
        texts = [settings.get(name, MISSING) for settings in runs]
        if len({_value(text) for text in texts}) > 1:
            different.append(Row(name, _cells(texts)))
        else:
            equal.append((name, texts[0]))
    return Difference(different, equal)


def _cells(texts: Sequence[str]) -> list[Cell]:
    """Where no value is the usual one, every cell differs from the first."""
    counts = Counter(_value(text) for text in texts)
    usual, often = counts.most_common(1)[0]
    if often == 1:
        usual = _value(texts[0])
    return [Cell(text, _value(text) != usual) for text in texts]


def _value(text: str) -> str | float:
    """`1e-3` and `0.001` are the same setting."""
    try:
        return float(text)
    except ValueError:
        return text
