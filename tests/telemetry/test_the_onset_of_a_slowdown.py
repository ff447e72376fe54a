import numpy as np
import pytest

from tests import builders
from tests.telemetry.batches import steps, tail
from webapp.telemetry import charts
from webapp.telemetry.heat_panel import Ground, heat
from webapp.telemetry.onset import ranked_lately
from webapp.telemetry.read import Series
from webapp.telemetry.spread import late_rank, middle_of, noise_of


def series(values: np.ndarray) -> Series:
    rows, ranks = values.shape
    seen = ~np.isnan(values)
    return Series(
        name="local/step", unit="s", axis="step", index=np.arange(1_000, 1_000 + rows), columns=list(range(ranks)),
        values=values, present=seen, mins=values, maxs=values, bad=np.zeros_like(seen), level=0, total=rows,
    )  # fmt: skip


def noisy(rows: int = 300, ranks: int = 4, spread: float = 0.02) -> np.ndarray:
    return np.abs(np.random.default_rng(3).normal(0.15, spread, (rows, ranks)))


def test_a_rank_that_became_slow_is_named_with_the_step_from_which_on_it_is():
    values = noisy()
    values[120:, 1] += 0.2
    late = late_rank(ranked_lately(series(values), 0.2))
    assert late is not None
    assert (late.rank, late.since) == (1, 1_120)
    assert late.more == pytest.approx(0.2, abs=0.01)


def test_a_rank_that_is_slow_since_a_few_steps_is_named_before_half_the_window_is_slow():
    values = noisy()
    values[275:, 2] += 0.2
    late = late_rank(ranked_lately(series(values), 0.2))
    assert late is not None
    assert (late.rank, late.since) == (2, 1_275)


def test_a_rank_that_is_slow_all_the_time_has_no_onset():
    values = noisy()
    values[:, 0] += 0.2
    late = late_rank(ranked_lately(series(values), 0.2))
    assert late is not None
    assert (late.rank, late.since) == (0, None)


@pytest.mark.parametrize("ranks", [2, 4, 16])
def test_noise_names_nobody(ranks):
    rng = np.random.default_rng(ranks)
    for _window in range(40):
        values = rng.lognormal(np.log(0.15), 0.5, (300, ranks))
        assert late_rank(ranked_lately(series(values), 0.2)) is None


def test_a_few_lone_slow_steps_name_nobody():
    values = noisy()
    values[[280, 286, 291, 299], 3] += 2.0
    assert late_rank(ranked_lately(series(values), 0.2)) is None


def test_gaps_are_no_onset():
    values = noisy()
    values[:150, 1] = np.nan
    values[150:, 1] += 0.2
    late = late_rank(ranked_lately(series(values), 0.2))
    assert late is not None
    assert (late.rank, late.since) == (1, None)


@pytest.mark.django_db
def test_the_panel_has_the_onset_and_says_it():
    attempt = builders.running_attempt()
    tail(attempt, 1, 0, steps=[steps([0, 1, 2, 3], range(200)), steps([0, 1, 2, 3], range(200, 300), slow={1: 200})])
    panel = charts.panel(attempt, "step_time")
    assert panel["onset"] == 200
    assert panel["finding"] == [
        ["Rank 1 takes 200 ms more", "warn"],
        [" than the median of 4 ranks since step 200.", ""],
    ]


@pytest.mark.django_db
def test_the_other_sentences_speak_of_the_time_since_the_onset():
    attempt = builders.running_attempt()
    tail(attempt, 1, 0, steps=[steps([0, 1, 2, 3], range(200)), steps([0, 1, 2, 3], range(200, 260), slow={1: 200})])
    said = {
        name: "".join(text for text, _tone in charts.panel(attempt, name)["finding"]) for name in ("phases", "comm")
    }
    assert said["phases"] == ("Since step 200, exposed communication takes 205 ms of a step; before it took 5 ms.")
    assert said["comm"] == "200 ms of a step is waiting for rank 1, the transfer takes 5 ms."


def test_noise_that_all_ranks_have_stays_pale_and_a_slow_rank_does_not():
    quiet = noisy(spread=0.06)
    slow = quiet.copy()
    slow[:, 2] += 0.3
    for values in (quiet, slow):
        panel = heat("backward", series(values), [], Ground(middle_of(values), noise_of(values), 0.2, []), 600)
        low, high = panel["range"]
        shade = np.clip((np.array(panel["z"]) - low) / (high - low), 0, 1)
        assert np.mean(shade[[0, 1, 3]] > 0.5) < 0.01
        assert np.median(shade[2]) > 0.5 if values is slow else True
