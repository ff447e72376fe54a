"""The pure decision: who goes where, who waits and why."""

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import spec
from webapp.runs.placement import Offer, Wish, choose, fits_anywhere

offers = st.lists(
    st.builds(lambda free, more: (free, len(free) + more), st.sets(st.integers(0, 7)), st.integers(0, 3)), max_size=6
).map(lambda found: [Offer(k, tuple(sorted(free)), total) for k, (free, total) in enumerate(found)])
wishes = st.lists(
    st.tuples(st.integers(1, 4), st.integers(1, 4), st.sets(st.integers(0, 5), max_size=2)), max_size=12
).map(lambda found: [Wish(k, nodes, ranks, frozenset(avoid)) for k, (nodes, ranks, avoid) in enumerate(found)])


@given(wishes, offers)
def test_no_slot_is_given_twice_and_each_wish_gets_all_or_nothing(queue, nodes):
    placements, waits = choose(queue, nodes)
    taken = [(node, index) for p in placements for node, indexes in p.parts for index in indexes]
    assert len(taken) == len(set(taken))
    assert set(taken) <= {(offer.node, index) for offer in nodes for index in offer.free}
    assert {p.attempt for p in placements} | {w.attempt for w in waits} == {wish.attempt for wish in queue}
    for placement in placements:
        wish = queue[placement.attempt]
        assert [len(indexes) for _node, indexes in placement.parts] == [wish.ranks_per_node] * wish.nodes
        assert len({node for node, _indexes in placement.parts}) == wish.nodes
        assert not wish.avoid & {node for node, _indexes in placement.parts}


@given(wishes, offers)
def test_nobody_overtakes_one_that_waits_for_slots(queue, nodes):
    placements, waits = choose(queue, nodes)
    blocked = [wait.attempt for wait in waits if wait.reason in ("slots", "behind")]
    if blocked:
        assert all(placement.attempt < min(blocked) for placement in placements)
        assert [wait.ahead for wait in waits if wait.reason == "behind"] == sorted(
            wait.ahead for wait in waits if wait.reason == "behind"
        )


@given(wishes, offers)
def test_the_same_question_gets_the_same_answer(queue, nodes):
    assert choose(queue, nodes) == choose(queue, list(reversed(nodes)))


def test_the_node_that_is_filled_best_is_taken():
    placements, _waits = choose([Wish(1, 1, 2)], [Offer(1, (0, 1, 2, 3), 4), Offer(2, (1, 3), 4), Offer(3, (0,), 4)])
    assert placements[0].parts == ((2, (1, 3)),)


def test_one_that_could_not_fit_even_on_free_nodes_holds_nobody_back():
    placements, waits = choose([Wish(1, 3, 4), Wish(2, 1, 2)], [Offer(1, (0, 1), 2)])
    assert [p.attempt for p in placements] == [2]
    assert [(w.attempt, w.reason) for w in waits] == [(1, "too_large")]


def test_each_that_waits_is_told_what_for():
    nodes = [Offer(1, (0,), 2), Offer(2, (0, 1), 2)]
    _placements, waits = choose([Wish(1, 2, 2), Wish(2, 1, 1), Wish(3, 1, 1)], nodes)
    assert [(w.reason, w.slots, w.free, w.ahead) for w in waits] == [
        ("slots", 4, 3, 0),
        ("behind", 1, 3, 1),
        ("behind", 1, 3, 2),
    ]
    assert [w.reason for w in choose([Wish(1, 1, 1)], [])[1]] == ["no_node"]


def test_a_run_that_fits_nowhere_is_refused_with_what_would_fit():
    assert fits_anywhere(spec(nodes=2, ranks_per_node=2), [2, 4]) == ""
    assert "4 slots each" in fits_anywhere(spec(nodes=3, ranks_per_node=4), [2, 2, 8])
    assert "is 2 slots each" in fits_anywhere(spec(nodes=3, ranks_per_node=4), [2, 2, 8])
    assert "there are 1" in fits_anywhere(spec(nodes=3, ranks_per_node=4), [8])
    assert "No node has joined" in fits_anywhere(spec(), [])
