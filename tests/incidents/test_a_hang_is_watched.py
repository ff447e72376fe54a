"""From rows alone: when nodes are asked, when a hang is opened and with whom, and when it is over."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from tests import builders
from tests.control.cluster import say
from tests.incidents.test_who_hangs import behind, rank
from tests.telemetry.batches import steps
from trainer_agent.wire import codec, messages
from webapp.incidents import words
from webapp.incidents.hang.facts import Facts
from webapp.incidents.models import Autopsy, Incident
from webapp.nodes.commands import to_wire
from webapp.nodes.models import Command, CommandKind
from webapp.runs.models import Attempt, RankState
from webapp.telemetry.models import Tail
from workers import fresh, hang, idle

pytestmark = pytest.mark.django_db


@pytest.fixture
def attempt():
    """Two nodes, four ranks, steps of about 0.1 s up to step 39."""
    row = builders.running_attempt(nodes=2, ranks_per_node=2)
    batch = messages.Batch(v=1, attempt=row.pk, node="n", seq=1, sent_at=0.0, steps=[steps([0, 1], range(40))])
    Tail.objects.create(attempt=row, node_rank=0, seq=1, payload=codec.encode(batch))
    return row


def stands_still(attempt: Attempt, seconds: float, now: datetime, last_step: int | None = 39) -> None:
    """Its step moved so long ago; its nodes are heard, and their samples arrive."""
    moved = None if last_step is None else now - timedelta(seconds=seconds)
    started = now - timedelta(seconds=seconds)
    Attempt.objects.filter(pk=attempt.pk).update(
        progress_at=moved, last_step=last_step, telemetry_at=now, started_at=started
    )
    attempt.refresh_from_db()


def answer(attempt: Attempt, facts: dict[int, Facts]) -> None:
    """What the nodes tell about these ranks."""
    import msgspec

    asked = Autopsy.objects.first()
    assert asked is not None
    for number, found in facts.items():
        part = attempt.parts.get(node_rank=number // 2)
        data: Any = msgspec.to_builtins(found)
        say(part, "autopsy", number, asked=asked.pk, **data)


def look(attempt: Attempt, now: datetime) -> None:
    with transaction.atomic():
        hang.look_at(attempt, now)


def test_the_nodes_are_asked_before_the_time_is_over_and_once_only(attempt):
    now = timezone.now()
    stands_still(attempt, 2.0, now)
    look(attempt, now)
    assert not Command.objects.exists()
    stands_still(attempt, 3.0, now)
    for _round in range(2):
        look(attempt, now)
    orders = list(Command.objects.filter(kind=CommandKind.AUTOPSY))
    assert len(orders) == 2
    assert to_wire(orders[0]) == messages.AutopsyAttempt(
        v=1, id=orders[0].pk, attempt=attempt.pk, asked=Autopsy.objects.get().pk
    )
    assert not Incident.objects.exists()


def test_a_hang_names_the_culprit_with_its_line_and_is_over_when_the_step_moves(attempt):
    now = timezone.now()
    stands_still(attempt, 3.0, now)
    look(attempt, now)
    answer(attempt, {0: rank(), 1: rank(), 2: rank(), 3: behind()})
    assert not Command.objects.filter(accepted_at=None).exists()
    stands_still(attempt, 5.1, now)
    look(attempt, now)
    row = Incident.objects.get()
    assert (row.kind, row.rank, row.node_rank, row.cause, row.severity) == ("hang", 3, 1, "other", "critical")
    assert row.victims == [0, 1, 2]
    assert words.sentence(row).endswith(
        "did not come along: in code between the phases for 6 s, at train.py:30 in batches."
    )
    assert words.sentence(row).startswith("Nothing moves since step 39. Rank 3 on ")
    assert Autopsy.objects.get().incident == row
    stands_still(attempt, 7.0, now)
    look(attempt, now)
    assert Autopsy.objects.count() == 1
    stands_still(attempt, 0.1, now, last_step=40)
    look(attempt, now)
    assert Incident.objects.get().closed_at is not None


def test_an_evaluation_is_no_hang_and_is_looked_at_again_when_it_lasts(attempt):
    now = timezone.now()
    stands_still(attempt, 3.0, now)
    look(attempt, now)
    answer(attempt, {number: behind(in_phase_s=0.1) for number in range(4)})
    stands_still(attempt, 9.0, now)
    look(attempt, now)
    assert not Incident.objects.exists()
    assert Autopsy.objects.count() == 1
    stands_still(attempt, 14.0, now)
    Autopsy.objects.update(asked_at=now - timedelta(seconds=11))
    look(attempt, now)
    assert Autopsy.objects.count() == 2


def test_a_node_that_says_nothing_is_waited_for_and_then_the_others_are_judged(attempt):
    now = timezone.now()
    stands_still(attempt, 3.0, now)
    look(attempt, now)
    answer(attempt, {0: rank(), 1: rank()})
    stands_still(attempt, 6.0, now)
    look(attempt, now)
    assert not Incident.objects.exists()
    attempt.parts.get(node_rank=1).node.__class__.objects.filter(parts__node_rank=1).update(
        last_heard=now - timedelta(seconds=6.5)  # its peers have answered meanwhile
    )
    look(attempt, now)
    row = Incident.objects.get()
    assert (row.subject, row.node_rank, row.evidence["hang"]["ranks"]) == ("node 1", 1, [2, 3])


def test_a_node_that_answers_late_is_waited_for_before_anything_vague_is_said(attempt):
    now = timezone.now()
    stands_still(attempt, 3.0, now)
    look(attempt, now)
    Autopsy.objects.update(asked_at=now - timedelta(seconds=6.5))
    stands_still(attempt, 9.5, now)
    look(attempt, now)
    assert not Incident.objects.exists()
    answer(attempt, {0: rank(), 1: rank(), 2: rank(), 3: behind()})
    look(attempt, now)
    assert Incident.objects.get().subject == "rank 3"


def test_before_the_first_step_there_are_five_minutes_and_a_script_without_torch_has_all_time(attempt):
    now = timezone.now()
    stands_still(attempt, 200.0, now, last_step=None)
    look(attempt, now)
    assert not Autopsy.objects.exists()
    stands_still(attempt, 301.0, now, last_step=None)
    look(attempt, now)
    answer(attempt, {number: rank(phase="", steps=None, answered=None) for number in range(4)})
    look(attempt, now)
    assert not Incident.objects.exists()
    answer(attempt, {number: behind(steps=0) for number in range(4)})
    stands_still(attempt, 2_000.0, now, last_step=None)
    look(attempt, now)
    assert words.sentence(Incident.objects.get()) == (
        "No step was made since the ranks started. "
        "Every rank is at the same place: in code between the phases, at train.py:30 in batches."
    )


def test_without_numbers_nothing_is_judged_and_that_is_said(attempt):
    now = timezone.now()
    stands_still(attempt, 60.0, now)
    Attempt.objects.filter(pk=attempt.pk).update(telemetry_at=now - timedelta(seconds=30))
    attempt.refresh_from_db()
    assert not fresh.is_fresh(attempt, now)
    row = Incident.objects.get()
    assert words.sentence(row).startswith("No numbers arrive. Whether the ranks work is not known")
    stands_still(attempt, 60.0, now)
    assert fresh.is_fresh(attempt, now)
    assert Incident.objects.get().closed_at is not None


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"cannot_see": {"exposed_comm": "no group"}, "collectives": 0}, "no process group was ever formed"),
        ({"cannot_see": {}, "collectives": 0}, "they never talk to each other"),
        ({"cannot_see": {}, "collectives": 50}, ""),
    ],
)
def test_ranks_that_train_beside_each_other_are_told_so(attempt, facts, says):
    now = timezone.now()
    stands_still(attempt, 0.1, now)
    RankState.objects.filter(attempt=attempt).update(facts={"steps": 50, **facts})
    idle.look_at_talk(attempt, now)
    found = [words.sentence(row) for row in Incident.objects.all()]
    assert found == ([f"4 ranks train the same thing 4 times: {says}."] if says else [])


def test_slots_that_are_held_without_a_process_are_told_after_a_minute(attempt):
    now = timezone.now()
    part = attempt.parts.get(node_rank=1)
    part.node.vitals = {"attempts": [{"attempt": attempt.pk, "ranks": []}]}
    part.node.save()
    attempt.parts.update(launched_at=now - timedelta(seconds=90))
    attempt.ranks.update(started_at=now - timedelta(seconds=89), exited_at=now - timedelta(seconds=50))
    idle.look_at_slots(now)
    assert not Incident.objects.exists()
    attempt.ranks.update(exited_at=now - timedelta(seconds=61))
    idle.look_at_slots(now)
    assert words.sentence(Incident.objects.get()) == (
        f"{part.node_name} holds 2 slots, but no rank has lived there for a minute."
    )
    part.node.vitals = {"attempts": [{"attempt": attempt.pk, "ranks": [2, 3]}]}
    part.node.save()
    idle.look_at_slots(now)
    assert Incident.objects.get().closed_at is not None


def test_a_run_that_succeeds_without_a_step_is_told_so(attempt):
    for part in attempt.parts.all():
        for one in attempt.ranks.filter(node_rank=part.node_rank):
            say(part, "rank_exited", one.rank, code=0, signal=None)
    Tail.objects.all().delete()
    for part in attempt.parts.all():
        say(part, "finished", launcher_code=0, launcher_signal=None, survivors=[], reason="exited")
    assert words.sentence(Incident.objects.get()) == (
        "All 4 ranks ended with exit code 0, but none of them made a step: nothing was trained."
    )
