import numpy as np
import pytest

from tests import builders
from tests.telemetry.batches import PHASES, samples, steps, tail, values
from webapp.telemetry import read
from webapp.telemetry.models import Metric, Segment, Tail
from webapp.telemetry.store import compact

pytestmark = pytest.mark.django_db


def stored(attempt) -> int:
    return compact(attempt, list(Tail.objects.filter(attempt=attempt).order_by("pk")))


def both_ways(attempt, check) -> None:
    """What is read must not depend on whether the data is young or compacted."""
    check()
    stored(attempt)
    assert not Tail.objects.exists()
    check()


def test_every_step_of_every_rank_comes_back_at_full_resolution():
    attempt = builders.running_attempt()
    tail(attempt, 1, 0, steps=[steps([0, 1], range(300))])
    tail(attempt, 1, 1, steps=[steps([2, 3], range(300), slow={3: 200})])

    def check():
        found = read.series(attempt, "phase/backward")
        assert found.columns == [0, 1, 2, 3]
        assert found.index.tolist() == list(range(300))
        assert found.total == 300
        assert np.array_equal(found.values[:, :3], np.full((300, 3), 0.05))
        assert np.array_equal(found.values[:, 3], np.full(300, 0.25))

    both_ways(attempt, check)


def test_an_unseen_phase_is_no_metric_and_never_zero():
    attempt = builders.running_attempt()
    tail(attempt, 1, steps=[steps([0], range(3))])
    assert "phase/other" not in {m.name for m in read.metrics(attempt)}
    assert read.series(attempt, "phase/other").index.size == 0


def test_late_steps_are_all_kept():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, {10: 1.0})])
    stored(attempt)
    tail(attempt, 2, values=[values("loss", 0, {k: float(k) for k in range(3, 10)})])

    def check():
        found = read.series(attempt, "loss")
        assert found.index.tolist() == [3, 4, 5, 6, 7, 8, 9, 10]
        assert found.values[:, 0].tolist() == [3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 1.0]

    both_ways(attempt, check)
    row = Metric.objects.get(name="loss")
    assert (row.first_index, row.last_index, row.points) == (3, 10, 8)


def test_a_repeated_step_keeps_the_last_value_and_counts_once():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, {1: 1.0})])
    stored(attempt)
    tail(attempt, 2, values=[values("loss", 0, {1: 2.0})])
    tail(attempt, 3, values=[values("loss", 0, {1: 3.0})])
    both_ways(attempt, lambda: None)
    assert read.series(attempt, "loss").values.tolist() == [[3.0]]
    assert Metric.objects.get(name="loss").points == 1


def test_nan_and_infinity_are_values():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, {1: np.nan, 2: np.inf, 4: 1.0}), values("loss", 1, {3: -np.inf})])

    def check():
        found = read.series(attempt, "loss")
        assert found.present.tolist() == [[True, False], [True, False], [False, True], [True, False]]
        assert np.isnan(found.values[0, 0])
        assert found.values[1, 0] == np.inf
        assert found.values[2, 1] == -np.inf
        assert found.bad.tolist() == [[True, False], [True, False], [False, True], [False, False]]

    both_ways(attempt, check)


def test_a_spike_of_one_step_stays_visible_at_every_level():
    attempt = builders.running_attempt()
    points = dict.fromkeys(range(20000), 1.0) | {12_345: 99.0}
    tail(attempt, 1, values=[values("loss", 0, points)])

    def check():
        for rows in (20_000, 2_000, 200, 20, 1):
            found = read.series(attempt, "loss", max_rows=rows)
            assert found.index.size <= max(rows, 128)
            assert found.maxs.max() == 99.0
            assert found.mins.min() == 1.0
            assert found.total == 20_000

    both_ways(attempt, check)
    assert set(Segment.objects.values_list("level", flat=True)) == {0, 1, 2}


def test_levels_are_the_same_however_the_data_came_in():
    whole, pieces = builders.running_attempt(), builders.running_attempt()
    rng = np.random.default_rng(3)
    points = dict(enumerate(rng.normal(size=6_000).tolist()))
    tail(whole, 1, values=[values("loss", 0, points)])
    stored(whole)
    order = rng.permutation(6_000).tolist()
    for k in range(0, 6_000, 500):
        part = {n: points[n] for n in order[k : k + 500]}
        tail(pieces, k + 1, values=[values("loss", 0, part)])
        stored(pieces)
    for level_rows in (None, 400, 30):
        a, b = (read.series(attempt, "loss", max_rows=level_rows) for attempt in (whole, pieces))
        assert np.array_equal(a.index, b.index)
        assert np.allclose(a.values, b.values)
        assert np.array_equal(a.mins, b.mins)
        assert np.array_equal(a.maxs, b.maxs)


def test_a_window_is_read_without_the_rest():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values("loss", 0, {k: float(k) for k in range(10_000)})])

    def check():
        found = read.series(attempt, "loss", lo=5_000, hi=5_009)
        assert found.values[:, 0].tolist() == [float(k) for k in range(5_000, 5_010)]
        rolled = read.series(attempt, "loss", lo=1_001, hi=8_999, max_rows=800)
        assert rolled.level == 1
        assert rolled.total == 7_999

    both_ways(attempt, check)


def test_transfer_is_what_the_rank_pays_that_waits_least():
    attempt = builders.running_attempt()
    tail(attempt, 1, 0, steps=[steps([0, 1], range(5))])
    # steps() lets each node's ranks wait for that node's slowest; rank 3 is late, so rank 2 waits.
    tail(attempt, 1, 1, steps=[steps([2, 3], range(5), slow={3: 200})])

    def check():
        assert read.series(attempt, "comm/transfer").values.tolist() == [[0.005]] * 5
        assert read.series(attempt, "comm/wait").values.tolist() == [[0.0, 0.0, 0.2, 0.0]] * 5
        assert np.allclose(read.series(attempt, "comm/busbw").values, 2 * 3 / 4 * 4e6 / 0.01)
        assert np.allclose(read.series(attempt, "local/step").values, [[0.075, 0.075, 0.075, 0.275]] * 5)

    both_ways(attempt, check)


def test_a_step_that_lacks_a_rank_has_no_transfer_until_it_comes():
    attempt = builders.running_attempt()
    tail(attempt, 1, 0, steps=[steps([0, 1], range(4))])
    tail(attempt, 1, 1, steps=[steps([2, 3], range(3))])
    stored(attempt)
    assert read.series(attempt, "comm/transfer").index.tolist() == [0, 1, 2]
    tail(attempt, 2, 1, steps=[steps([2, 3], [3])])
    both_ways(attempt, lambda: None)
    assert read.series(attempt, "comm/transfer").index.tolist() == [0, 1, 2, 3]


def test_samples_are_kept_by_whole_second_and_gaps_stay_gaps():
    attempt = builders.running_attempt()
    tail(
        attempt,
        1,
        samples=[samples("gpu/util", 0, {100.2: 50.0, 101.9: 60.0}), samples("gpu/util", 1, {101.0: np.nan})],
    )
    found = read.series(attempt, "gpu/util")
    assert (found.axis, found.columns, found.index.tolist()) == ("time", [0], [100, 101])


@pytest.mark.parametrize(
    "key", ["µ/loss 💥", "a" * 500, "b" * 900, "x\"<script>'", "nul\x00byte", "phase/step", "%_[]"]
)
def test_a_metric_may_have_any_name(key):
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values(key, 0, {1: 1.5})], steps=[steps([0], [1])])
    stored(attempt)
    (name,) = [
        m.name
        for m in read.metrics(attempt)
        if m.points == 1 and m.dtype == "f8" and m.name[:4] not in ("step", "comm")
    ]
    assert read.series(attempt, name).values.tolist() == [[1.5]]
    assert len(name) <= 500


def test_many_keys_are_paged_and_searched_by_name():
    attempt = builders.running_attempt()
    tail(attempt, 1, values=[values(f"layer{k}/grad", 0, {1: 1.0}) for k in range(900)])
    stored(attempt)
    tail(attempt, 2, values=[values("layer5/young", 0, {1: 1.0})])
    first = read.metrics(attempt, limit=100)
    second = read.metrics(attempt, after=first[-1].name, limit=100)
    assert len({m.name for m in first + second}) == 200
    assert [m.name for m in read.metrics(attempt, query="LAYER5/")] == ["layer5/grad", "layer5/young"]
    assert len(read.metrics(attempt)) == 901


def test_a_thousand_keys_are_the_same_while_the_run_lives_and_after():
    attempt = builders.running_attempt()
    for seq in (1, 2):
        tail(attempt, seq, values=[values(f"layer{k}/grad", 0, {seq: float(k)}) for k in range(1_000)])
    live = {m.name for m in read.metrics(attempt, limit=5_000)}
    before = read.series(attempt, "layer999/grad").values.tolist()
    stored(attempt)
    assert {m.name for m in read.metrics(attempt, limit=5_000)} == live
    assert len(live) == 1_000
    assert read.series(attempt, "layer999/grad").values.tolist() == before == [[999.0], [999.0]]


def test_all_phases_of_a_step_add_up_to_it():
    attempt = builders.running_attempt()
    tail(attempt, 1, steps=[steps([0, 1], range(10), slow={1: 30})])
    parts = sum(read.series(attempt, f"phase/{name}").values for name in PHASES[:5])
    assert np.allclose(parts, read.series(attempt, "phase/step").values)
