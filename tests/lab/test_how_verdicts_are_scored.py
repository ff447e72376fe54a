from typing import Any

from benchmarks.detect.case import Case, late, stands
from benchmarks.detect.ended import ended
from benchmarks.detect.seen import Seen, Spotted
from benchmarks.detect.verdict import scores, verdict

CLOCK = tuple(0.1 * (step + 1) for step in range(100))  # step s ends at (s + 1) / 10 s


def said(kind: str = "straggler", subject: str = "rank 1", cause: str = "data", at: float = 7.0) -> Spotted:
    return Spotted(kind, subject, cause, at, 60, 0.2, "")


def slow(*incidents: Spotted) -> Seen:
    return Seen(Case("slow", 0, 100, (late(1, "data"),), "…", onset=60), incidents, CLOCK, None, "")


def test_delay_counts_from_the_step_at_which_the_fault_began() -> None:
    (found,) = verdict(slow(said(at=7.04))).found
    assert (found.steps, round(found.seconds, 2)) == (11, 1.04)


def test_what_is_said_before_the_fault_is_false_and_the_fault_missed() -> None:
    told = verdict(slow(said(at=4.0)))
    assert told.found[0].spotted is None
    assert len(told.false) == 1


def test_another_rank_beside_the_right_one_is_a_false_alarm() -> None:
    score = scores([verdict(slow(said(subject="rank 0", at=6.5), said()))])
    assert (score["recall"], score["precision"], score["rank_accuracy"]) == (1, 0.5, 1)


def test_another_rank_in_place_of_the_right_one_is_found_but_wrong() -> None:
    score = scores([verdict(slow(said(subject="rank 0")))])
    assert (score["recall"], score["rank_accuracy"]) == (1, 0)


def test_a_word_that_numbers_are_missing_blames_nobody_and_is_no_false_alarm() -> None:
    told = verdict(slow(said(), said("telemetry", "job", "unknown", at=8.0)))
    assert (len(told.false), len(told.abstained)) == (0, 1)


def test_false_alarms_of_healthy_runs_are_counted_by_rank_steps() -> None:
    healthy = Seen(Case("healthy", 0, 100), (said(),), CLOCK, None, "")
    assert scores([verdict(healthy)])["false_per_10000_rank_steps"] == 25


def test_hangs_are_timed_in_seconds_and_not_in_steps() -> None:
    case = Case("hang", 0, 100, (stands(("rank 1",)),), "…", onset=60, hangs=True)
    score = scores([verdict(Seen(case, (said("hang", at=13.0),), CLOCK[:60], None, ""))])
    assert (score["hang_delay_s"], score["p95_delay_steps"], score["rank_accuracy"]) == (7.0, None, 1)


def test_a_hang_is_held_against_the_time_after_which_it_is_one() -> None:
    case = Case("hang", 0, 100, (stands(("rank 1",)),), "…", onset=60, hangs=True)
    told = Spotted("hang", "rank 1", "code", 13.0, 60, 0.0, "", limit_s=5.0)
    assert scores([verdict(Seen(case, (told,), CLOCK[:60], None, ""))])["hang_after_limit_s"] == 2.0


def test_the_end_of_a_run_that_failed_names_its_rank_and_one_that_went_on_says_nothing() -> None:
    run: dict[str, Any] = {
        "outcome": "failed",
        "reason": "killed_by_signal",
        "sentence": "Rank 2 on lab-2 was ended by SIGKILL.",
    }
    run |= {"ended_at": "2026-05-01T12:00:00Z", "steps": 70}
    (told,) = ended(run)
    assert (told.kind, told.subject, told.cause) == ("failed", "rank 2", "killed_by_signal")
    assert ended({**run, "reason": "collective_mismatch"})[0].subject == "job"
    assert ended({**run, "outcome": None}) == ()
