"""What the round every five seconds makes of stored points and of incidents."""

import json
import math
from datetime import UTC, datetime, timedelta

import pytest

from tests import builders
from tests.incidents.found import incident
from tests.telemetry import batches
from webapp.alerts import channels, past, words
from webapp.alerts.models import Alert, Channel, Delivery, Kind, Rule, Silence
from webapp.incidents.models import Incident, Severity
from webapp.projects.models import Project
from webapp.runs import lifecycle as run_lifecycle
from webapp.runs.models import Attempt, Run, Status
from webapp.telemetry.models import Tail
from webapp.telemetry.store import compact
from workers.notify import look

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
T0 = datetime(2026, 5, 1, 12, tzinfo=UTC)


def at(seconds: float) -> datetime:
    return T0 + timedelta(seconds=seconds)


@pytest.fixture
def attempt() -> Attempt:
    made = builders.running_attempt(2, 2)
    Attempt.objects.update(started_at=T0)
    Run.objects.update(started_at=T0, created_at=T0, steps_per_s=12.5)
    made.refresh_from_db()
    return made


def rule(project: Project, **fields: object) -> Rule:
    asked = {"metric": "phase/step", "over": "any", "comparison": "above", "threshold": 0.2, "changed_at": T0}
    return Rule.objects.create(project=project, name="Slow", kind=Kind.METRIC, **{**asked, **fields})


def steps(attempt: Attempt, seq: int, numbers: range, slow: int = 0) -> None:
    """Four ranks; a step ends every 80 ms from T0 on and takes 80 ms, plus `slow` ms."""
    late = {2: slow} if slow else None
    batches.tail(attempt, seq, steps=[batches.steps(range(4), numbers, slow=late, end=T0.timestamp())])


def alert() -> Alert:
    return Alert.objects.get(rule__kind=Kind.METRIC)


def test_a_rule_opens_one_alert_says_it_once_and_closes_it(attempt: Attempt) -> None:
    channels.add(attempt.run.project, Channel.Kind.EMAIL, "ana@example.org", "")
    rule(attempt.run.project, hold_s=2)
    steps(attempt, 1, range(100))
    look(at(8))
    assert not Alert.objects.exists()
    steps(attempt, 2, range(100, 200), slow=300)
    look(at(9.9))
    assert not Alert.objects.exists()
    for moment in (12, 16, 17):
        look(at(moment))
    row = alert()
    assert (row.closed_at, row.told_at) == (None, at(12))
    assert row.opened_at == at(10)
    assert words.sentence(row) == "phase/step of some rank is 0.380 s: more than 0.2 s for 2 s."
    assert Delivery.objects.count() == 1
    steps(attempt, 3, range(200, 300))
    look(at(24))
    assert alert().closed_at == at(16)
    assert Delivery.objects.count() == 1
    look(at(16 + 600))
    assert [row.message["json"]["event"] for row in Delivery.objects.order_by("pk")] == ["opened", "closed"]


def test_what_comes_again_soon_is_the_same_alert_and_nobody_hears_twice(attempt: Attempt) -> None:
    channels.add(attempt.run.project, Channel.Kind.EMAIL, "ana@example.org", "")
    rule(attempt.run.project)
    for seq, slow in enumerate((300, 0, 300), 1):
        steps(attempt, seq, range(seq * 100, seq * 100 + 100), slow=slow)
        look(at(8 * (seq + 1)))
    assert alert().closed_at is None
    assert alert().opened_at == at(8)
    assert Delivery.objects.count() == 1


def test_no_data_is_missed_only_where_there_was_some(attempt: Attempt) -> None:
    rule(attempt.run.project, comparison="silent", window_s=30, threshold=None)
    rule(attempt.run.project, metric="never", comparison="silent", window_s=30, threshold=None)
    steps(attempt, 1, range(100))
    look(at(35))
    assert not Alert.objects.exists()
    look(at(40))
    assert words.sentence(alert()) == "No phase/step has come for 30 s."
    steps(attempt, 2, range(500, 600))
    look(at(48))
    assert alert().closed_at is not None


def test_a_row_that_still_lacks_ranks_is_waited_for(attempt: Attempt) -> None:
    rule(attempt.run.project, over="spread", metric="local/step")
    steps(attempt, 1, range(50))
    batches.tail(attempt, 2, steps=[batches.steps([0, 1], range(50, 60), slow={1: 300}, end=T0.timestamp())])
    look(at(5))
    assert not Alert.objects.exists()
    look(at(15))
    assert alert().closed_at is None


def test_samples_of_nodes_and_rare_values_of_the_script_are_looked_at(attempt: Attempt) -> None:
    rule(attempt.run.project, metric="gpu/temperature", over="max", threshold=80, window_s=3)
    rule(attempt.run.project, metric="val_loss", over="mean", comparison="below", threshold=1)
    steps(attempt, 1, range(4000))
    for seq, (rank, degrees) in enumerate({0: 60.0, 1: 90.0}.items(), 4):
        points = {T0.timestamp() + second: degrees for second in range(300, 310)}
        batches.tail(attempt, seq, samples=[batches.samples("gpu/temperature", rank, points)])
    batches.tail(attempt, 2, values=[batches.values("val_loss", 0, dict.fromkeys(range(0, 4000, 1000), 0.5))])
    compact(attempt, list(Tail.objects.all()))
    look(at(320))
    found = {row.facts["metric"]: words.sentence(row) for row in Alert.objects.all()}
    hot = "The highest gpu/temperature, that of rank 1, is 90.00 °C in the mean of 3 s: more than 80 °C."
    assert found == {
        "gpu/temperature": hot,
        "val_loss": "val_loss as the mean of the ranks is 0.500: less than 1.",
    }


def test_a_loss_that_is_not_a_number_fires_at_the_end_of_its_step_and_names_the_rank(attempt: Attempt) -> None:
    one = rule(attempt.run.project, metric="loss", comparison="nan", threshold=None, hold_s=1, severity="critical")
    steps(attempt, 1, range(100))
    good = dict.fromkeys(range(0, 100, 5), 0.5)
    later = {50: math.nan, 55: math.inf, 60: math.inf, 65: math.nan}
    batches.tail(attempt, 2, values=[batches.values("loss", 0, good), batches.values("loss", 1, good | later)])
    look(at(8))
    row = alert()
    assert (row.opened_at, row.closed_at, row.severity) == (at(50 * 0.08 + 1), at(70 * 0.08), "critical")
    assert (row.value, words.sentence(row)) == (None, "loss of rank 1 is infinite for 1 s.")
    assert [(time.since, time.until, time.sentence) for time in past.try_on(one, at(8)).times] == [
        (row.opened_at, row.closed_at, words.sentence(row))
    ]
    assert words.asks(one) == "loss of some rank is NaN or infinite for 1 s."


def test_what_the_script_logs_is_held_against_the_time_of_its_steps(attempt: Attempt) -> None:
    rule(attempt.run.project, metric="loss", over="mean", threshold=2.0, window_s=2, hold_s=3)
    steps(attempt, 1, range(100))
    high = {step: 3.0 if step >= 40 else 1.0 for step in range(0, 100, 10)}
    batches.tail(attempt, 2, values=[batches.values("loss", 0, high)])
    look(at(8))
    assert alert().opened_at == at(50 * 0.08 + 3)


def test_a_rank_is_named_for_its_own_work_and_never_for_waiting(attempt: Attempt) -> None:
    for metric in ("local/step", "phase/step", "phase/exposed_comm", "comm/wait"):
        rule(attempt.run.project, metric=metric, threshold=0.2)
    steps(attempt, 1, range(100), slow=300)
    look(at(8))
    named = {row.facts["metric"]: row.facts["rank"] for row in Alert.objects.all()}
    assert named == {"local/step": 2, "phase/step": None, "phase/exposed_comm": None, "comm/wait": None}
    assert "local/step of rank 2 is" in words.sentence(Alert.objects.get(facts__metric="local/step"))


def test_live_and_the_past_find_the_same(attempt: Attempt) -> None:
    one = rule(attempt.run.project, window_s=2, hold_s=3)
    for seq, slow in enumerate((0, 300, 0, 0, 300, 0), 1):
        steps(attempt, seq, range(seq * 100, seq * 100 + 100), slow=slow)
        look(at(8 * (seq + 1)))
    Run.objects.update(created_at=T0)
    found = past.try_on(one, at(60))
    assert (found.runs, found.looked, found.having, found.rolled) == (1, 1, 1, 0)
    live = [(row.opened_at, row.closed_at, words.sentence(row)) for row in Alert.objects.filter(rule=one)]
    assert live
    assert [(time.since, time.until, time.sentence) for time in found.times] == live


def test_the_past_is_bounded_and_says_what_it_looked_at(attempt: Attempt, monkeypatch: pytest.MonkeyPatch) -> None:
    one = rule(attempt.run.project)
    steps(attempt, 1, range(4000), slow=300)
    for _i in range(2):
        builders.running_attempt(1, 1, in_project=attempt.run.project)
    Run.objects.update(created_at=T0)
    found = past.try_on(one, at(400))
    assert (found.runs, found.looked, found.having, found.rolled) == (3, 3, 1, 1)
    monkeypatch.setattr(past, "MOST_RUNS", 2)
    assert past.try_on(one, at(400)).looked == 2
    assert past.try_on(one, at(31 * 86_400)).runs == 0


def test_the_end_of_the_run_ends_its_alerts(attempt: Attempt) -> None:
    channels.add(attempt.run.project, Channel.Kind.EMAIL, "ana@example.org", "")
    rule(attempt.run.project)
    steps(attempt, 1, range(100), slow=300)
    look(at(8))
    Attempt.objects.update(status=Status.ENDED, ended_at=at(9))
    look(at(13))
    assert alert().closed_at == at(9)
    assert [row.message["json"]["event"] for row in Delivery.objects.order_by("pk")] == ["opened", "closed"]


def test_a_rule_that_asks_something_else_begins_anew_and_one_that_is_off_is_quiet(attempt: Attempt) -> None:
    one = rule(attempt.run.project)
    steps(attempt, 1, range(100), slow=300)
    look(at(8))
    Rule.objects.filter(pk=one.pk).update(threshold=0.3)
    look(at(9))
    assert [row.facts["threshold"] for row in Alert.objects.filter(closed_at=None)] == [0.3]
    assert Alert.objects.count() == 2
    Rule.objects.filter(pk=one.pk).update(enabled=False)
    look(at(10))
    assert not Alert.objects.filter(closed_at=None).exists()


def test_every_project_is_told_of_warnings_and_worse_from_the_start(attempt: Attempt) -> None:
    channels.add(attempt.run.project, Channel.Kind.EMAIL, "ana@example.org", "")
    found = incident(attempt)
    incident(attempt, kind="network", subject="job", slowdown=0.01)
    look(datetime.now(UTC))
    row = Alert.objects.get()
    assert (row.incident, row.severity, row.rule.is_default) == (found, Severity.CRITICAL, True)
    assert "needs 200 ms more for the backward pass" in words.sentence(row)
    assert f"/incidents/{found.pk}/" in Delivery.objects.get().message["text"]
    Incident.objects.update(closed_at=datetime.now(UTC))
    look(datetime.now(UTC))
    assert Alert.objects.get().closed_at is not None


def test_an_incident_that_opens_again_soon_is_not_told_again(attempt: Attempt) -> None:
    channels.add(attempt.run.project, Channel.Kind.EMAIL, "ana@example.org", "")
    incident(attempt)
    for closed in (None, datetime.now(UTC), None):
        Incident.objects.update(closed_at=closed)
        look(datetime.now(UTC))
    assert Alert.objects.get().closed_at is None
    assert Delivery.objects.count() == 1


@pytest.mark.parametrize("site", [False, True])
def test_while_it_is_silent_alerts_open_and_are_told_when_it_is_over(attempt: Attempt, site: bool) -> None:
    project = attempt.run.project
    channels.add(project, Channel.Kind.EMAIL, "ana@example.org", "")
    rule(project)
    whose = None if site else project
    Silence.objects.create(project=whose, since=T0, until=at(60), reason="New switch", created_by="ana")
    Silence.objects.create(project=builders.project(), since=T0, until=at(6000), reason="Elsewhere", created_by="ben")
    steps(attempt, 1, range(100), slow=300)
    look(at(8))
    assert (alert().told_at, alert().silenced, Delivery.objects.count()) == (None, "New switch", 0)
    look(at(61))
    assert (alert().told_at, alert().silenced, Delivery.objects.count()) == (at(61), "New switch", 1)


def test_a_message_is_plain_facts_that_json_can_say(attempt: Attempt) -> None:
    channels.add(attempt.run.project, Channel.Kind.EMAIL, "ana@example.org", "")
    rule(attempt.run.project, metric="loss", threshold=1.0)
    Run.objects.update(name="two\nlines")
    steps(attempt, 1, range(100))
    batches.tail(attempt, 2, values=[batches.values("loss", 0, {50: float("inf")})])
    look(at(8))
    message = Delivery.objects.get().message
    assert message["subject"].endswith("two lines: loss of rank 0 is inf: more than 1.")
    assert json.loads(json.dumps(message, allow_nan=False))["json"]["alert"]["value"] is None


def test_alerts_of_a_deleted_run_are_not_told(attempt: Attempt) -> None:
    rule(attempt.run.project)
    steps(attempt, 1, range(100), slow=300)
    Attempt.objects.update(status=Status.ENDED)
    Run.objects.update(status=Status.ENDED)
    run_lifecycle.delete(attempt.run, "ana")
    look(at(8))
    assert not Alert.objects.exists()


def test_a_rule_that_cannot_be_asked_does_not_stop_the_others(attempt: Attempt) -> None:
    rule(attempt.run.project, over="newer")
    good = rule(attempt.run.project)
    steps(attempt, 1, range(100), slow=300)
    look(at(8))
    assert [row.rule for row in Alert.objects.all()] == [good]
