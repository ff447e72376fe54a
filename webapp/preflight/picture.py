"""The links of many nodes as a picture: rows send, columns receive, only what deviates has colour. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from webapp.preflight.finding import GREEN
from webapp.preflight.link_verdict import Cell
from webapp.preflight.schedule import Pair
from webapp.preflight.words import TONES

MOST_NAMED = 40  # nodes whose names fit along it; of more only those of bad links
MOST_ROWS = 128  # of more nodes several share one
MOST_TITLES = 200  # squares that say what they are
TEXT_SHARE, MARGIN_SHARE, LONGEST_NAME = 0.018, 0.18, 14  # of the picture's width; letters


def picture(
    names: Sequence[str], cells: Mapping[Pair, Cell], worst: Sequence[Pair], sentence: Callable[[Pair], str]
) -> dict[str, Any]:
    """Squares of one unit; what is in line is the ground and needs none. `worst`: the bad links, the worst first.

    Where nodes share a row, a square is the worst of its links.
    """
    count = len(names)
    share = -(-count // MOST_ROWS)
    side = -(-count // share)
    text = TEXT_SHARE * side
    bad: dict[Pair, Pair] = {}
    for pair in worst:
        bad.setdefault(_square(pair, share), pair)
    titled, more = list(bad)[:MOST_TITLES], list(bad)[MOST_TITLES:]
    tones = {square: TONES[cells[pair].level] for square, pair in bad.items()}
    known = {_square(pair, share) for pair, cell in cells.items() if not _is_unknown(cell)}
    every = {(a, b) for a in range(side) for b in range(side) if a != b or share > 1}
    shown_places = range(count) if count <= MOST_NAMED else sorted({place for pair in worst for place in pair})
    return {
        "margin": MARGIN_SHARE * side,
        "size": (1 + MARGIN_SHARE) * side,
        "n": side,
        "share": share,
        "text": text,
        "own": _path((k, k) for k in range(side)) if share == 1 else "",
        "lines": "".join(f"M{k} 0V{side}M0 {k}H{side}" for k in range(side)) if count <= MOST_NAMED else "",
        "unknown": _path(every - known),
        "squares": [{"x": b, "y": a, "tone": tones[a, b], "title": sentence(bad[a, b])} for a, b in titled],
        "more": {tone: _path(square for square in more if tones[square] == tone) for tone in set(tones.values())},
        "labels": _labels(names, shown_places, share, text),
    }


def _square(pair: Pair, share: int) -> Pair:
    return pair[0] // share, pair[1] // share


def _path(squares: Iterable[Pair]) -> str:
    """Unit squares at (row, column) as one shape, those beside each other as one piece of it."""
    pieces: list[list[int]] = []
    for row, column in sorted(squares):
        if pieces and pieces[-1][0] == row and pieces[-1][2] == column:
            pieces[-1][2] += 1
        else:
            pieces.append([row, column, column + 1])
    return "".join(f"M{first} {row}H{end}v1H{first}z" for row, first, end in pieces)


def _labels(names: Sequence[str], places: Iterable[int], share: int, height: float) -> list[dict[str, Any]]:
    """Names beside their rows, as far as they do not overlap; the table below names all that deviates."""
    found: list[dict[str, Any]] = []
    for place in places:
        at, name = place // share + 0.5, names[place]
        if not found or at - found[-1]["at"] >= height:
            short = name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"
            found.append({"at": at, "name": short})
    return found


def _is_unknown(cell: Cell) -> bool:
    return cell.level == GREEN and cell.link.mb_s is None
