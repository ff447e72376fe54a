"""The ledger in words: the sentence that says it first, rows by node, reasons of gaps, and where slot time went."""

from itertools import pairwise
from typing import Any

import pytest

from webapp.runs import hours_words, ledger_words
from webapp.telemetry import hole_words


def account(made: int = 1000, gaps: tuple[tuple[int, int, str], ...] = (), dropped: int = 0) -> dict[str, Any]:
    missing = sum(last - first + 1 for first, last, _reason in gaps)
    return {"made": made, "sent": made - dropped, "stored": made - missing, "dropped": dropped, "gaps": list(gaps)}


def said(parts: list[tuple[str, str]]) -> str:
    return "".join(text for text, _tone in parts).replace("\N{NO-BREAK SPACE}", " ")


def ledger(n: int, **odd: dict[str, Any]) -> dict[str, Any]:
    """`n` ranks without a fault, but for those that are given as r5=account(…)."""
    return {str(rank): odd.get(f"r{rank}", account()) for rank in range(n)}


FULL = ((120, 131, "disk_full"),)


@pytest.mark.parametrize(
    ("ranks", "sentence"),
    [
        ({}, ""),
        (ledger(2, r0=account(0), r1=account(0)), ""),
        (ledger(1), "Every step that the rank made is stored: 1,000 of 1,000."),
        (ledger(4), "Every step that 4 ranks made is stored: 4,000 of 4,000."),
        (
            ledger(4, r1=account(1000, ((990, 999, "pending"),))),
            "3,990 of 4,000 steps are stored; 10 are on the way.",
        ),
        (ledger(4, r1=account(1000, FULL, 12)), "Rank 1 lacks steps: 3,988 of 4,000 are stored."),
        (
            ledger(4, r1=account(1000, FULL, 12), r3=account(1000, FULL, 12)),
            "2 of 4 ranks lack steps: 3,976 of 4,000 are stored.",
        ),
        (
            ledger(2, r0=account(1000, FULL, 12), r1=account(1000, FULL, 12)),
            "Both ranks lack steps: 1,976 of 2,000 are stored.",
        ),
        (ledger(1, r0=account(1000, FULL, 12)), "The rank lacks steps: 988 of 1,000 are stored."),
    ],
)
def test_one_sentence_says_whether_all_is_stored(ranks: dict[str, Any], sentence: str) -> None:
    assert said(ledger_words.sentence(ranks)) == sentence


def test_only_what_never_comes_has_colour() -> None:
    assert {tone for _text, tone in ledger_words.sentence(ledger(2, r0=account(9, ((8, 8, "pending"),))))} == {""}
    assert ledger_words.sentence(ledger(2, r0=account(9, ((8, 8, "unknown"),))))[0][1] == "warn"


def test_few_ranks_are_all_listed_under_their_nodes() -> None:
    found = ledger_words.groups(ledger(4), {0: "gpu-a", 1: "gpu-a", 2: "gpu-b", 3: "gpu-b"})
    assert [(group.node, [row.ranks for row in group.rows]) for group in found] == [
        ("gpu-a", ["0", "1"]),
        ("gpu-b", ["2", "3"]),
    ]


@pytest.mark.parametrize("n", [64, 1000])
def test_of_many_ranks_only_those_that_lack_steps_are_listed(n: int) -> None:
    odd = {"r8": account(1000, FULL, 12), "r9": account(1000, FULL, 12), "r21": account(1000, ((3, 3, "unknown"),))}
    found = ledger_words.groups(ledger(n, **odd), {rank: f"gpu-{rank // 8}" for rank in range(n)})
    assert [(group.node, [row.ranks for row in group.rows]) for group in found[:-1]] == [
        ("gpu-1", ["8–9"]),
        ("gpu-2", ["21"]),
    ]
    [rest] = found[-1].rows
    assert (rest.count, rest.stored, rest.lacks, rest.gaps) == (n - 3, 1000 * (n - 3), False, [])


def test_a_thousand_ranks_with_a_fault_of_their_own_do_not_make_the_page_endless() -> None:
    odd = {f"r{rank}": account(1000 + rank, FULL, 12) for rank in range(1000)}
    found = ledger_words.groups(ledger(1000, **odd), {})
    assert sum(len(group.rows) for group in found) <= ledger_words.MOST_ROWS + 1
    assert sum(row.count for group in found for row in group.rows) == 1000


def test_a_gap_is_a_sentence_with_its_reason_and_many_are_cut_short() -> None:
    assert ledger_words.gap_text(1200, 1310, "disk_full") == "Steps 1,200 to 1,310: the node's disk was full."
    assert ledger_words.gap_text(7, 7, "unknown") == "Step 7: never came, and nobody said why."
    gaps = tuple((step, step, "unknown") for step in range(0, 20, 2))
    [group] = ledger_words.groups({"0": account(1000, gaps)}, {})
    assert (len(group.rows[0].gaps), group.rows[0].more) == (3, 7)


def test_every_reason_has_words_on_the_charts_and_in_the_ledger() -> None:
    assert set(hole_words.WHY) == set(ledger_words.WHY)


HOURS = {"slots": 4, "wall_s": 1000, "queued": 100, "starting": 400, "useful": 2800, "repeated": 0, "waiting": 640}
HOURS |= {"stalled": 20, "idle": 40}


def test_the_parts_of_the_bar_join_and_make_up_the_whole() -> None:
    parts = hours_words.pieces(HOURS)
    assert [part.key for part in parts] == list(hours_words.PARTS)
    assert sum(part.share for part in parts) == pytest.approx(100, abs=0.01)
    for before, after in pairwise(parts):
        assert after.start == pytest.approx(before.start + before.share, abs=0.01)
    assert parts[5].share_text == "< 1\N{NO-BREAK SPACE}%"


def test_the_finding_tells_what_counted_and_the_largest_loss() -> None:
    assert said(hours_words.sentence(HOURS)) == (
        "70 % of the slot time went into useful steps; 16 % into waiting for stragglers."
    )
    assert said(hours_words.sentence({"useful": 99.5, "idle": 0.5})) == (
        "> 99 % of the slot time went into useful steps."
    )
    assert hours_words.sentence({}) == []
