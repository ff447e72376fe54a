"""The space of a sweep, and which arguments come next."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webapp.sweeps.proposals import GRID, OPTUNA, RANDOM, Space, Told, propose
from webapp.sweeps.space import Listed, Numbers, as_arguments, drawn, grid_size, grid_values, read


@pytest.mark.parametrize(
    ("text", "choices"),
    [
        ("16, 32,64", Listed(("16", "32", "64"))),
        ("adam", Listed(("adam",))),
        ("2..8", Numbers(2, 8, step=1, whole=True)),
        ("2..8 step 2", Numbers(2, 8, step=2, whole=True)),
        ("-0.5..0.5", Numbers(-0.5, 0.5)),
        ("0.1..0.9 step 0.2", Numbers(0.1, 0.9, step=0.2)),
        ("log 1e-5..1e-1", Numbers(1e-5, 1e-1, log=True)),
        ("log 8..1024", Numbers(8, 1024, log=True, whole=True)),
    ],
)
def test_what_people_type_is_read(text, choices):
    assert read(text) == choices


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "Type values"),
        (" , ", "Type values"),
        ("8..2", "smaller than the second"),
        ("a..b", "“a” is not a number"),
        ("0..inf", "“inf” is not a number"),
        ("log 0..1", "begin above 0"),
        ("0..1 step 0", "above 0"),
        ("0..1 step 3", "fit into the range"),
        ("log 1..10 step 2", "no step"),
    ],
)
def test_what_cannot_be_read_says_what_to_type(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read(text)


def test_a_grid_is_every_combination_in_order():
    space = {"--lr": read("0.1..0.3 step 0.1"), "--opt": read("sgd, adam")}
    assert grid_size(space) == 6
    tried = [propose(GRID, space, 0, [Told({}, None)] * n, minimize=True) for n in range(7)]
    assert tried[:3] == [{"--lr": 0.1, "--opt": "sgd"}, {"--lr": 0.1, "--opt": "adam"}, {"--lr": 0.2, "--opt": "sgd"}]
    assert tried[6] is None
    with pytest.raises(ValueError, match="A grid needs values"):
        grid_size({"--lr": read("0.0..1.0")})
    with pytest.raises(ValueError, match="at most 1000"):
        grid_values(read("1..5000"))


def proposed(method: str, space: Space, seed: int, told: list[Told], *, minimize: bool = True) -> dict[str, Any]:
    found = propose(method, space, seed, told, minimize=minimize)
    assert found is not None
    return found


numbers = st.builds(
    lambda low, size, step, log, whole: read(
        f"{'log ' if log else ''}{low if whole else low / 7}..{(low + size) if whole else (low + size) / 7}"
        + (f" step {step if whole else step / 7}" if step and step <= size and not log else "")
    ),
    st.integers(1, 1000), st.integers(1, 1000), st.integers(0, 50), st.booleans(), st.booleans(),
)  # fmt: skip


@settings(max_examples=60)
@given(choices=numbers, seed=st.integers(0, 2**31))
def test_every_proposal_lies_in_the_range_and_can_be_told_to_optuna_again(choices, seed):
    assert choices.low <= float(drawn(choices, np.random.default_rng(seed))) <= choices.high
    space = {"--x": choices}
    first = proposed(OPTUNA, space, seed, [])
    second = proposed(OPTUNA, space, seed, [Told(first, 1.0)])
    third = proposed(OPTUNA, space, seed, [Told(first, 1.0), Told(second, None, running=True)])
    assert all(choices.low <= float(one["--x"]) <= choices.high for one in (first, second, third))
    assert proposed(RANDOM, space, seed, []) == proposed(RANDOM, space, seed, [])


def test_optuna_goes_where_it_was_good():
    space = {"--x": read("-10..10 step 0.01"), "--kind": read("a, b")}
    told: list[Told] = []
    for _k in range(40):
        chosen = proposed(OPTUNA, space, 7, told)
        told.append(Told(chosen, (chosen["--x"] - 3) ** 2 + (chosen["--kind"] == "b")))
    late = sorted(abs(one.arguments["--x"] - 3) for one in told[20:])
    assert late[10] < 2.5
    assert sum(one.arguments["--kind"] == "a" for one in told[20:]) > 10


def test_a_trial_that_failed_or_logged_nan_does_not_stop_the_search():
    space = {"--x": read("0.0..1.0")}
    told = [Told({"--x": 0.5}, None), Told({"--x": 0.25}, float("nan"))]
    assert 0 <= proposed(OPTUNA, space, 1, told, minimize=False)["--x"] <= 1


def test_arguments_stand_where_they_stood_or_at_the_end():
    argv = ["train.py", "--lr", "1", "seed=2", "--batch=4", "--", "rest"]
    made = as_arguments(argv, {"--lr": 0.1, "seed": 5, "--batch": 8, "--new": "x", "model.depth": 3})
    assert made == ["train.py", "--lr", "0.1", "seed=5", "--batch=8", "--", "rest", "--new", "x", "model.depth=3"]
