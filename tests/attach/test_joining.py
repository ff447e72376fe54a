"""One job is one run, however many nodes attach and however often it is launched again."""

import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from tests import builders
from tests.api.asking import asker
from trainer_agent.wire.messages import Event, Inventory
from webapp.nodes.enrol import Joined
from webapp.nodes.models import Command, CommandKind, Node
from webapp.nodes.reach import reachable, total_slots
from webapp.projects.models import Project, Role
from webapp.runs import lifecycle
from webapp.runs.attached import Call, attach
from webapp.runs.models import Attempt, AttemptNode, Outcome, Run, Status
from webapp.runs.spec import RunSpec
from workers.upkeep import retire_attached

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR, vic=Role.VIEWER)


def call(project: Project, member: str, **said) -> Call:
    argv = ["torchrun", "--nnodes=2", "train.py"]
    defaults = {
        "project": project,
        "owner": project.members.get(username="ana"),
        "name": "train",
        "member": member,
        "job": "job 7",
        "launch": "",
        "node_rank": None,
        "spec": RunSpec(attached=True, argv=argv, nodes=2, ranks_per_node=1),
        "inventory": Inventory(hostname="gpu-a", address="10.0.0.1", slots=[]),
    }
    return Call(**{**defaults, **said})


def tell(part: AttemptNode, kind: str, rank: int | None = None, **data) -> None:
    event = Event(kind=kind, at=timezone.now().timestamp(), rank=rank, data=data)
    lifecycle.apply_event(AttemptNode.objects.select_related("node").get(pk=part.pk), event)


def finish(part: AttemptNode, code: int, **more) -> None:
    tell(part, "finished", launcher_code=code, launcher_signal=None, survivors=[], reason="exited", **more)


def newest() -> Attempt:
    return Attempt.objects.select_related("run").order_by("-pk")[0]


def test_two_nodes_of_one_job_are_one_run(project):
    first, _ = attach(call(project, "a" * 16))
    second, _ = attach(call(project, "b" * 16))

    assert Run.objects.count() == Attempt.objects.count() == 1
    assert (first.node_rank, second.node_rank) == (0, 1)
    assert (first.node_name, second.node_name) == ("gpu-a", "gpu-a-2")
    assert newest().status == Status.STARTING


def test_a_repeated_call_is_the_same_part_with_new_credentials(project):
    first, before = attach(call(project, "a" * 16))
    again, after = attach(call(project, "a" * 16))

    assert again == first
    assert isinstance(after, Joined)
    assert before.token != after.token
    assert Node.objects.count() == 1


def test_without_a_job_every_launch_is_a_run_of_its_own(project):
    attach(call(project, "a" * 16, job=""))
    attach(call(project, "b" * 16, job=""))

    assert Run.objects.count() == 2


def test_ranks_tell_how_large_the_launch_is(project):
    part, _ = attach(call(project, "a" * 16))

    tell(part, "rank_started", rank=3, pid=12, local_rank=1, world_size=8)

    run = newest().run
    assert (run.status, run.world_size, run.spec["nodes"], run.spec["ranks_per_node"]) == (Status.RUNNING, 8, 2, 4)
    assert newest().ranks.get().local_rank == 1


def test_a_launch_whose_commands_all_end_with_0_has_succeeded(project):
    parts = [attach(call(project, letter * 16))[0] for letter in "ab"]
    for rank, part in enumerate(parts):
        tell(part, "rank_started", rank=rank, pid=1, local_rank=0, world_size=2)
        tell(part, "rank_exited", rank=rank, code=0, signal=None)
        assert newest().status == Status.RUNNING
        finish(part, 0)

    assert (newest().status, newest().outcome) == (Status.ENDED, Outcome.SUCCEEDED)


def test_a_failed_node_is_told_at_once_and_orders_nobody_to_stop(project):
    first, _ = attach(call(project, "a" * 16))
    second, _ = attach(call(project, "b" * 16))

    finish(first, 3, detail="Traceback\nValueError: no")

    attempt = newest()
    assert (attempt.outcome, attempt.cause, attempt.reason) == (Outcome.FAILED, "code", "command_exit")
    assert attempt.detail["text"] == "ValueError: no"
    assert not Command.objects.exists()
    assert lifecycle.request_stop(attempt.run, "ana")
    assert list(Command.objects.values_list("kind", "node")) == [(CommandKind.STOP, second.node_id)]
    finish(second, 1)
    assert newest().status == Status.ENDED


def test_a_launch_again_after_the_end_is_the_next_attempt_of_the_same_run(project):
    for letter in "ab":
        finish(attach(call(project, letter * 16, node_rank="ab".index(letter)))[0], 1)
    part, _ = attach(call(project, "c" * 16, node_rank=0))

    assert Run.objects.get().attempt_count == part.attempt.number == 2


def test_a_node_that_comes_late_still_belongs_to_its_launch(project):
    first, _ = attach(call(project, "a" * 16, node_rank=0))
    finish(first, 1)

    second, _ = attach(call(project, "b" * 16, node_rank=1))

    assert second.attempt == first.attempt


def test_a_requeued_job_does_not_join_the_launch_that_was_killed_without_a_word(project):
    first, _ = attach(call(project, "a" * 16, launch="0"))
    second, _ = attach(call(project, "b" * 16, launch="1"))

    old = Attempt.objects.get(pk=first.attempt_id)
    assert second.attempt.number == 2
    assert (old.status, old.outcome, old.reason) == (Status.ENDED, Outcome.LOST, "superseded")
    assert newest().run.status == Status.STARTING


def test_a_place_whose_agent_fell_silent_is_taken_by_a_new_launch(project):
    attach(call(project, "a" * 16, node_rank=0))
    Node.objects.update(last_heard=timezone.now() - timedelta(minutes=1))

    second, _ = attach(call(project, "b" * 16, node_rank=0))

    assert second.attempt.number == 2


def test_nothing_is_ever_placed_on_the_node_of_a_launch(project):
    attach(call(project, "a" * 16))

    assert not reachable(timezone.now()).exists()
    assert total_slots() == []


def test_a_node_that_is_done_goes_and_one_that_is_not_stays(project):
    first, _ = attach(call(project, "a" * 16))
    second, _ = attach(call(project, "b" * 16))
    finish(first, 0)
    AttemptNode.objects.filter(pk=first.pk).update(finished_at=timezone.now() - timedelta(minutes=2))

    retire_attached()

    assert list(Node.objects.filter(removed_at=None)) == [second.node]
    assert AttemptNode.objects.get(pk=second.pk).lost_at is None


def test_a_deleted_run_is_watched_no_more_and_goes_on(project):
    part, _ = attach(call(project, "a" * 16))

    lifecycle.delete(part.attempt.run, "ana")

    assert list(Command.objects.values_list("kind", flat=True)) == [CommandKind.FORGET]
    again, _ = attach(call(project, "b" * 16))
    assert again.attempt.run != part.attempt.run


def test_it_cannot_be_run_again_from_here(project):
    part, _ = attach(call(project, "a" * 16))
    finish(part, 0)

    with pytest.raises(lifecycle.WrongState, match="not launched here"):
        lifecycle.restart(part.attempt.run, "ana")


@pytest.mark.django_db(transaction=True)
def test_nodes_that_call_at_the_same_moment_meet_in_one_run():
    project = builders.project("demo", ana=Role.EDITOR)
    problems: list[Exception] = []

    def join(member: str) -> None:
        try:
            attach(call(project, member))
        except Exception as error:
            problems.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=join, args=(letter * 16,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []
    assert Run.objects.count() == Attempt.objects.count() == 1
    assert sorted(AttemptNode.objects.values_list("node_rank", flat=True)) == list(range(8))


def asked(**fields) -> dict:
    inventory = {"hostname": "gpu-a", "address": "10.0.0.1", "slots": []}
    return {"name": "t", "member": "m" * 16, "argv": ["torchrun", "t.py"], "inventory": inventory, **fields}


def test_an_editor_attaches_over_http_and_learns_where_it_is_seen(project, redis_client):
    answer = asker("ana").post("/attach", asked(job="job 1")).json()

    assert answer["url"].endswith(f"/runs/{answer['run']}/")
    assert answer["redis_url"].startswith(f"redis://{answer['node']}:")
    assert redis_client.acl_getuser(answer["node"]) is not None
    shown = asker("ana").get(f"/runs/{answer['run']}").json()
    assert (shown["command"], shown["status"]) == ("torchrun t.py", "starting")


def test_viewers_strangers_and_nobody_attach_nothing(project, redis_client):
    builders.user("sam")

    assert asker("vic").post("/attach", asked(project="demo")).status_code == 403
    assert asker("sam").post("/attach", asked(project="demo")).status_code == 404
    assert asker("sam").post("/attach", asked()).status_code == 403
    assert not Run.objects.exists()


def test_who_is_in_several_projects_is_asked_for_one(project, redis_client):
    builders.project("other", ana=Role.EDITOR)

    refused = asker("ana").post("/attach", asked()).json()

    assert "--project" in refused["fields"]["project"]
    assert "demo, other" in refused["fields"]["project"]


def test_an_attached_run_is_not_made_by_the_ordinary_call(project, redis_client):
    wish = {"project": "demo", "name": "t", "argv": ["torchrun", "t.py"], "attached": True}

    assert asker("ana").post("/runs", wish).status_code == 422
