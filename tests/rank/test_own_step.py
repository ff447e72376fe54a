"""How the script counts its steps, told without waiting for anything."""

import os
from pathlib import Path

import pytest

from tests.rank.launch import read_rank
from trainer_agent.rank.own_step import OwnStep, steps_before
from trainer_agent.rank.probe import Probe
from trainer_agent.wire.environment import PROBE_PID


def test_three_steps_that_agree_settle_the_difference() -> None:
    own = OwnStep()
    assert [own.saw(step, step - 200) for step in (200, 201, 202, 203)] == [False, False, True, False]
    assert own.difference == 200


def test_one_step_logged_many_times_settles_nothing() -> None:
    own = OwnStep()
    assert not any(own.saw(7, 3) for _ in range(9))
    assert own.difference is None


def test_epochs_among_the_steps_do_not_confuse() -> None:
    own = OwnStep()
    for epoch, step in enumerate((300, 310, 320)):
        own.saw(epoch, step - 300)
        own.saw(step, step - 300)
    assert own.difference == 300


def test_what_is_no_whole_number_is_passed_over() -> None:
    own = OwnStep()
    assert not any(own.saw(step, 0) for step in ("1", 1.5, None, object()))


@pytest.mark.torch
def test_a_loaded_adam_says_how_many_steps_it_has_done() -> None:
    import torch

    model = torch.nn.Linear(2, 1)
    first = torch.optim.AdamW(model.parameters())
    assert steps_before(first) is None
    for _ in range(5):
        model(torch.ones(2)).sum().backward()
        first.step()
    again = torch.optim.AdamW(model.parameters())
    again.load_state_dict(first.state_dict())
    assert steps_before(again) == 5
    assert steps_before(torch.optim.SGD(model.parameters())) is None


def test_a_count_on_a_device_is_never_read() -> None:
    class Kind:
        type = "cuda"

    class OnDevice:
        device = Kind()

        def __int__(self) -> int:
            raise AssertionError("reading it would wait for the device")

    class Optimizer:
        state = {"p": {"step": OnDevice()}}

    assert steps_before(Optimizer()) is None


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Probe:
    monkeypatch.setenv(PROBE_PID, str(os.getpid()))  # taken back afterwards
    return Probe(str(tmp_path), 0)


def test_a_value_without_a_step_goes_on_where_the_optimizer_was(probe: Probe, tmp_path: Path) -> None:
    probe.resumed_at = 200
    probe.log({"loss": 1.0}, None)
    probe.log({"loss": 2.0}, 7)
    assert [value.step for value in read_rank(str(tmp_path), 0).values] == [200, 7]
    assert probe.own_step.difference is None
