"""The picture of many nodes' links: what deviates, what was not measured, and many nodes that share a row."""

from collections.abc import Set
from typing import Any

from webapp.preflight.answers import Link
from webapp.preflight.finding import AMBER, GREEN, RED
from webapp.preflight.link_verdict import Cell
from webapp.preflight.picture import MOST_TITLES, picture
from webapp.preflight.schedule import Pair

GOOD = Cell(GREEN, "", Link(mb_s=1_000.0, rtt_ms=0.1))


def drawn(count: int, bad: dict[Pair, str], gone: Set[Pair] = frozenset()) -> dict[str, Any]:
    pairs = {(a, b) for a in range(count) for b in range(count) if a != b} - gone
    cells = {pair: Cell(bad[pair], "slow", GOOD.link) if pair in bad else GOOD for pair in pairs}
    names = [f"gpu-{k}" for k in range(count)]
    return picture(names, cells, sorted(bad, key=lambda p: (bad[p] != RED, p)), lambda p: f"{p[0]} to {p[1]}")


def test_what_deviates_has_a_square_and_what_was_not_measured_is_one_shape() -> None:
    found = drawn(20, {(3, 1): RED, (4, 1): AMBER}, gone={(7, 8), (7, 9), (7, 12)})
    assert found["squares"] == [
        {"x": 1, "y": 3, "tone": "crit", "title": "3 to 1"},
        {"x": 1, "y": 4, "tone": "warn", "title": "4 to 1"},
    ]
    assert found["unknown"] == "M8 7H10v1H8zM12 7H13v1H12z"
    assert found["own"].count("M") == found["n"] == 20


def test_where_nodes_share_a_row_a_square_is_the_worst_of_its_links() -> None:
    found = drawn(300, {(0, 4): AMBER, (1, 5): RED, (299, 0): AMBER})
    assert (found["share"], found["n"]) == (3, 100)
    assert [(s["y"], s["x"], s["tone"], s["title"]) for s in found["squares"]] == [
        (0, 1, "crit", "1 to 5"),
        (99, 0, "warn", "299 to 0"),
    ]
    assert found["unknown"] == found["own"] == ""
    assert [label["name"] for label in found["labels"]] == ["gpu-0", "gpu-299"]


def test_very_many_bad_links_are_shapes_without_words() -> None:
    found = drawn(128, {(a, b): AMBER for a in range(0, 128, 2) for b in range(1, 128, 2)})
    assert len(found["squares"]) == MOST_TITLES
    assert found["more"]["warn"].count("M") == 64 * 64 - MOST_TITLES
