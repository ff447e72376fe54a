"""Two real gloo ranks go through many kinds of training loop with the probe injected; no line of theirs is for it."""

import math
from itertools import pairwise

import pytest

from tests.rank.launch import Outcome, ms, parts_sum, seen, steps_of, torchrun, typical
from trainer_agent.wire.record import FLAG_SKIPPED, FLAG_WARMUP

STEPS, SLOW_MS = 12, 60
LOOPS = [
    "plain",
    "accumulate",
    "two_optimizers",
    "unused",
    "by_hand",
    "closure",
    "skipped",
    "step_in_backward",
    "sabotaged",
]

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("loops")
    done = torchrun("many_loops.py", folder / "rings", str(folder / "board"))
    assert done.code == 0, done.output
    return done


@pytest.mark.parametrize("loop", LOOPS)
def test_every_loop_has_one_record_for_each_of_its_steps_in_both_ranks(outcome: Outcome, loop: str) -> None:
    for rank in (0, 1):
        assert len(steps_of(outcome, rank, loop)) == STEPS


def test_steps_are_numbered_from_0_without_a_gap(outcome: Outcome) -> None:
    for rank in outcome.ranks:
        assert [step.step for step in rank.steps] == list(range(len(LOOPS) * STEPS))
        assert [step.seq for step in rank.steps] == list(range(1, len(LOOPS) * STEPS + 1))


def test_the_parts_of_every_step_add_up_to_the_step(outcome: Outcome) -> None:
    for rank in outcome.ranks:
        for step in rank.steps:
            assert step.us[0] == pytest.approx(parts_sum(step), rel=0.01)


def test_steps_follow_each_other_without_a_hole(outcome: Outcome) -> None:
    steps = steps_of(outcome, 0, "plain")
    for before, after in pairwise(steps[2:]):
        assert after.end - before.end == pytest.approx(after.us[0] / 1e6, abs=0.01)


def test_a_slow_backward_is_backward_in_its_rank_and_waiting_in_the_other(outcome: Outcome) -> None:
    healthy, slow = steps_of(outcome, 0, "plain"), steps_of(outcome, 1, "plain")
    assert typical(slow, "backward") > SLOW_MS
    assert typical(slow, "backward") - typical(healthy, "backward") > SLOW_MS / 2
    assert typical(healthy, "exposed_comm") - typical(slow, "exposed_comm") > SLOW_MS / 2
    assert all(seen(step, "data") and seen(step, "forward") for step in healthy)


def test_ddps_own_timers_give_the_whole_communication_and_the_bytes(outcome: Outcome) -> None:
    for step in steps_of(outcome, 0, "plain"):
        assert ms(step, "comm_total") > SLOW_MS / 2
        assert step.nbytes == (32 * 64 + 64 + 64 + 1) * 4
        assert step.buckets >= 1


def test_accumulated_micro_steps_are_summed_and_synchronise_once(outcome: Outcome) -> None:
    one, four = steps_of(outcome, 0, "unused")[-1], steps_of(outcome, 0, "accumulate")[-1]
    assert four.nbytes == (32 * 64 + 64 + 64 + 1) * 4
    assert one.nbytes > four.nbytes  # its spare layer is reduced too
    assert ms(four, "forward") > 0


def test_all_reduces_by_hand_are_exposed_communication_with_their_bytes(outcome: Outcome) -> None:
    healthy, slow = steps_of(outcome, 0, "by_hand"), steps_of(outcome, 1, "by_hand")
    assert typical(healthy, "exposed_comm") - typical(slow, "exposed_comm") > SLOW_MS / 2
    assert typical(slow, "other") > SLOW_MS
    assert healthy[-1].nbytes == (32 * 64 + 64 + 64 + 1) * 4 + 4


def test_a_closure_that_the_optimizer_calls_counts_as_forward_and_backward(outcome: Outcome) -> None:
    for step in steps_of(outcome, 0, "closure")[:1]:
        assert ms(step, "forward") > 0
        assert ms(step, "backward") > 0


def test_a_step_that_the_scaler_skips_is_recorded_as_skipped(outcome: Outcome) -> None:
    flags = [bool(step.flags & FLAG_SKIPPED) for step in steps_of(outcome, 1, "skipped")]
    assert flags == [number == 5 for number in range(STEPS)]


def test_the_first_steps_are_marked_as_warm_up(outcome: Outcome) -> None:
    flags = [bool(step.flags & FLAG_WARMUP) for step in outcome.ranks[0].steps]
    assert flags == [number < 3 for number in range(len(flags))]


def test_a_part_of_the_probe_that_fails_is_named_and_the_rest_goes_on(outcome: Outcome) -> None:
    steps = steps_of(outcome, 0, "sabotaged")
    assert all(ms(step, "backward") > 0 for step in steps)
    assert not any(seen(step, "comm_total") for step in steps)
    assert "ddp_timers" in outcome.ranks[0].last_facts["failed"]


def test_logged_values_keep_their_keys_their_steps_and_what_is_no_number(outcome: Outcome) -> None:
    for number, rank in enumerate(outcome.ranks):
        assert [value.step for value in rank.logged("loss")] == list(range(1000, 1000 + STEPS))
        assert all(math.isnan(value.value) for value in rank.logged("nan"))
        assert {value.value for value in rank.logged("inf")} == {-math.inf}
        assert [value.step for value in rank.logged(f"only rank {number}")] == list(range(STEPS))
        assert len(rank.logged("ключ/\n")) == STEPS
        assert rank.last_facts["dropped"]["unusable"] == STEPS


def test_what_goes_to_a_summary_writer_is_captured(outcome: Outcome) -> None:
    for rank in outcome.ranks:
        assert [value.step for value in rank.logged("board/loss")] == list(range(STEPS))
        assert [v.value for v in rank.logged("board/loss")] == [v.value for v in rank.logged("loss")]
        assert {value.value for value in rank.logged("board/named")} == {0.5}


def test_the_facts_say_what_is_seen_and_with_which_versions(outcome: Outcome) -> None:
    facts = outcome.ranks[0].last_facts
    assert {"step", "data", "forward", "backward", "exposed_comm", "optimizer", "other"} <= set(facts["sees"])
    assert facts["torch"].startswith("2.")
    assert facts["clock"] == "cpu"
    assert facts["pid"] > 0
