"""Phases are where they belong in loops that change how DDP, optimizers and autograd work with each other."""

import pytest

from tests.rank.launch import Outcome, parts_sum, steps_of, torchrun, typical

STEPS, FORWARD_MS, BACKWARD_MS, OPTIMIZER_MS = 8, 20, 40, 30
LOOPS = ["mixed_precision", "static_graph", "own_hook", "optimizers_of_parts", "compiled", "sharded"]

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    done = torchrun("more_loops.py", tmp_path_factory.mktemp("more") / "rings")
    assert done.code == 0, done.output
    return done


@pytest.mark.parametrize("loop", LOOPS)
def test_each_step_has_one_record_whose_parts_add_up(outcome: Outcome, loop: str) -> None:
    for rank in (0, 1):
        steps = steps_of(outcome, rank, loop)
        assert len(steps) == STEPS
        for step in steps:
            assert step.us[0] == pytest.approx(parts_sum(step), rel=0.01)


@pytest.mark.parametrize("loop", LOOPS)
def test_what_makes_a_rank_slow_is_in_its_own_phases(outcome: Outcome, loop: str) -> None:
    slow, all_ms = steps_of(outcome, 1, loop), FORWARD_MS + BACKWARD_MS + OPTIMIZER_MS
    for phase, own in (("forward", FORWARD_MS), ("backward", BACKWARD_MS), ("optimizer", OPTIMIZER_MS)):
        assert own <= typical(slow, phase) < own + (all_ms - own) / 2


@pytest.mark.parametrize("loop", LOOPS)
def test_the_other_rank_waits_and_works_no_longer_for_it(outcome: Outcome, loop: str) -> None:
    healthy, slow = steps_of(outcome, 0, loop), steps_of(outcome, 1, loop)
    assert typical(healthy, "exposed_comm") > 0.8 * (FORWARD_MS + BACKWARD_MS + OPTIMIZER_MS)
    assert typical(slow, "exposed_comm") < typical(healthy, "exposed_comm") - BACKWARD_MS
    for phase in ("forward", "backward", "optimizer"):
        assert typical(healthy, phase) < typical(slow, phase) - FORWARD_MS / 2


def test_no_part_of_the_probe_failed_in_any_of_them(outcome: Outcome) -> None:
    for rank in outcome.ranks:
        assert rank.last_facts["failed"] == {}
        assert rank.last_facts["probe_us"] > 0
