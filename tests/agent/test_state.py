"""The state machine alone: no process, no file, no clock."""

from typing import Any

import pytest

from trainer_agent.agent import happenings as h
from trainer_agent.agent.state import AttemptState, Phase
from trainer_agent.wire.messages import StartAttempt


def command(command_id: int = 1, port: int = 4000) -> StartAttempt:
    return StartAttempt(
        v=1,
        id=command_id,
        attempt=7,
        run="r-1",
        attempt_number=1,
        node_rank=0,
        nnodes=1,
        ranks_per_node=2,
        master_addr="127.0.0.1",
        master_port=port,
        argv=["a.py"],
    )


def after(*happenings: h.Happening) -> AttemptState:
    state = AttemptState()
    for happening in happenings:
        state.handle(happening)
    return state


def reports(actions: list[h.Action]) -> list[str]:
    return [action.kind for action in actions if isinstance(action, h.Report)]


STARTED = (h.Start(command()), h.Ready(1), h.ShimUp(5))
EXIT: dict[str, Any] = {"launcher_code": 0, "launcher_signal": None, "survivors": [], "reason": "exited", "at": 1.0}


def test_the_way_of_a_run_that_goes_well():
    state = AttemptState()
    seen: list[str] = []
    told: list[str] = []
    for happening in (*STARTED, h.RankStarted(0, 1.0, {}), h.RankExited(0, 2.0, {"code": 0}), h.ShimExited(EXIT)):
        told += reports(state.handle(happening))
        seen.append(state.phase)
    assert seen == ["preparing", "launching", "running", "running", "running", "draining"]
    told += reports(state.handle(h.Drained()))
    assert told == ["accepted", "launched", "rank_started", "rank_exited", "finished"]
    assert state.handle(h.Acknowledged()) == [h.CleanUp()]
    assert state.phase is Phase.GONE


def test_the_same_start_twice_is_one_start():
    state = after(*STARTED)
    assert state.handle(h.Start(command())) == []
    assert state.phase is Phase.RUNNING


def test_finished_is_told_only_after_everything_was_read():
    state = after(*STARTED)
    assert state.handle(h.ShimExited(EXIT)) == []
    assert reports(state.handle(h.Drained())) == ["finished"]
    assert state.handle(h.Drained()) == []


def test_a_port_in_use_waits_for_another_start_and_takes_it():
    state = after(h.Start(command(1)))
    assert reports(state.handle(h.CannotStart(1, "port_in_use", "taken"))) == ["refused"]
    assert state.phase is Phase.REFUSED
    actions = state.handle(h.Start(command(2, port=4001)))
    assert actions == [h.Report("accepted", {"command": 2}), h.Prepare(command(2, port=4001))]


def test_any_other_refusal_is_the_end():
    state = after(h.Start(command()))
    actions = state.handle(h.CannotStart(1, "no_script", "/x.py does not exist"))
    assert reports(actions) == ["refused", "finished"]
    assert state.phase is Phase.FINISHED


def test_a_port_taken_between_the_look_and_the_launch_counts_as_refused():
    state = after(*STARTED)
    actions = state.handle(h.ShimExited({**EXIT, "launcher_code": 1}, port_in_use=True))
    assert reports(actions) == ["refused"]
    assert h.Reset() in actions
    assert state.phase is Phase.REFUSED


def test_a_stop_before_anything_runs_is_the_end_at_once():
    for before in ((), (h.Start(command()),), (h.Start(command()), h.CannotStart(1, "port_in_use", ""))):
        state = after(*before)
        assert reports(state.handle(h.Stop("SIGTERM", 5, "user"))) == ["finished"]
        assert state.handle(h.Ready(1)) == []


def test_a_stop_while_it_runs_goes_to_the_shim_and_is_told_once():
    state = after(*STARTED)
    assert state.handle(h.Stop("SIGUSR1", 9, "user")) == [h.WriteStop("SIGUSR1", 9, "user")]
    assert reports(state.handle(h.StopSeen({"signal": "SIGUSR1"}))) == ["stopping"]
    assert state.handle(h.StopSeen({"signal": "SIGUSR1"})) == []
    state.handle(h.ShimExited(EXIT))
    assert state.handle(h.Stop("SIGTERM", 0, "user")) == []


def test_a_start_with_another_port_replaces_a_launch_in_which_no_rank_lives():
    state = after(*STARTED)
    assert h.WriteStop("SIGKILL", 0.0, "started_again") in state.handle(h.Start(command(2, 4001)))
    assert state.handle(h.StopSeen({})) == []
    assert state.handle(h.ShimExited(EXIT)) == [h.Reset(), h.Prepare(command(2, 4001))]
    assert state.phase is Phase.PREPARING


@pytest.mark.parametrize("before", [(), STARTED[:1], STARTED, (*STARTED, h.ShimExited(EXIT))])
def test_forget_removes_everything_and_kills_first_what_lives(before: tuple[h.Happening, ...]):
    state = after(*before)
    actions = state.handle(h.Forget())
    if state.phase is Phase.FORGETTING:
        assert actions == [h.WriteStop("SIGKILL", 0.0, "forgotten")]
        actions = state.handle(h.ShimExited(EXIT))
    assert actions == [h.Remove()]
    assert state.phase is Phase.GONE


def test_a_lost_shim_is_cleaned_up_and_then_tells_its_end():
    state = after(*STARTED)
    assert state.handle(h.ShimLost()) == [h.CleanTree()]
    state.handle(h.ShimExited({**EXIT, "launcher_code": None, "reason": "shim_lost"}))
    finished = state.handle(h.Drained())[0]
    assert isinstance(finished, h.Report)
    assert finished.data["reason"] == "shim_lost"


def test_what_was_got_ready_for_an_older_command_is_ignored():
    state = after(h.Start(command(1)), h.Start(command(2, 4001)))
    assert state.handle(h.Ready(1)) == []
    assert state.handle(h.Ready(2)) == [h.Launch(command(2, 4001))]
