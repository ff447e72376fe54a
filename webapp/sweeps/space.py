"""The space of a sweep: what people type for each argument, as values to choose from. Pure.

`16, 32, 64` is a list, `2..8` whole numbers, `0.1..0.9` numbers, `0.1..0.9 step 0.2` numbers at a distance,
`log 1e-5..1e-1` numbers spread evenly over their orders of magnitude.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

MOST_VALUES = 1_000  # of one argument that is listed or counted
_RANGE = re.compile(r"(?P<log>log\s+)?(?P<low>\S+?)\s*\.\.\s*(?P<high>\S+?)(?:\s+step\s+(?P<step>\S+))?\Z")
_WHOLE = re.compile(r"[+-]?\d+\Z")

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Listed:
    """One of these, as typed."""

    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """Between `low` and `high`, both included. `step`: None for any number between them; `log`: by magnitude."""

    low: float
    high: float
    step: float | None = None
    log: bool = False
    whole: bool = False


Choices = Listed | Numbers


def read(text: str) -> Choices:
    """What was typed. ValueError with a sentence that says what to type instead."""
    text = text.strip()
    found = _RANGE.match(text) if "," not in text else None
    if found is None:
        return _listed(text)
    words = found.groupdict()
    whole = all(_WHOLE.match(word) for word in (words["low"], words["high"], words["step"] or "1"))
    step = _number(words["step"]) if words["step"] else 1.0 if whole and not words["log"] else None
    numbers = Numbers(_number(words["low"]), _number(words["high"]), step, bool(words["log"]), whole)
    _check(numbers)
    return numbers


def grid_values(choices: Choices) -> Sequence[Value]:
    """Every value, for a grid. ValueError when there is no end of them."""
    if isinstance(choices, Listed):
        return choices.values
    if choices.step is None:
        raise ValueError(_("A grid needs values: list them (0.1, 0.3), or give a step (0.1..0.9 step 0.2)."))
    count = last_place(choices) + 1
    if count > MOST_VALUES:
        told = {"count": count, "most": MOST_VALUES}
        raise ValueError(_("This makes %(count)d values; a grid takes at most %(most)d.") % told)
    return [at(choices, place) for place in range(count)]


def grid_size(space: Mapping[str, Choices]) -> int:
    """How many trials the whole grid has. ValueError with a sentence when an argument has no end of values."""
    return math.prod(len(grid_values(choices)) for choices in space.values())


def drawn(choices: Choices, chance: np.random.Generator) -> Value:
    """One value by chance."""
    if isinstance(choices, Listed):
        return choices.values[int(chance.integers(len(choices.values)))]
    if choices.log:
        value = float(np.exp(chance.uniform(np.log(choices.low), np.log(choices.high))))
        return within(choices, value)
    if choices.step is not None:
        return at(choices, int(chance.integers(last_place(choices) + 1)))
    return within(choices, float(chance.uniform(choices.low, choices.high)))


def within(numbers: Numbers, value: float) -> Value:
    """A number of the range with six significant digits: what a person can read and type again."""
    short = round(value) if numbers.whole else float(f"{value:.6g}")
    return type(short)(min(max(short, numbers.low), numbers.high))


def at(numbers: Numbers, place: int) -> Value:
    """The value at a place of a range that has a step, from 0."""
    return within(numbers, numbers.low + (numbers.step or 1.0) * place)


def place_of(numbers: Numbers, value: float) -> int:
    """The place of a value in a range that has a step."""
    return min(max(round((value - numbers.low) / (numbers.step or 1.0)), 0), last_place(numbers))


def last_place(numbers: Numbers) -> int:
    """The highest place that the step reaches within the range."""
    return int((numbers.high - numbers.low) / (numbers.step or 1.0) + 1e-9)


def as_arguments(argv: Sequence[str], chosen: dict[str, Any]) -> list[str]:
    """The command with these arguments: `--lr` gets its value behind it, a name without dashes becomes `name=value`.

    An argument that the command has already is replaced where it stands.
    """
    found = list(argv)
    for name, value in chosen.items():
        _set(found, name, str(value))
    return found


def _set(argv: list[str], name: str, value: str) -> None:
    for place, word in enumerate(argv[1:], start=1):
        if word.startswith(f"{name}="):
            argv[place] = f"{name}={value}"
            return
        if word == name and name.startswith("-"):
            argv[place + 1 : place + 2] = [value]
            return
    argv.extend([name, value] if name.startswith("-") else [f"{name}={value}"])


def _listed(text: str) -> Listed:
    values = tuple(dict.fromkeys(word.strip() for word in text.split(",") if word.strip()))
    if not values:
        raise ValueError(_("Type values (16, 32, 64) or a range (2..8, log 1e-5..1e-1)."))
    if len(values) > MOST_VALUES:
        raise ValueError(_("At most %(most)d values for one argument.") % {"most": MOST_VALUES})
    return Listed(values)


def _check(numbers: Numbers) -> None:
    if not numbers.low < numbers.high:
        raise ValueError(_("The first number of a range must be smaller than the second."))
    if numbers.log and numbers.low <= 0:
        raise ValueError(_("A range by magnitude (log) must begin above 0."))
    if (
        numbers.step is not None
        and not numbers.log
        and not 0 < numbers.step <= (numbers.high - numbers.low) * (1 + 1e-9)
    ):
        raise ValueError(_("The step must be above 0 and fit into the range."))
    if numbers.step is not None and numbers.log:
        raise ValueError(_("A range by magnitude (log) has no step: list the values instead."))


def _number(word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        raise ValueError(_("“%(word)s” is not a number.") % {"word": word}) from None
    if not np.isfinite(value):
        raise ValueError(_("“%(word)s” is not a number.") % {"word": word})
    return value
