import numpy as np

from webapp.telemetry.blocks import empty
from webapp.telemetry.merge import Layout, cut, put
from workers.ingest.rolling import Cells, Rolling

REACH = 40


def turns(random: np.random.Generator) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Ranks that go on at their own pace, say some steps twice, and come late, some of them for the first time."""
    found = []
    for k in range(60):
        ranks = random.choice(9 if k > 30 else 6, random.integers(1, 6), replace=False)
        first = 3 * k + int(random.integers(-6, 3))
        index = np.repeat(np.arange(first, first + int(random.integers(1, 8))), ranks.size)
        found.append((np.resize(ranks, index.size), index, random.normal(size=index.size)))
    return found


def test_the_window_written_in_place_is_the_one_that_is_put_together_anew():
    random = np.random.default_rng(3)
    anew = empty()
    rolling = None
    for rank, index, value in turns(random):
        anew = put(anew, rank, index, value)
        anew = cut(anew, int(anew.index[-1]) - REACH, None)
        layout = Layout(rank, index)
        if rolling is None:
            rolling = Rolling(layout.block(value), REACH)
        else:
            rolling.put(layout, value, {})
        for column in ("index", "columns", "values", "present"):
            np.testing.assert_array_equal(getattr(rolling.block, column), getattr(anew, column))


def test_metrics_of_the_same_records_find_their_places_once():
    rank, index = np.tile(np.arange(3), 4), np.repeat(np.arange(4), 3)
    layout, cells = Layout(rank, index), Cells()
    windows = [Rolling(Layout(rank, index - 4).block(np.zeros(12)), REACH) for _metric in range(3)]
    for k, window in enumerate(windows):
        window.put(layout, np.arange(12.0) + k, cells)
    assert len(cells) == 1
    assert [window.block.values[-1].tolist() for window in windows] == [[9 + k, 10 + k, 11 + k] for k in range(3)]
