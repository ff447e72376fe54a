"""Which steps of which rank are stored, found without reading them all."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests import builders
from webapp.runs.models import Attempt
from webapp.telemetry import store
from webapp.telemetry.blocks import Block, encode
from webapp.telemetry.merge import roll_up, rows_of, span
from webapp.telemetry.models import Metric, Segment
from webapp.telemetry.points import STEP, Points
from webapp.telemetry.presence import Stored, stored_steps
from webapp.telemetry.read import Reader


def fill(attempt: Attempt, steps: dict[int, np.ndarray]) -> None:
    rank = np.concatenate([np.full(found.size, one) for one, found in steps.items()])
    index = np.concatenate(list(steps.values()))
    value = np.full(index.size, 0.05)
    if index.size:
        store.write(attempt, {STEP: Points(STEP, "step", "rank", "us", rank, index, value)})


def fill_at_once(attempt: Attempt, present: np.ndarray) -> None:
    """`present[step, rank]` as compaction would have stored it."""
    steps, ranks = present.shape
    extent = {"first_index": 0, "last_index": steps - 1}
    metric = Metric.objects.create(attempt=attempt, name=STEP, axis="step", columns="rank", dtype="us", **extent)
    block = Block(np.arange(steps), np.arange(ranks), np.where(present, 0.05, 0.0), present)
    level, rows = 0, []
    while True:
        numbers = block.index // span(level)
        edges = np.flatnonzero(np.diff(numbers, prepend=-1))
        for first, last in zip(edges, [*edges[1:], block.index.size], strict=True):
            part = rows_of(block, slice(first, last))
            payload = encode(part, "us")
            rows.append(Segment(metric=metric, level=level, block=numbers[first], rows=last - first, payload=payload))
        if len(edges) == 1:
            break
        level += 1
        block = roll_up(block, level)
    Segment.objects.bulk_create(rows, batch_size=1_000)


def expected(present: np.ndarray, lo: int, end: int) -> Stored:
    inside = present[(present >= lo) & (present <= end)]
    gone = np.setdiff1d(np.arange(lo, end + 1), inside)
    runs = np.split(gone, np.flatnonzero(np.diff(gone) > 1) + 1) if gone.size else []
    last = int(inside[-1]) if inside.size else -1
    return Stored(int(inside.size), last, [(int(run[0]), int(run[-1])) for run in runs])


class TestPresence(TestCase):
    @settings(max_examples=15)
    @given(
        st.integers(1, 6_000),
        st.lists(st.tuples(st.integers(0, 2), st.integers(0, 6_000), st.integers(1, 700)), max_size=6),
        st.tuples(st.integers(0, 3_000), st.integers(0, 3_000)) | st.none(),
    )
    def test_holes_are_found_at_any_depth(self, made, holes, window) -> None:
        attempt = builders.running_attempt(nodes=1, ranks_per_node=3)
        steps = {}
        for rank in range(3):
            keep = np.ones(made, dtype=bool)
            for _rank, first, length in (hole for hole in holes if hole[0] == rank):
                keep[first : first + length] = False
            steps[rank] = np.flatnonzero(keep)
        fill(attempt, steps)
        last = max((int(found[-1]) for found in steps.values() if found.size), default=-1)
        lo, hi = (0, None) if window is None else (window[0], window[0] + window[1])
        end = last if hi is None else min(hi, last)
        found = stored_steps(Reader(attempt, first_step=0), range(3), lo, hi)
        wanted = {r: expected(p, lo, end) if end >= lo else Stored(0, -1, []) for r, p in steps.items()}
        assert found == wanted

    def test_a_long_run_has_few_gaps(self) -> None:
        attempt = builders.running_attempt(nodes=1, ranks_per_node=8)
        present = np.ones((250_000, 8), dtype=bool)
        present[200_000:200_130, 7] = present[240_000, 7] = False
        fill_at_once(attempt, present)
        found = stored_steps(Reader(attempt, first_step=0), range(8))
        assert found[7] == Stored(249_869, 249_999, [(200_000, 200_129), (240_000, 240_000)])
        assert found[0] == Stored(250_000, 249_999, [])
