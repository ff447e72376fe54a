from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.detect.made import TRANSFER, table
from workers.detect.baseline import learn
from workers.detect.judge import judge

STEPS, CHANGE = 120, 80
SPAN = 0.030  # of which 8 ms are usually exposed


def made(exposed: float, span: float, *, ranks: int = 4, seed: int = 0, measured_every: int = 1):
    """From step CHANGE on so much is exposed, and all of the communication takes so long."""
    transfer = np.full(STEPS, TRANSFER)
    transfer[CHANGE:] = exposed
    job = table(ranks=ranks, seed=seed, transfer=transfer)
    total = np.full(job.step.shape, SPAN) + (job.exposed - job.exposed.min(axis=1, keepdims=True))
    total[CHANGE:] += span - SPAN
    total[np.arange(STEPS) % measured_every != 0] = np.nan
    return replace(job, total=total)


def kinds(job) -> list[str]:
    return [finding.kind for finding in judge(job, learn(job.rows(slice(0, 60))))]


@settings(max_examples=20)
@given(
    ranks=st.integers(1, 8),
    seed=st.integers(0, 1000),
    exposed=st.floats(0.016, 0.030),
    measured_every=st.sampled_from([1, 2, 4, 8]),
)
def test_what_is_exposed_though_the_transfer_takes_no_longer_is_lost_overlap(
    ranks, seed, exposed, measured_every
) -> None:
    job = made(exposed, SPAN, ranks=ranks, seed=seed, measured_every=measured_every)
    (found,) = judge(job, learn(job.rows(slice(0, 60))))
    assert (found.kind, found.cause, found.rank, found.subject) == ("overlap", "code", None, "job")
    assert found.since == CHANGE
    assert found.slowdown == pytest.approx((exposed - TRANSFER) / 0.1, abs=0.03)
    assert found.evidence["span"] == pytest.approx(found.evidence["span_usual"], rel=0.05)


@settings(max_examples=20)
@given(ranks=st.integers(1, 8), seed=st.integers(0, 1000), more=st.floats(0.010, 0.2))
def test_a_transfer_that_itself_takes_longer_is_the_network(ranks, seed, more) -> None:
    assert kinds(made(TRANSFER + more, SPAN + more, ranks=ranks, seed=seed)) == ["network"]


def test_where_the_whole_communication_is_not_measured_overlap_is_not_spoken_of() -> None:
    assert kinds(made(0.025, SPAN, measured_every=1000)) == ["network"]
    assert kinds(replace(made(0.025, SPAN), total=None)) == ["network"]


def test_a_run_like_its_past_has_lost_nothing() -> None:
    assert kinds(made(TRANSFER, SPAN)) == []
