"""The median rule."""

from webapp.sweeps.median import best_by, falls_behind

STEPS = range(0, 100, 10)


def curve(factor, steps=STEPS):
    return [(step, factor / (step + 1)) for step in steps]


GOOD = [curve(1.0), curve(1.1), curve(0.9), curve(1.2)]


def test_a_run_that_is_worse_than_the_median_by_the_same_step_falls_behind():
    assert falls_behind(curve(2.0, range(0, 50, 10)), GOOD, minimize=True, not_before=0)
    assert not falls_behind(curve(0.95, range(0, 50, 10)), GOOD, minimize=True, not_before=0)
    assert falls_behind(curve(0.5, range(0, 50, 10)), GOOD, minimize=False, not_before=0)


def test_nobody_falls_behind_too_early_or_against_too_few():
    bad = curve(9.0, range(0, 50, 10))
    assert not falls_behind(bad, GOOD, minimize=True, not_before=41)
    assert not falls_behind(bad, GOOD[:3], minimize=True, not_before=0)
    assert not falls_behind(bad, [one[:2] for one in GOOD], minimize=True, not_before=0)
    assert not falls_behind([], GOOD, minimize=True, not_before=0)


def test_what_is_no_number_is_no_best():
    assert best_by([(0, float("nan")), (1, 3.0), (2, float("inf")), (5, 1.0)], 4, minimize=True) == 3.0
    assert best_by([(0, float("nan"))], 4, minimize=True) is None
