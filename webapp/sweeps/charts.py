"""What the page of a sweep draws. Pure: trials in, numbers out."""

from collections.abc import Sequence
from typing import Any

from webapp.sweeps.median import best_by
from webapp.sweeps.models import State, Sweep, Trial

MOST_CURVES = 30  # the best ones, and those that run


def chart(sweep: Sweep, trials: Sequence[Trial]) -> dict[str, Any]:
    """`{goal, values: {x, y, state}, best: {x, y}, curves: [{number, state, x, y}]}`; x of values counts runs."""
    known = [trial for trial in trials if trial.value is not None]
    return {
        "goal": sweep.goal,
        "values": {
            "x": [trial.number for trial in known],
            "y": [trial.value for trial in known],
            "state": [trial.state for trial in known],
        },
        "best": _best_so_far(sweep, known),
        "curves": [_curve(trial) for trial in _chosen(sweep, known)],
    }


def _best_so_far(sweep: Sweep, known: Sequence[Trial]) -> dict[str, list[Any]]:
    points = [(trial.number, trial.value or 0.0) for trial in known]
    values = [best_by(points, number, minimize=sweep.minimize) for number, _value in points]
    return {"x": [number for number, _value in points], "y": values}


def _chosen(sweep: Sweep, known: Sequence[Trial]) -> list[Trial]:
    """Best last, so that it lies on top."""
    order = sorted(known, key=lambda trial: (trial.value or 0.0) * (1 if sweep.minimize else -1))
    running = [trial for trial in known[-MOST_CURVES:] if trial.state == State.RUNNING]
    shown = {trial.pk for trial in (*order[:MOST_CURVES], *running)}
    return [trial for trial in reversed(order) if trial.pk in shown]


def _curve(trial: Trial) -> dict[str, Any]:
    steps, values = zip(*trial.curve, strict=True)
    return {"number": trial.number, "state": trial.state, "x": list(steps), "y": list(values)}
