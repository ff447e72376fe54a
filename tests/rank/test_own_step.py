"""How the script counts its steps, told without waiting for anything."""

import pytest

from trainer_agent.rank.own_step import OwnStep, steps_before


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
