"""Every second of every slot goes to one of seven parts."""

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pytest
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from tests import builders
from tests.api.asking import asker
from tests.telemetry.batches import steps, tail
from webapp.runs.models import Attempt, RankState, Run, Status
from webapp.telemetry import slot_time, store
from webapp.telemetry.models import Tail
from webapp.telemetry.slot_split import PARTS, Clocks, Steps, rows_of, split

moments = st.floats(0, 5_000)


@st.composite
def slots(draw: st.DrawFn) -> tuple[Clocks, Steps]:
    """Of one to three slots, of which some have no step in some rows, or none at all."""
    many, n = draw(st.integers(1, 3)), draw(st.integers(0, 12))

    def per_slot(values: st.SearchStrategy[float]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=many, max_size=many)))

    def table(values: st.SearchStrategy[float]) -> np.ndarray:
        return np.array(draw(st.lists(values, min_size=many * n, max_size=many * n))).reshape(many, n)

    perhaps = moments | st.just(np.nan)
    clocks = Clocks(draw(moments), draw(moments), per_slot(perhaps), per_slot(perhaps), per_slot(st.floats(-5, 5)))
    counts, seconds = table(st.sampled_from([0.0, 1.0, 16.0])), st.floats(0, 400) | st.just(np.nan)
    ends = np.cumsum(table(st.floats(-1, 300)), axis=1)
    waits, longest, here = table(seconds), table(seconds), counts > 0
    again = np.array(draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    begin = np.where(here.any(axis=1), per_slot(moments), np.nan)
    return clocks, Steps(
        begin, np.where(here, ends, 0.0), counts, np.where(here, waits, 0.0), np.where(here, longest, 0.0), again
    )


@given(slots())
def test_the_parts_of_a_slot_add_up_whatever_its_clocks_say(of_slots: tuple[Clocks, Steps]) -> None:
    clocks, steps_of_them = of_slots
    parts = split(clocks, steps_of_them)
    assert tuple(parts) == PARTS
    assert min(seconds.min() for seconds in parts.values()) >= -1e-6
    assert sum(parts.values()) == pytest.approx(max(0.0, clocks.end - clocks.created), abs=1e-6)


@given(slots(), st.integers(0, 12), st.integers(0, 2))
def test_a_slot_is_split_alike_alone_and_beside_others_and_however_its_rows_come(
    of_slots: tuple[Clocks, Steps], row: int, slot: int
) -> None:
    clocks, whole = of_slots
    alone = slice(min(slot, whole.begin.size - 1), None)

    def some(rows: slice, begin: np.ndarray) -> Steps:
        ends, counts, waits, longest = (x[:, rows] for x in (whole.ends, whole.counts, whole.waits, whole.longest))
        return Steps(begin, ends, counts, waits, longest, whole.again[rows])

    begun = (whole.counts[:, :row] > 0).any(axis=1)
    pieces = [some(slice(row), np.where(begun, whole.begin, np.nan)), some(slice(row, None), whole.begin)]
    found, together = split(clocks.of(alone), rows_of(pieces, alone)), split(clocks, whole)
    for part in PARTS:
        assert found[part] == pytest.approx(together[part][alone], abs=1e-6)


def clock(created: float, placed: float, end: float, left: float) -> Clocks:
    return Clocks(created, end, np.array([placed]), np.array([left]), np.zeros(1))


def even(n: int, took: float = 1.0, **more: Any) -> Steps:
    zeros = np.zeros((1, n))
    fields: dict[str, Any] = {
        "begin": np.array([20.0]),
        "ends": 20 + took * np.arange(1, n + 1)[None, :],
        "counts": np.ones((1, n)),
        "waits": zeros,
        "longest": np.full((1, n), took),
        "again": np.zeros(n),
    }
    tables = {name: np.reshape(column, np.shape(fields[name])) for name, column in more.items()}
    return Steps(**{**fields, **tables})


def one(parts: dict[str, np.ndarray]) -> dict[str, float]:
    return {part: seconds.item() for part, seconds in parts.items()}


def test_a_life_in_numbers() -> None:
    again = np.where(np.arange(100) >= 80, 1.0, 0.0)
    parts = one(split(clock(0.0, 10.0, 150.0, 125.0), even(100, waits=np.full(100, 0.25), again=again)))
    told = {"queued": 10, "starting": 10, "useful": 60, "repeated": 20, "waiting": 20, "stalled": 0, "idle": 30}
    assert parts == pytest.approx(told)


def test_a_step_that_hangs_and_a_silent_end_are_stalled_beyond_the_limit() -> None:
    ends = np.concatenate([20 + np.arange(1.0, 51.0), 170 + np.arange(0.0, 10.0)])
    parts = one(split(clock(0.0, 10.0, 400.0, np.nan), even(60, ends=ends, longest=np.ones(60))))
    assert parts["stalled"] == pytest.approx((100 - 1) + (400 - 179 - 10))
    assert parts["useful"] == pytest.approx(50 + 1 + 9 + 10)


def test_a_peer_that_stood_still_is_no_waiting_for_a_straggler() -> None:
    waits = np.array([0.0] * 20 + [24.0] + [0.0] * 20)
    ends = 20 + np.cumsum(1.0 + waits)
    parts = one(split(clock(0.0, 10.0, 85.0, 85.0), even(41, ends=ends, waits=waits, longest=1.0 + waits)))
    assert parts["stalled"] == pytest.approx(24.0)
    assert parts["waiting"] == pytest.approx(0.0)


def test_an_attempt_that_never_stepped_only_starts() -> None:
    none = even(0, begin=np.nan)
    assert one(split(clock(0.0, 10.0, 100.0, 70.0), none)) == pytest.approx(
        {**dict.fromkeys(PARTS, 0.0), "queued": 10, "starting": 60, "idle": 30}
    )
    assert one(split(clock(0.0, np.nan, 100.0, np.nan), none))["queued"] == 100


def lived(attempt: Attempt, start: datetime, made: int, first_step: int = 0) -> None:
    """Asked for at `start`, placed 4 s later, first step ends at 10 s, all over 5 s after the last one."""
    began = start.timestamp() + 10
    tail(attempt, 1, steps=[steps([0, 1], range(made), slow={1: 40}, end=began)])
    store.compact(attempt, list(Tail.objects.filter(attempt=attempt)))
    last = start + timedelta(seconds=10 + 0.08 * (made - 1))
    attempt.ranks.update(exited_at=last + timedelta(seconds=2))
    over = last + timedelta(seconds=5)
    attempt.parts.update(finished_at=over)
    times = {"created_at": start, "placed_at": start + timedelta(seconds=4), "ended_at": over}
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED, compacted=True, first_step=first_step, **times)


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_client")
def test_a_run_of_two_attempts_adds_up_and_is_kept() -> None:
    first = builders.running_attempt(nodes=1, ranks_per_node=2)
    start = timezone.now() - timedelta(hours=1)
    lived(first, start, 3_000)
    slot_time.store(Attempt.objects.get(pk=first.pk))
    assert Attempt.objects.get(pk=first.pk).hours["repeated"] == 0
    second = Attempt.objects.create(run=first.run, number=2, world_size=2)
    RankState.objects.bulk_create(
        RankState(attempt=second, rank=rank, node_rank=0, local_rank=rank) for rank in range(2)
    )
    Run.objects.filter(pk=first.run_id).update(attempt_count=2)
    lived(second, start + timedelta(minutes=10), 1_000, first_step=2_000)
    slot_time.store(Attempt.objects.select_related("run").get(pk=second.pk))
    hours = asker(first.run.owner).get(f"/runs/{first.run.uid}/ledger").json()["hours"]
    assert hours["slots"] == 2
    assert sum(hours[part] for part in PARTS) == pytest.approx(hours["slots"] * hours["wall_s"], rel=1e-6)
    assert hours["queued"] == pytest.approx(2 * 4 * 2)
    assert hours["repeated"] == pytest.approx(2 * 1_000 * 0.08, rel=0.02)
    assert hours["useful"] + hours["waiting"] == pytest.approx(2 * 3_000 * 0.08, rel=0.02)
    assert hours["waiting"] == pytest.approx(3_000 * 0.04, rel=0.05)
    assert hours["idle"] == pytest.approx(2 * 2 * 5, rel=0.02)
    kept = [attempt.hours for attempt in first.run.attempts.order_by("number")]
    assert kept[0]["repeated"] == pytest.approx(2 * 1_000 * 0.08, rel=0.02)
    assert sum(one["wall_s"] for one in kept) == pytest.approx(hours["wall_s"])


@pytest.mark.django_db
def test_a_run_that_waits_only_waits() -> None:
    attempt = builders.running_attempt(nodes=1, ranks_per_node=2)
    start = timezone.now() - timedelta(seconds=60)
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.QUEUED, placed_at=None, created_at=start)
    attempt.ranks.all().delete()
    hours = slot_time.of_run(attempt.run, now=start + timedelta(seconds=60))
    assert (hours["queued"], hours["wall_s"]) == (pytest.approx(120), pytest.approx(60))


@pytest.mark.django_db
def test_a_step_that_stood_still_is_found_among_many_that_did_not() -> None:
    """Where 16 steps are one row, only the length of the longest of them tells it."""
    attempt = builders.running_attempt(nodes=1, ranks_per_node=2)
    start = timezone.now() - timedelta(hours=1)
    before = steps([0, 1], range(2_000), end=start.timestamp() + 10)
    stood = steps([0, 1], [2_000], most=60_000, end=start.timestamp() + 10 + 60)
    after = steps([0, 1], range(2_001, 4_000), end=start.timestamp() + 10 + 60)
    tail(attempt, 1, steps=[before, stood, after])
    store.compact(attempt, list(Tail.objects.filter(attempt=attempt)))
    over = start + timedelta(seconds=10 + 60 + 0.08 * 3_999)
    times = {"created_at": start, "placed_at": start, "ended_at": over}
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED, compacted=True, **times)
    attempt.ranks.update(exited_at=over)
    hours = slot_time.of_attempt(Attempt.objects.get(pk=attempt.pk))
    assert hours["stalled"] == pytest.approx(2 * 60, rel=0.01)
    assert hours["useful"] == pytest.approx(2 * 4_000 * 0.08, rel=0.02)
