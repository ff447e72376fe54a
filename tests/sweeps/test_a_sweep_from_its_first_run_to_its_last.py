"""A sweep's rounds, with runs that are ended by hand and losses stored as ingest stores them."""

import pytest

from tests import builders
from tests.control.cluster import finish, part_of, say
from tests.telemetry.batches import tail, values
from webapp.projects.models import Role
from webapp.runs import scheduler
from webapp.runs.models import Run, RunEvent, Status
from webapp.runs.secrets import values_of
from webapp.sweeps import lifecycle
from webapp.sweeps.models import Ended, State, Sweep
from workers.sweeps import turn

pytestmark = pytest.mark.django_db


def started(method="grid", space=(("--lr", "0.1, 0.2, 0.3"),), **asked) -> Sweep:
    project = builders.project("demo", ana=Role.EDITOR)
    for _node in range(asked.get("parallel", 2)):
        builders.node(slots=1)
    fields = {"name": "lr", "most_runs": 3, "parallel": 2, "goal": "loss", "method": method, **asked}
    owner = project.memberships.get().user
    spec = builders.spec(nodes=1, ranks_per_node=1)
    return lifecycle.create(
        project=project, owner=owner, spec=spec, secrets={"KEY": "hush"}, space=[list(row) for row in space], **fields
    )  # fmt: skip


def run_to(sweep: Sweep, number: int, losses: dict[int, float], code: int | None = 0) -> None:
    """The run of a trial logs these losses and, unless `code` is None, ends."""
    scheduler.place_queued()
    attempt = run_of(sweep, number).attempts.latest("number")
    if attempt.status == Status.STARTING:
        for kind in ("accepted", "launched"):
            say(part_of(attempt, 0), kind, pid=1)
        say(part_of(attempt, 0), "rank_started", 0, pid=100)
    tail(attempt, attempt.tails.count() + 1, values=[values("loss", 0, losses)])
    if code is not None:
        finish(attempt, code)


def run_of(sweep: Sweep, number: int) -> Run:
    run = sweep.trials.get(number=number).run
    assert run is not None
    return run


def states(sweep: Sweep) -> list[str]:
    return [trial.state for trial in sweep.trials.order_by("number")]


def test_a_grid_runs_side_by_side_until_all_are_made():
    sweep = started()
    turn()
    turn()
    assert states(sweep) == ["running", "running"]
    first = run_of(sweep, 1)
    assert first.spec["argv"] == ["/srv/train.py", "--lr", "0.1"]
    assert (first.name, first.group, values_of(first)) == ("lr 1", "lr", {"KEY": "hush"})
    run_to(sweep, 1, {0: 3.0, 9: 1.5})
    turn()
    assert states(sweep) == ["done", "running", "running"]
    run_to(sweep, 2, {0: 3.0, 9: 0.5})
    run_to(sweep, 3, {0: 3.0, 9: 2.5})
    turn()
    sweep.refresh_from_db()
    assert (sweep.ended, states(sweep)) == (Ended.DONE, ["done", "done", "done"])
    assert [trial.value for trial in sweep.trials.all()] == [1.5, 0.5, 2.5]
    assert sweep.trials.get(number=2).curve == [[0, 3.0], [9, 0.5]]


def test_a_run_that_falls_behind_is_stopped_early_and_counted_so():
    sweep = started("random", (("--lr", "log 1e-5..1e-1"),), most_runs=9, parallel=5, early=True, not_before=5)
    turn()
    for number in range(1, 5):
        run_to(sweep, number, {0: 3.0, 6: 1.2, 10: 1.0})
    run_to(sweep, 5, {0: 3.0, 4: 2.9}, code=None)
    turn()
    assert not sweep.trials.get(number=5).given_up
    run_to(sweep, 5, {8: 2.8}, code=None)
    turn()
    behind = sweep.trials.get(number=5)
    assert (behind.given_up, behind.state, run_of(sweep, 5).attempts.get().status) == (
        True,
        State.RUNNING,
        Status.STOPPING,
    )
    finish(run_of(sweep, 5).attempts.get(), code=-15)
    turn()
    assert states(sweep)[4] == State.EARLY
    assert RunEvent.objects.filter(run=behind.run, actor="sweep lr").exists()


def test_five_failures_in_a_row_end_a_sweep():
    sweep = started("random", (("--lr", "0..1"),), most_runs=50, parallel=1)
    for number in range(1, 6):
        turn()
        run_to(sweep, number, {0: 1.0}, code=1)
    turn()
    sweep.refresh_from_db()
    assert (sweep.ended, sweep.trials.count()) == (Ended.FAILING, 5)


def test_an_owner_who_may_no_longer_launch_starts_nothing_more():
    sweep = started()
    sweep.project.memberships.update(role=Role.VIEWER)
    turn()
    sweep.refresh_from_db()
    assert (sweep.ended, sweep.trials.count()) == (Ended.NO_RIGHT, 0)


def test_stopping_a_sweep_stops_its_runs_and_starts_no_others():
    sweep = started()
    turn()
    lifecycle.stop(sweep, "ana")
    turn()
    sweep.refresh_from_db()
    assert (sweep.ended, states(sweep)) == (Ended.STOPPED, ["stopped", "stopped"])
    assert {run_of(sweep, number).actor for number in (1, 2)} == {"ana"}


def test_secrets_that_cannot_be_read_end_a_sweep(settings):
    sweep = started()
    settings.SECRET_KEY = "another key, by chance"
    turn()
    sweep.refresh_from_db()
    assert (sweep.ended, sweep.trials.count()) == (Ended.NO_SECRETS, 0)
