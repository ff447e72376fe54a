from datetime import UTC, datetime, timedelta

import pytest

from tests import builders
from webapp.incidents import lifecycle
from webapp.incidents.finding import Finding
from webapp.incidents.models import Incident
from webapp.runs.wording import event_text

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATE = Finding("straggler", "rank 2", "backward", 0.25, since=40, rank=2, node_rank=1)


@pytest.fixture
def attempt():
    return builders.running_attempt(nodes=2, ranks_per_node=2)


def see(attempt, *findings: Finding, step: int, second: float) -> None:
    lifecycle.apply(attempt, findings, kinds=("straggler",), step=step, now=NOON + timedelta(seconds=second))


def kinds(row: Incident) -> list[str]:
    return [event.kind for event in row.events.all()]


def test_one_subject_has_one_incident_however_often_it_is_found(attempt) -> None:
    for second in range(5):
        see(attempt, LATE, step=50 + second, second=second)
    row = Incident.objects.get()
    assert (row.rank, row.cause, row.severity, row.opened_step, row.seen_step) == (2, "backward", "critical", 40, 54)
    assert kinds(row) == ["opened"]


def test_its_cost_is_what_the_slots_lost_while_it_was_there(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    see(attempt, LATE, step=90, second=3600)
    assert Incident.objects.get().gpu_hours == pytest.approx(4 * 0.25 / 1.25)


def test_slots_that_are_held_for_nothing_cost_their_whole_time(attempt) -> None:
    idle = Finding("straggler", "node 1", "code", 0.0, None, node_rank=1, idle_slots=2)
    see(attempt, idle, step=50, second=0)
    see(attempt, idle, step=50, second=1800)
    assert Incident.objects.get().gpu_hours == pytest.approx(1.0)
    attempt.run.refresh_from_db()
    assert attempt.run.health["node_name"] == attempt.parts.get(node_rank=1).node_name


def test_it_is_over_after_quiet_steps_and_seconds_and_not_before(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    see(attempt, step=69, second=10)
    see(attempt, step=80, second=4)
    assert Incident.objects.get().closed_at is None
    see(attempt, step=70, second=10)
    row = Incident.objects.get()
    assert row.closed_at == NOON + timedelta(seconds=10)
    assert kinds(row) == ["opened", "closed"]


def test_the_run_s_own_log_keeps_both_ends_of_it(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    see(attempt, step=90, second=10)
    told = {event.kind: event_text(event) for event in attempt.events.all()}
    node = attempt.parts.get(node_rank=1).node_name
    sentence = f"Rank 2 on {node} needs 0.0 ms more for the backward pass than its peers since step 40."
    assert told["incident_opened"].startswith(sentence)
    assert told["incident_closed"].startswith(f"Over: {sentence}")


def test_what_comes_back_soon_is_the_same_and_later_a_new_one(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    see(attempt, step=90, second=10)
    see(attempt, LATE, step=120, second=20)
    assert kinds(Incident.objects.get())[-1] == "reopened"
    see(attempt, step=200, second=40)
    see(attempt, LATE, step=900, second=4000)
    assert Incident.objects.count() == 2


def test_what_a_person_has_closed_is_not_opened_again_at_once(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    ana = builders.user("ana")
    assert lifecycle.close(Incident.objects.get(), ana, NOON)
    assert not lifecycle.close(Incident.objects.get(), ana, NOON)
    see(attempt, LATE, step=60, second=5)
    row = Incident.objects.get()
    assert (row.closed_by, kinds(row)) == ("ana", ["opened", "closed"])


def test_the_worst_open_one_is_the_run_s_health(attempt) -> None:
    small = Finding("straggler", "rank 1", "data", 0.04, since=10, rank=1)
    see(attempt, small, LATE, step=50, second=0)
    attempt.run.refresh_from_db()
    assert attempt.run.health["rank"] == 2
    assert (attempt.run.health["kind"], attempt.run.health["slowdown"]) == ("straggler", 0.25)
    see(attempt, step=90, second=10)
    attempt.run.refresh_from_db()
    assert attempt.run.health == {}


def test_an_older_attempt_s_incident_says_nothing_about_the_run_now(attempt) -> None:
    attempt.run.attempt_count = 2
    attempt.run.save()
    see(attempt, LATE, step=50, second=0)
    attempt.run.refresh_from_db()
    assert attempt.run.health == {}


def test_getting_worse_and_a_new_cause_are_in_the_timeline(attempt) -> None:
    see(attempt, Finding("straggler", "rank 2", "unknown", 0.04, since=40, rank=2), step=50, second=0)
    see(attempt, LATE, step=60, second=2)
    row = Incident.objects.get()
    assert kinds(row) == ["opened", "worse", "cause"]
    assert (row.severity, row.cause) == ("critical", "backward")


def test_a_slow_network_that_is_placed_later_is_still_one_incident(attempt) -> None:
    job = Finding("network", "job", "network", 0.3, since=40)
    link = Finding("network", "link 1-0", "network", 0.3, since=40, probable=False, link=(1, 0))
    for second, finding in enumerate((job, link, link)):
        lifecycle.apply(attempt, [finding], kinds=("network",), step=50, now=NOON + timedelta(seconds=second))
    row = Incident.objects.get()
    assert (row.subject, row.link, row.probable, row.opened_at) == ("link 1-0", [1, 0], False, NOON)
    assert kinds(row) == ["opened", "placed"]


def test_people_acknowledge_once_assign_and_comment(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    row, ana, ben = Incident.objects.get(), builders.user("ana"), builders.user("ben")
    assert lifecycle.acknowledge(row, ana, NOON)
    assert not lifecycle.acknowledge(row, ben, NOON)
    lifecycle.assign(row, ana, ben, NOON)
    lifecycle.comment(row, ben, "The fan is broken.", NOON)
    row.refresh_from_db()
    assert (row.acknowledged_by, row.assignee) == (ana, ben)
    assert [(e.kind, e.actor, e.text) for e in row.events.all()][1:] == [
        ("acknowledged", "ana", ""), ("assigned", "ana", ""), ("comment", "ben", "The fan is broken."),
    ]  # fmt: skip


def test_no_detector_contradicts_a_person_who_has_confirmed_the_cause(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    lifecycle.confirm(Incident.objects.get(), builders.user("ana"), "gpu", NOON)
    see(attempt, LATE, step=60, second=5)
    row = Incident.objects.get()
    assert (row.cause, row.probable, row.cause_by, row.seen_step) == ("gpu", False, "ana", 60)
    assert kinds(row) == ["opened", "confirmed"]
    assert row.attempt.run.health["cause"] == "gpu"


def test_a_run_that_ends_ends_its_incidents(attempt) -> None:
    see(attempt, LATE, step=50, second=0)
    lifecycle.end(attempt, NOON)
    assert [event.data for event in Incident.objects.get().events.filter(kind="closed")] == [{"run_ended": True}]
