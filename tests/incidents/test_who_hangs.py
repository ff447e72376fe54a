"""Every row of the table of hangs, from the facts of the ranks alone."""

from typing import Any

import msgspec
import pytest

from webapp.incidents import autopsy
from webapp.incidents.hang import words
from webapp.incidents.hang.facts import Facts, facts_of
from webapp.incidents.hang.stacks import groups
from webapp.incidents.hang.verdict import BUSY, SLOW_BY_NATURE, UNHEARD, USUAL, judge

TRAIN = "/srv/code/train.py"
IN_BACKWARD = [
    {"name": "_engine_run_backward", "filename": "torch/autograd/graph.py", "line": 865},
    {"name": "main", "filename": TRAIN, "line": 70},
]
READS = [
    {"name": "read", "filename": "/usr/lib/python3.11/socket.py", "line": 9},
    {"name": "batches", "filename": TRAIN, "line": 30},
    {"name": "main", "filename": TRAIN, "line": 60},
]


def rank(**changes: Any) -> Facts:
    """One that waits for the others in the backward pass of step 40."""
    told = {
        "alive": True,
        "state": "S",
        "steps": 40,
        "collectives": 41,
        "phase": "exposed_comm",
        "in_phase_s": 6.0,
        "no_step_s": 6.1,
        "answered": True,
        "stacks": [{"thread": "MainThread", "frames": IN_BACKWARD}],
    }
    return facts_of({**told, **changes})


def behind(**changes: Any) -> Facts:
    """One that has not come to the collective."""
    return rank(**{"collectives": 40, "phase": "other", "stacks": [{"frames": READS}], **changes})


def job(**culprits: Facts) -> dict[int, Facts]:
    """Four ranks that wait, but for those given as r0 … r3."""
    return {k: culprits.get(f"r{k}", rank()) for k in range(4)}


def flight(seq: int, name: str = "gloo:all_reduce", size: int = 4, done: int | None = None, line: int = 0) -> dict:
    return {
        "version": "2.10",
        "pg_config": {"": {"name": "", "desc": "", "ranks": "[0, 1, 2, 3]"}},
        "pg_status": {
            "0": {"last_enqueued_collective": seq, "last_completed_collective": seq - 1 if done is None else done}
        },
        "entries": [
            {
                "pg_id": 0,
                "process_group": ["0", ""],
                "collective_seq_id": seq,
                "profiling_name": name,
                "input_sizes": [[size]],
                "input_dtypes": ["Float"],
                "frames": [{"name": "main", "filename": TRAIN, "line": line}],
            }
        ],
    }


def head(found: dict[int, Facts]) -> str:
    return words.head(autopsy.stored(judge(found)))


def test_a_rank_that_is_stopped_is_named_whatever_else_is_seen():
    found = judge(job(r2=behind(state="T", answered=False)))
    assert (found.kind, found.ranks, found.victims, found.probable) == ("stopped", (2,), (0, 1, 3), False)
    assert head(job(r2=behind(state="T"))) == (
        "Rank 2 did not come along: stopped, by a signal, a debugger or a frozen container."
    )


def test_a_rank_whose_process_is_gone_is_named():
    assert judge(job(r1=facts_of({"alive": False}))).ranks == (1,)


def test_no_rank_left_is_an_end_and_no_hang():
    assert judge({0: facts_of({"alive": False}), 1: facts_of({"alive": False})}).kind == "over"


def test_ranks_that_have_ended_while_nobody_waits_for_them_are_an_end_and_no_hang():
    ended = facts_of({"alive": False})
    assert judge({0: ended, 1: rank(phase="other"), 2: ended}).kind == "moving"


def test_ranks_of_a_node_that_cannot_be_reached_are_named():
    found = judge({0: rank(), 1: rank()}, unreachable=(2, 3))
    assert (found.kind, found.ranks, found.cause) == ("node", (2, 3), "network")


def test_the_line_that_is_told_is_the_scripts_and_not_the_probes():
    probe = {"name": "call", "filename": "/opt/paceline/trainer_agent/rank/guard.py", "line": 73}
    ranks = {k: rank(flight=flight(9, line=12)) for k in range(4)}
    ranks[1] = rank(flight=flight(9, size=8, line=44))
    for one in ranks.values():
        assert one.flight is not None
        one.flight["entries"][0]["frames"].insert(0, probe)
    assert "(train.py:44 in main)" in head(ranks)
    assert "at train.py:30 in batches" in head(job(r1=behind(stacks=[{"frames": [probe, *READS]}])))


def test_while_ranks_have_not_answered_a_verdict_that_names_nobody_waits():
    waiting = {0: rank(), 1: rank()}
    assert judge(waiting).kind == "library"
    unheard = judge(waiting, unheard=True)
    assert (unheard.kind, unheard.ranks, unheard.patience) == ("unknown", (), UNHEARD)
    assert judge({**waiting, 2: behind()}, unheard=True).ranks == (2,)
    assert judge({0: rank()}, unreachable=(1,), unheard=True).kind == "node"


def test_a_rank_that_computes_and_answers_nobody_has_its_interpreter_held():
    found = judge(job(r3=behind(state="R", main_cpu=0.98, answered=False)))
    assert (found.kind, found.ranks, found.cause) == ("busy", (3,), "code")


def test_a_rank_that_sleeps_in_the_kernel_waits_for_storage():
    found = judge(job(r0=behind(state="D", wchan="nfs_wait", phase="data")))
    assert (found.kind, found.ranks, found.cause) == ("storage", (0,), "data")


@pytest.mark.parametrize(
    ("phase", "cause"), [("data", "data"), ("other", "other"), ("optimizer", "other"), ("forward", "code")]
)
def test_a_rank_behind_its_peers_is_named_with_its_phase_and_its_own_line(phase, cause):
    found = judge(job(r1=behind(phase=phase)))
    assert (found.kind, found.ranks, found.cause, found.patience) == ("behind", (1,), cause, USUAL)
    assert found.frame is not None
    assert (found.frame.filename, found.frame.line) == (TRAIN, 30)


def test_two_ranks_behind_are_both_named_and_one_further_on_is_not():
    found = judge(job(r0=behind(steps=39), r3=behind(steps=39), r1=behind()))
    assert found.ranks == (0, 3)
    assert "Ranks 0 and 3 did not come along: in code between the phases for 6 s, at train.py:30 in batches." in (
        head(job(r0=behind(steps=39), r3=behind(steps=39)))
    )


def test_the_flight_recorder_names_who_called_fewer_where_our_own_count_does_not():
    silent = {"phase": "", "steps": None, "collectives": 0}
    ranks = {k: rank(**silent, flight=flight(9)) for k in range(4)}
    ranks[2] = rank(**silent, flight=flight(7, done=7))
    assert (judge(ranks).kind, judge(ranks).ranks) == ("behind", (2,))


def test_different_collectives_under_one_number_are_shown_with_both_lines():
    ranks = {k: rank(flight=flight(9, line=12)) for k in range(4)}
    ranks[1] = rank(flight=flight(9, size=8, line=44))
    found = judge(ranks)
    assert (found.kind, found.ranks, found.cause) == ("call", (1,), "code")
    assert head(ranks) == (
        "Rank 1 did not come along: called all_reduce 8 Float (train.py:44 in main) "
        "where the others called all_reduce 4 Float (train.py:12 in main)."
    )


def test_a_device_that_completed_fewer_than_its_peers_is_named_on_nccl_only():
    def ranks(library: str) -> dict[int, Facts]:
        found = {k: rank(flight=flight(9, f"{library}:all_reduce", done=8)) for k in range(4)}
        return {**found, 3: rank(flight=flight(9, f"{library}:all_reduce", done=6))}

    assert (judge(ranks("nccl")).kind, judge(ranks("nccl")).ranks) == ("device", (3,))
    assert judge(ranks("gloo")).kind == "library"


def test_one_that_waits_in_an_earlier_collective_than_its_peers_is_named():
    assert judge(job(r2=rank(collectives=38))).ranks == (2,)


def test_bytes_that_nobody_acknowledges_mean_a_cut_network():
    stuck = [{"peer": "10.0.0.2", "port": 40001, "waiting": 65536, "tries": 5}]
    ranks = job(r0=rank(stuck_sockets=stuck))
    assert (judge(ranks).kind, judge(ranks).ranks, judge(ranks).cause) == ("partition", (), "network")
    assert "rank 0 to 10.0.0.2 is not acknowledged" in head(ranks)


def test_all_in_the_same_collective_with_idle_wires_is_the_library_or_a_device():
    assert judge(job()).kind == "library"


def test_all_at_the_same_place_outside_of_a_collective_blames_nobody_and_waits_longer():
    found = judge({k: behind() for k in range(4)})
    assert (found.kind, found.ranks, found.patience) == ("together", (), BUSY)
    assert judge({k: behind(main_cpu=0.9) for k in range(4)}).patience == SLOW_BY_NATURE


@pytest.mark.parametrize(
    "frames",
    [
        [],
        [{"name": "_shutdown", "filename": "/usr/lib/python3.11/threading.py", "line": 1553}],
        [
            {"name": "destroy_process_group", "filename": "torch/distributed/distributed_c10d.py", "line": 2200},
            {"name": "main", "filename": TRAIN, "line": 90},
        ],
    ],
)
def test_ranks_that_are_on_their_way_out_after_the_last_step_have_time(frames):
    ends = {k: behind(phase="other", stacks=[{"thread": "MainThread", "frames": frames}]) for k in range(4)}
    assert (judge(ends).kind, judge(ends).patience) == ("together", SLOW_BY_NATURE)
    assert judge({**ends, 3: behind(phase="data")}).patience == BUSY


def test_an_evaluation_in_which_every_rank_begins_phases_is_no_hang():
    assert judge({k: behind(in_phase_s=0.2) for k in range(4)}).kind == "moving"


def test_a_run_that_makes_steps_is_not_stuck_wherever_each_rank_happens_to_be():
    ranks = job(r1=behind(no_step_s=0.1))
    ranks = {number: msgspec.structs.replace(facts, no_step_s=0.2) for number, facts in ranks.items()}
    assert judge(ranks, quick=2.0).kind == "moving"
    assert judge({**ranks, 1: behind(no_step_s=3.0)}, quick=2.0).ranks == (1,)


def test_a_checkpoint_of_one_rank_for_which_the_others_wait_gets_more_time():
    save = [{"name": "save", "filename": "torch/serialization.py", "line": 900}, *READS]
    found = judge(job(r0=behind(stacks=[{"frames": save}])))
    assert (found.ranks, found.task, found.patience) == ((0,), "saving", SLOW_BY_NATURE)


def test_nothing_known_blames_nobody():
    assert judge({}).kind == "unknown"
    assert facts_of({"alive": "certainly", "stacks": 3}) == Facts()


def test_ranks_at_the_same_place_stand_together_the_lonely_ones_first():
    found = groups(job(r1=behind()))
    assert [group.ranks for group in found] == [(1,), (0, 2, 3)]
