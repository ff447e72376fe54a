"""The bench in its shortest form: a late rank is found, and nothing is said of a healthy run beside it."""

import pytest

from benchmarks.detect import matrix
from benchmarks.detect.__main__ import together
from benchmarks.detect.table import explain, line
from benchmarks.detect.verdict import scores

pytestmark = [pytest.mark.e2e, pytest.mark.torch, pytest.mark.timeout(300)]


def test_a_late_rank_is_found_and_a_healthy_run_is_left_alone() -> None:
    verdicts = together(matrix.shortest(0))
    told = "\n".join(text for one in verdicts for text in (line(one), *explain(one)))
    score = scores(verdicts)
    assert (score["recall"], score["precision"], score["rank_accuracy"]) == (1, 1, 1), told
