import numpy as np
import pytest

from tests import builders
from tests.telemetry.batches import batch
from trainer_agent.wire import codec
from trainer_agent.wire.messages import StepColumns
from webapp.telemetry import charts
from webapp.telemetry.middle import MANY, NAMES
from webapp.telemetry.models import Segment, Tail
from webapp.telemetry.run_read import RunReader
from webapp.telemetry.store import compact

pytestmark = pytest.mark.django_db

PANELS = ("phases", "comm")
WINDOWS = ((None, None, 600), (100, 300, 600), (0, 699, 2_400), (37, 641, 50), (650, 900, 600))
COUNTED = ("phase/data", "phase/forward", "phase/backward", "phase/exposed_comm", "phase/optimizer")


def told(ranks: int, first: int, last: int) -> StepColumns:
    """Uneven steps of many ranks, of which some do not tell of some steps."""
    random = np.random.default_rng(first)
    step, rank = (a.ravel() for a in np.meshgrid(np.arange(first, last), np.arange(ranks), indexing="ij"))
    heard = (random.random(step.size) > 0.01) | (step % 3 > 0)
    step, rank = step[heard], rank[heard]
    us = {name: random.gamma(30, 300, step.size).astype("<u4") for name in COUNTED}
    us["phase/step"] = np.sum(list(us.values()), axis=0).astype("<u4")
    return StepColumns(
        n=step.size,
        rank=rank.astype("<u4").tobytes(),
        step=step.astype("<i8").tobytes(),
        end=(1e9 + step * 0.08).tobytes(),
        columns={name: column.tobytes() for name, column in us.items()},
    )


def stored(attempt, ranks: int, first: int, last: int) -> None:
    payload = codec.encode(batch(attempt.pk, "n-0", first + 1, steps=[told(ranks, first, last)]))
    compact(attempt, [Tail.objects.create(attempt=attempt, node_rank=0, seq=first + 1, payload=payload)])


def drawn(run) -> list[dict]:
    return [charts.Charts(RunReader(run), lo, hi, width).panel(panel) for lo, hi, width in WINDOWS for panel in PANELS]


def assert_same(a, b) -> None:
    """To the last shown digit, in which a mean that is half a microsecond may differ."""
    if isinstance(a, float):
        assert a == pytest.approx(b, abs=0.00101)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for key, value in a.items():
            assert_same(value, b[key])
    elif isinstance(a, list):
        for one, other in zip(a, b, strict=True):
            assert_same(one, other)
    else:
        assert a == b


@pytest.mark.parametrize("ranks", [MANY, MANY + 1])  # a median between two, and one that is a rank's own
def test_charts_say_the_same_whether_medians_are_stored_or_every_rank_is_unpacked(ranks):
    attempt = builders.running_attempt()
    for first, last in ((0, 200), (200, 500), (500, 700)):
        stored(attempt, ranks, first, last)
    beside = Segment.objects.exclude(middle=None)
    assert set(beside.values_list("level", flat=True)) == {0, 1}
    assert set(beside.values_list("metric__name", flat=True)) == {*COUNTED, "comm/wait"}
    by_themselves = drawn(attempt.run)
    old = list(beside.filter(block__gt=0).values_list("pk", flat=True))
    Segment.objects.filter(pk__in=old).update(middle=None)
    half = drawn(attempt.run)
    beside.update(middle=None)
    assert_same(by_themselves, half)
    assert_same(half, drawn(attempt.run))
    assert all(panel["x"] for panel in by_themselves[:8])


def test_a_median_that_an_earlier_version_left_behind_is_not_believed():
    attempt = builders.running_attempt(nodes=1, ranks_per_node=MANY)
    stored(attempt, MANY, 0, 60)
    before = dict(Segment.objects.exclude(middle=None).values_list("metric__name", "middle"))
    stored(attempt, MANY, 60, 100)
    whole = drawn(attempt.run)
    for name, middle in before.items():  # an earlier version writes the block, not what stands beside it
        Segment.objects.filter(metric__name=name, level=0).update(middle=middle)
    assert_same(drawn(attempt.run), whole)


def test_medians_of_young_data_are_those_of_stored_data():
    attempt = builders.running_attempt(nodes=1, ranks_per_node=MANY)
    stored(attempt, MANY, 0, 150)
    payload = codec.encode(batch(attempt.pk, "n-0", 151, steps=[told(MANY, 150, 400)]))
    tail = Tail.objects.create(attempt=attempt, node_rank=0, seq=151, payload=payload)
    young = drawn(attempt.run)
    compact(attempt, [tail])
    assert_same(drawn(attempt.run), young)


def test_few_ranks_and_what_charts_show_rank_by_rank_have_no_medians_beside_them():
    attempt = builders.running_attempt(nodes=1, ranks_per_node=MANY - 1)
    stored(attempt, MANY - 1, 0, 20)
    assert not Segment.objects.exclude(middle=None).exists()
    assert not NAMES & {"phase/step", "local/step", "comm/total"}
