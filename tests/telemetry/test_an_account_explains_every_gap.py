"""What a rank's node told and what is stored, as one account: every step that is missing has one reason."""

from hypothesis import given
from hypothesis import strategies as st

from webapp.telemetry.ledger import Account, Told, account
from webapp.telemetry.presence import Stored

NOTHING = Stored(0, -1, [])


def test_what_was_sent_and_what_the_node_still_has_are_told_apart() -> None:
    told = Told(made=50, sent=45, behind="pending")
    assert account(told, Stored(40, 39, [])) == Account(50, 45, 40, 0, [(40, 49, "pending")], 39)


def test_the_nodes_words_come_before_ours() -> None:
    told = Told(made=100, dropped=30, gaps=((10, 29, "overwritten"), (60, 69, "disk_full")), behind="node_lost")
    stored = Stored(55, 79, [(10, 29), (40, 44)])
    assert account(told, stored).gaps == [
        (10, 29, "overwritten"),
        (40, 44, "unknown"),
        (80, 99, "node_lost"),
    ]


def test_a_gap_that_was_told_in_part_is_cut() -> None:
    told = Told(gaps=((12, 14, "spool_full"),), dropped=3, between="parked")
    assert account(told, Stored(15, 19, [(10, 14)])).gaps == [(10, 11, "parked"), (12, 14, "spool_full")]


def test_a_rank_of_which_nothing_came_has_all_its_steps_behind() -> None:
    assert account(Told(made=7, behind="pending"), NOTHING) == Account(7, 7, 0, 0, [(0, 6, "pending")], -1)
    assert account(Told(), NOTHING) == Account(0, 0, 0, 0, [], -1)


@given(
    st.sets(st.integers(0, 60)),
    st.none() | st.integers(0, 90),
    st.lists(st.tuples(st.integers(0, 70), st.integers(0, 9)), max_size=4),
)
def test_made_is_stored_and_gaps_together(there: set[int], made: int | None, drops: list[tuple[int, int]]) -> None:
    last = max(there, default=-1)
    missing = [(step, step) for step in range(last) if step not in there]
    gaps = tuple((first, first + more, "overwritten") for first, more in drops)
    found = account(Told(made=made, gaps=gaps), Stored(len(there), last, missing))
    gone = [step for first, end, _reason in found.gaps for step in range(first, end + 1)]
    assert len(gone) == len(set(gone))
    assert not set(gone) & there
    assert found.made == found.stored + len(gone)
