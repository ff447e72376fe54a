"""A row's loss as a small SVG path. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

WIDTH, HEIGHT, EDGE = 70.0, 20.0, 2.0


@dataclass(frozen=True)
class Spark:
    """`path` for viewBox "0 0 72 20", and where its last point is."""

    path: str
    x: float
    y: float


def spark(values: Sequence[float | None]) -> Spark | None:
    """Scale values to the box; a null breaks the line. None when there are fewer than two values."""
    seen = [value for value in values if value is not None]
    if len(seen) < 2:
        return None
    low, high = min(seen), max(seen)
    span = (high / 2 - low / 2) or 1.0  # halves: the whole of two very large numbers would be infinite
    step = WIDTH / (len(values) - 1)
    points = [
        None if v is None else (round(i * step, 1), round(EDGE + (HEIGHT - 2 * EDGE) * ((high / 2 - v / 2) / span), 1))
        for i, v in enumerate(values)
    ]
    lines = [list(group) for there, group in groupby(points, key=lambda point: point is not None) if there]
    path = "".join("M" + "L".join(f"{x} {y}" for x, y in (p for p in line if p)) for line in lines)
    last = next(point for point in reversed(points) if point)
    return Spark(path, *last)
