"""Who measures whom when."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from webapp.preflight.schedule import everybody, of_place, some

PLACES = st.lists(st.integers(0, 60), unique=True, max_size=20)


def nobody_is_in_two_pairs(turns) -> bool:
    return all(len({place for pair in turn for place in pair}) == 2 * len(turn) for turn in turns)


@given(PLACES)
def test_everybody_meets_everybody_once_and_nobody_two_at_a_time(places):
    turns = everybody(places)
    assert sorted(pair for turn in turns for pair in turn) == sorted(combinations(sorted(places), 2))
    assert nobody_is_in_two_pairs(turns)
    assert len(turns) <= max(0, len(places) - 1 + len(places) % 2)


@given(PLACES, st.integers(1, 5))
def test_of_too_many_turns_some_are_made_and_all_nodes_are_in_them(places, most):
    turns = everybody(places, most)
    assert len(turns) <= most
    assert nobody_is_in_two_pairs(turns)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(10, 19)), unique=True), st.integers(1, 6))
def test_chosen_pairs_share_turns_as_far_as_nobody_is_in_two(pairs, most):
    turns = some(pairs, most)
    assert len(turns) <= most
    assert nobody_is_in_two_pairs(turns)
    assert {pair for turn in turns for pair in turn} <= set(pairs)


@given(PLACES)
def test_both_of_a_pair_are_told_the_same_turn(places):
    turns = everybody(places)
    own = {place: of_place(turns, place) for place in places}
    for place, others in own.items():
        assert all(other < 0 or own[other][turn] == place for turn, other in enumerate(others))
