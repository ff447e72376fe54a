"""What the Config tab says of the cost of measuring."""

import pytest

from tests import builders
from webapp.runs.models import RankState
from webapp.runs.run_config import tables

pytestmark = pytest.mark.django_db


def test_the_run_tells_its_own_overhead_once_the_probe_has_timed_itself() -> None:
    attempt = builders.running_attempt()
    assert "Measuring costs" not in dict(tables(attempt.run, attempt)["spec_rows"])
    RankState.objects.filter(attempt=attempt).update(facts={"probe_us": 91.4, "step_us": 95_000})
    assert dict(tables(attempt.run, attempt)["spec_rows"])["Measuring costs"] == "91 µs a step and rank (0.096 %)"
