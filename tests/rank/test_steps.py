"""Which calls make a step: one optimizer, several, skipped steps, and loops that only evaluate."""

import pytest

from trainer_agent.rank.clock import CpuClock
from trainer_agent.rank.cycle import OptimizerCycle
from trainer_agent.rank.segment import Segment
from trainer_agent.rank.steps import FORWARD_ONLY_FROM, Steps
from trainer_agent.rank.totals import total_steps


def steps_in(calls: str) -> list[str]:
    """The optimizer calls of each step, the one that is held back at the end included."""
    cycle, held = OptimizerCycle(), ""
    done: list[str] = []
    for call in calls:
        ended_before, ends_now = cycle.on_step(ord(call))
        if ended_before:
            done, held = [*done, held], ""
        held += call
        if ends_now:
            done, held = [*done, held], ""
    return [*done, held] if held else done


@pytest.mark.parametrize(
    ("calls", "steps"),
    [
        ("A" * 5, ["A"] * 5),
        ("DG" * 4, ["DG"] * 4),
        ("ABC" * 3, ["ABC"] * 3),
        ("DDG" * 4, ["D", "D", "G", "DDG", "DDG", "DDG"]),
        ("GDDD" * 3, ["GDDD"] * 3),
    ],
)
def test_a_step_is_one_round_of_the_optimizers(calls: str, steps: list[str]) -> None:
    assert steps_in(calls) == steps


def test_an_optimizer_that_is_replaced_by_another_starts_a_new_round() -> None:
    assert steps_in("AAAA" + "BBBB") == ["A"] * 4 + ["B"] * 4
    assert steps_in("AAA" + "DGDGDG") == ["A"] * 3 + ["DG"] * 3


def segment() -> Segment:
    return Segment(CpuClock(), 0)


def test_the_first_step_waits_for_the_second_call_and_the_others_do_not() -> None:
    emitted: list[Segment] = []
    steps = Steps(emitted.append)
    counts = []
    for _ in range(4):
        steps.optimizer_stepped(1, segment())
        counts.append(len(emitted))
    assert counts == [0, 2, 3, 4]


def test_an_optimizer_is_alone_once_that_is_sure_and_until_another_steps() -> None:
    steps = Steps(lambda _: None)
    alone = []
    for who in (1, 1, 1, 2, 1, 2, 2):
        steps.optimizer_stepped(who, segment())
        alone.append(steps.alone)
    assert alone == [None, 1, 1, None, None, None, None]


def test_a_step_that_is_held_back_comes_out_at_the_end() -> None:
    emitted: list[Segment] = []
    steps = Steps(emitted.append)
    steps.optimizer_stepped(1, segment())
    steps.flush()
    steps.flush()
    assert len(emitted) == 1


def test_a_few_passes_without_training_are_no_steps() -> None:
    emitted: list[Segment] = []
    steps = Steps(emitted.append)
    for _ in range(FORWARD_ONLY_FROM - 1):
        steps.iteration_without_optimizer(segment())
    steps.optimizer_stepped(1, segment())
    steps.optimizer_stepped(1, segment())
    assert len(emitted) == 2


def test_a_loop_that_goes_on_without_training_has_a_step_for_each_pass() -> None:
    emitted: list[Segment] = []
    steps = Steps(emitted.append)
    for _ in range(FORWARD_ONLY_FROM + 3):
        steps.iteration_without_optimizer(segment())
    assert len(emitted) == FORWARD_ONLY_FROM + 3


@pytest.mark.parametrize(
    ("argv", "env", "batches", "per_step", "total"),
    [
        (["train.py", "--steps", "300"], {}, None, 1, 300),
        (["train.py", "--max_steps=40"], {}, 10, 1, 40),
        (["train.py"], {"MAX_STEPS": "25"}, None, 1, 25),
        (["train.py", "--epochs", "3"], {}, 10, 4, 9),
        (["train.py"], {"EPOCHS": "2"}, 10, 1, 20),
        (["train.py", "--epochs", "3"], {}, None, 1, None),
        (["train.py", "--steps"], {}, None, 1, None),
        (["train.py", "--steps", "many"], {"MAX_STEPS": "-1"}, 10, 1, None),
        (["train.py"], {}, 10, 1, None),
    ],
)
def test_the_total_is_taken_from_arguments_environment_or_epochs(
    argv: list[str], env: dict[str, str], batches: int | None, per_step: int, total: int | None
) -> None:
    assert total_steps(argv, env, batches, per_step) == total
