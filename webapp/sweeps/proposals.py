"""Which arguments a sweep tries next: by grid, by chance, or by what the trials so far have shown. Pure.

Every proposal follows from the sweep and its trials alone, so that a server that starts again goes on where it was.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
import optuna
from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import FrozenTrial, TrialState

from webapp.sweeps.space import Choices, Listed, Numbers, Value, at, drawn, grid_values, last_place, place_of, within

optuna.logging.set_verbosity(optuna.logging.WARNING)

GRID, RANDOM, OPTUNA = "grid", "random", "optuna"
Space = Mapping[str, Choices]


@dataclass(frozen=True, slots=True)
class Told:
    """A trial so far. `value`: of the goal, None while it runs or when it failed."""

    arguments: Mapping[str, Any]
    value: float | None
    running: bool = False


def propose(method: str, space: Space, seed: int, told: Sequence[Told], *, minimize: bool) -> dict[str, Value] | None:
    """The arguments of the next trial; None when the grid has no more."""
    if method == GRID:
        whole = product(*(grid_values(choices) for choices in space.values()))
        chosen = next(islice(whole, len(told), None), None)
        return None if chosen is None else dict(zip(space, chosen, strict=True))
    if method == RANDOM:
        chance = np.random.default_rng([seed, len(told)])
        return {name: drawn(choices, chance) for name, choices in space.items()}
    return _by_optuna(space, seed, told, minimize=minimize)


def _by_optuna(space: Space, seed: int, told: Sequence[Told], *, minimize: bool) -> dict[str, Value]:
    """Its tree-structured Parzen estimator; trials that still run count as not good, so that others are tried."""
    sampler = optuna.samplers.TPESampler(seed=seed + len(told), constant_liar=True)
    study = optuna.create_study(sampler=sampler, direction="minimize" if minimize else "maximize")
    distributions = {name: _distribution(choices) for name, choices in space.items()}
    study.add_trials([_trial(one, space, distributions) for one in told])
    asked = study.ask(distributions)
    return {name: _chosen(choices, asked.params[name]) for name, choices in space.items()}


def _distribution(choices: Choices) -> BaseDistribution:
    """Where a range has a step Optuna chooses a place in it: numbers at a distance are no exact multiples of it."""
    if isinstance(choices, Listed):
        return CategoricalDistribution(choices.values)
    if choices.step is not None:
        return IntDistribution(0, last_place(choices))
    if choices.whole:
        return IntDistribution(int(choices.low), int(choices.high), log=choices.log)
    return FloatDistribution(choices.low, choices.high, log=choices.log)


def _trial(one: Told, space: Space, distributions: dict[str, BaseDistribution]) -> FrozenTrial:
    value = one.value if one.value is not None and math.isfinite(one.value) else None
    state = TrialState.RUNNING if one.running else TrialState.FAIL if value is None else TrialState.COMPLETE
    params = {name: _asked(choices, one.arguments[name]) for name, choices in space.items()}
    told = value if state == TrialState.COMPLETE else None
    return optuna.trial.create_trial(state=state, value=told, params=params, distributions=distributions)


def _asked(choices: Choices, value: Any) -> Any:
    return place_of(choices, value) if isinstance(choices, Numbers) and choices.step is not None else value


def _chosen(choices: Choices, value: Any) -> Value:
    if isinstance(choices, Listed):
        return str(value)
    return within(choices, value) if choices.step is None else at(choices, value)
