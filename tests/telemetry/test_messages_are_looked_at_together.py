import numpy as np

from tests.telemetry.batches import batch, samples, steps, values
from webapp.telemetry.blocks import empty
from webapp.telemetry.merge import put
from webapp.telemetry.points import STEP, explode, explode_all, joined


def contents() -> list:
    one = batch(1, "n", 1, steps=[steps([0, 1], range(4))], values=[values("loss", 0, {0: 2.0, 1: 1.5})])
    two = batch(1, "n", 2, steps=[steps([0, 1], range(4, 9))], values=[values("loss", 0, {1: 1.0})])
    other = batch(
        1, "m", 1, steps=[steps([2], range(3))], samples=[samples("gpu/util", 2, {5.0: 1.0, 6.0: float("nan")})]
    )
    return [one, two, other]


def test_many_messages_at_once_hold_the_same_points_as_one_by_one():
    alone = joined(points for one in contents() for points in explode(one))
    together = joined(explode_all(contents()))
    assert together.keys() == alone.keys()
    for name, points in together.items():
        assert points.dtype == alone[name].dtype
        for column in ("rank", "index", "value"):
            np.testing.assert_array_equal(getattr(points, column), getattr(alone[name], column))


def test_only_what_is_asked_for_is_taken():
    [found] = explode_all(contents(), frozenset({STEP}))
    assert (found.name, found.index.size) == (STEP, 2 * 4 + 2 * 5 + 3)


def test_a_block_that_is_filled_in_turns_is_the_one_that_is_filled_at_once():
    random = np.random.default_rng(1)
    rank, index = random.integers(0, 7, 400), random.integers(0, 60, 400)
    value = random.normal(size=400)
    at_once = put(empty(), rank, index, value)
    in_turns = empty()
    for some in np.array_split(np.arange(400), 9):
        in_turns = put(in_turns, rank[some], index[some], value[some])
    for column in ("index", "columns", "values", "present"):
        np.testing.assert_array_equal(getattr(at_once, column), getattr(in_turns, column))
    assert at_once.points == len(set(zip(rank.tolist(), index.tolist(), strict=True)))
