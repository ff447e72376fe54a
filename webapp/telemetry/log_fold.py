"""Equal lines of many ranks into one entry. Lines of one rank are never folded together. Pure."""

import re
from dataclasses import dataclass, field
from typing import Any

WITHIN_S = 3.0  # lines further apart are not the same happening
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_ERROR = re.compile(r"\b(?:error|exception|traceback|fatal|critical|panic)\b|\b\w*(?:Error|Exception)\b", re.IGNORECASE)
_WARN = re.compile(r"\bwarn(?:ing)?\b|\b\w*Warning\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of one rank. `at`: epoch seconds; `chunk`: id of the chunk in which it ends."""

    rank: int
    at: float
    text: str
    chunk: int
    kind: str = ""  # `skipped`: ours, for what a node left out


@dataclass(slots=True)
class Entry:
    """One line on the page: the first rank's text, and all ranks' lines when they are several."""

    place: int
    lines: list[Line] = field(default_factory=list)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        ordered = sorted(self.lines, key=lambda line: (line.rank < 0, abs(line.rank)))
        first = ordered[0]
        return {
            "at": self.lines[0].at,
            "ranks": [line.rank for line in ordered],
            "text": first.text,
            "level": "" if first.kind else level(first.text),
            "kind": first.kind,
            "count": len(ordered),
            "lines": [[line.rank, line.text] for line in ordered] if len(ordered) > 1 else [],
        }


def fold(lines: list[Line]) -> list[Entry]:
    """Entries in which every rank's lines keep their order. Two ranks' lines are equal but for numbers."""
    entries: list[Entry] = []
    open_: dict[str, list[Entry]] = {}
    last: dict[int, int] = {}  # rank to the place of its newest line: the next one stands below it
    for line in lines:
        same = open_.setdefault(_NUMBER.sub("#", line.text), [])
        entry = _first_below(last.get(line.rank, -1), same, line)
        if entry is None:
            entry = Entry(len(entries))
            same.append(entry)
            entries.append(entry)
        entry.lines.append(line)
        last[line.rank] = entry.place
    return entries


def _first_below(place: int, entries: list[Entry], line: Line) -> Entry | None:
    """The oldest entry below a place; one with the very same text is better than a similar one."""
    while entries and line.at - entries[0].lines[0].at > WITHIN_S:
        entries.pop(0)
    lacking = [entry for entry in entries if entry.place > place]
    exact = (entry for entry in lacking if entry.lines[0].text == line.text)
    return next(exact, lacking[0] if lacking else None)


def level(text: str) -> str:
    """`err`, `warn` or "" by the words of a line."""
    if _ERROR.search(text):
        return "err"
    return "warn" if _WARN.search(text) else ""
