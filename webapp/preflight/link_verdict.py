"""Which links are bad, and whether it is one link or a node's whole connection: pure.

A link is held against what the links of these nodes carry, and against its own past. The first is the middle over the
nodes of each one's best link, which one bad node or one bad link does not move.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median_high, median_low

from webapp.preflight.answers import Link
from webapp.preflight.finding import AMBER, GREEN, RED, Finding

SLOW, VERY_SLOW = 0.5, 0.25  # of what the others carry, or of what it carried before
AS_EVER = 0.7  # of its own past: the network is made like this
LATE, VERY_LATE = 4.0, 12.0  # times the others' round trip
LATE_BY, VERY_LATE_BY = 1.0, 5.0  # and milliseconds more; less is noise
_CUT_OFF = ("refused", "unreachable", "silent", "broken")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Expected:
    """Of the links of these nodes; None where nothing was measured."""

    mb_s: float | None
    rtt_ms: float | None


@dataclass(frozen=True, slots=True)
class Cell:
    """How one direction of a link is. `why`: slow, slower, late, cut, meeting, data; empty: in line or not measured."""

    level: str
    why: str
    link: Link
    expected: float | None = None  # what `link` is held against: MB/s or ms


def reference(links: Mapping[Place, Link]) -> Expected:
    """What is usual among these links."""
    best: dict[int, float] = {}
    quickest: dict[int, float] = {}
    for pair, link in links.items():
        for place in pair:
            if link.mb_s is not None:
                best[place] = max(best.get(place, 0.0), link.mb_s)
            if link.rtt_ms is not None:
                quickest[place] = min(quickest.get(place, link.rtt_ms), link.rtt_ms)
    rates, trips = list(best.values()), list(quickest.values())
    return Expected(median_high(rates) if rates else None, median_low(trips) if trips else None)


def links_found(
    names: Sequence[str], busy: Sequence[bool], links: Mapping[Place, Link]
) -> tuple[dict[Place, Cell], list[Finding]]:
    """Every link's cell, and a finding for each bad link or for the node that explains several."""
    expected = reference(links)
    cells = {pair: _cell(link, expected, busy[pair[0]] or busy[pair[1]]) for pair, link in links.items()}
    bad = {pair: cell for pair, cell in cells.items() if cell.level != GREEN}
    found: list[Finding] = []
    own = Counter(side for pair in cells for side in _sides(pair))
    while (whole := _worst_node(own, bad)) is not None:
        found.append(_of_node(names, whole, bad))
    found += _of_links(names, bad)
    return cells, found


def suspects(cells: Mapping[Place, Cell]) -> list[Place]:
    """Pairs (lower place first) that are worth a second measurement, the worst first."""
    order = {RED: 0, AMBER: 1}
    doubtful = {
        (min(pair), max(pair)): order.get(cell.level, 2)
        for pair, cell in sorted(cells.items(), key=lambda item: order.get(item[1].level, 2), reverse=True)
        if cell.level != GREEN or cell.link.error == "late" or cell.link.mb_s is None
    }
    return sorted(doubtful, key=lambda pair: (doubtful[pair], pair))


def _cell(link: Link, expected: Expected, busy: bool) -> Cell:
    if link.error in _CUT_OFF:
        open_for_talk = link.rtt_ms is not None and not link.meeting
        return Cell(RED, "data" if open_for_talk else "cut", link)
    if link.meeting in _CUT_OFF:
        return Cell(RED, "meeting", link)
    level, why, against = _worse(_rate(link, expected.mb_s), _trip(link, expected.rtt_ms))
    return Cell(AMBER if busy and level == RED else level, why, link, against)


_Judged = tuple[str, str, float | None]


def _rate(link: Link, expected: float | None) -> _Judged:
    rate, usual = link.mb_s, link.usual_mb_s
    if rate is None:
        return GREEN, "", None
    against_past = (_below(rate, usual), "slower", usual)
    if expected is None:
        return against_past if against_past[0] != GREEN else (GREEN, "", None)
    level = _below(rate, expected)
    if level == RED and usual is not None and rate >= AS_EVER * usual:
        level = AMBER
    return _worse((level, "slow", expected), against_past)


def _below(rate: float, expected: float | None) -> str:
    if not expected:
        return GREEN
    return RED if rate < VERY_SLOW * expected else AMBER if rate < SLOW * expected else GREEN


def _trip(link: Link, expected: float | None) -> _Judged:
    trip = link.rtt_ms
    known = [usual for usual in (expected, link.usual_rtt_ms) if usual is not None]
    if trip is None or not known:
        return GREEN, "", None
    usual = max(known) if link.usual_rtt_ms is not None else known[0]
    if trip > VERY_LATE * usual and trip > usual + VERY_LATE_BY:
        return RED, "late", usual
    return (AMBER, "late", usual) if trip > LATE * usual and trip > usual + LATE_BY else (GREEN, "", None)


def _worse(one: _Judged, other: _Judged) -> _Judged:
    order = (GREEN, AMBER, RED)
    found = other if order.index(other[0]) > order.index(one[0]) else one
    return found if found[0] != GREEN else (GREEN, "", None)


@dataclass(frozen=True, slots=True)
class _Whole:
    """A node most of whose links in one direction are bad."""

    place: int
    direction: str  # out | in
    explained: list[Place]


def _sides(pair: Place) -> tuple[tuple[int, str], tuple[int, str]]:
    return (pair[0], "out"), (pair[1], "in")


def _worst_node(own: Mapping[tuple[int, str], int], bad: Mapping[Place, Cell]) -> _Whole | None:
    """The node that explains most bad links: at least two, and more than half of its `own` in that direction."""
    explained: dict[tuple[int, str], list[Place]] = defaultdict(list)
    for pair in bad:
        for side in _sides(pair):
            explained[side].append(pair)
    enough = [side for side, pairs in explained.items() if len(pairs) >= 2 and 2 * len(pairs) > own[side]]
    worst = min(enough, key=lambda side: (-len(explained[side]), side[0], side[1] == "in"), default=None)
    return None if worst is None else _Whole(*worst, explained[worst])


def _of_node(names: Sequence[str], whole: _Whole, bad: dict[Place, Cell]) -> Finding:
    """One finding for all of them; a way back that is bad too needs no second one. Takes them out of `bad`."""
    cells = [bad.pop(pair) for pair in whole.explained]
    back = [bad.pop(pair[::-1], None) for pair in whole.explained]
    level = RED if any(cell.level == RED for cell in cells) else AMBER
    whys = [cell.why for cell in cells]
    why = max(sorted(set(whys)), key=whys.count)
    told: dict[str, object] = {
        "direction": "both" if all(back) else whole.direction,
        "links": len(cells),
        **_middle([cell for cell in cells if cell.why == why], why),
    }
    return Finding(level, f"node_{why}", (names[whole.place],), told)


def _middle(cells: Sequence[Cell], why: str) -> dict[str, float]:
    values = [cell.link.rtt_ms if why == "late" else cell.link.mb_s for cell in cells]
    known = [value for value in values if value is not None]
    against = [cell.expected for cell in cells if cell.expected is not None]
    found = {"value": median_high(known)} if known and why in ("slow", "slower", "late") else {}
    return found | ({"expected": median_high(against)} if found and against else {})


def _of_links(names: Sequence[str], bad: Mapping[Place, Cell]) -> list[Finding]:
    """One sentence a link; round trips and closed ports are the same both ways."""
    found: list[Finding] = []
    told: set[tuple[int, int, str]] = set()
    for (source, target), cell in sorted(bad.items(), key=lambda item: (item[1].level != RED, item[0])):
        if cell.why in ("late", "cut", "data", "meeting") and (target, source, cell.why) in told:
            continue
        told.add((source, target, cell.why))
        nodes = (names[source], names[target])
        found.append(
            Finding(cell.level, f"link_{cell.why}", nodes, {"error": cell.link.error, **_middle([cell], cell.why)})
        )
    return found
