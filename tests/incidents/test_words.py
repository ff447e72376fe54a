"""Every kind and every cause has words: for the headline, the next step, and the runs list."""

from datetime import timedelta
from decimal import Decimal

import pytest

from tests import builders
from webapp.incidents import cost, severity, words
from webapp.incidents.chart_words import title
from webapp.incidents.evidence import ids_of
from webapp.incidents.listing import KINDS
from webapp.incidents.models import Incident
from webapp.runs import health_words, looks
from webapp.runs.models import Attempt, Run, Status

CAUSES = ("data", "forward", "backward", "optimizer", "other", "cpu", "gpu", "network", "code", "unknown")


def row(kind: str, cause: str = "unknown", **fields: object) -> Incident:
    given = {"attempt": Attempt(world_size=8), "subject": "job", "severity": "warning", "opened_step": 40}
    return Incident(kind=kind, cause=cause, **{**given, "evidence": {"text": "Said."}, **fields})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cause", CAUSES)
def test_every_kind_and_cause_has_a_headline_a_next_step_and_charts(kind: str, cause: str) -> None:
    found = row(kind, cause, rank=3 if kind in ("straggler", "device") else None)
    for text in (words.sentence(found), words.next_step(found)):
        assert text.endswith(".")
        assert "%(" not in text
    assert all(title(chart)[0] for chart in ids_of(found))


@pytest.mark.parametrize("cause", CAUSES[:-1])
def test_a_cause_is_probable_until_it_is_confirmed(cause: str) -> None:
    assert words.cause(row("straggler", cause)).startswith("Probable cause: ")
    assert words.cause(row("straggler", cause, probable=False)).startswith("Cause: ")


def test_what_has_no_cause_yet_says_so() -> None:
    assert words.cause(row("hang")) == "The cause is not known yet."
    assert words.cause(row("idle")) == ""


@pytest.mark.parametrize(
    ("health", "says"),
    [
        ({"kind": "straggler", "rank": 2, "slowdown": 0.31}, "rank 2 slow, 31 %"),
        ({"kind": "straggler", "node": 1, "slowdown": 0.1}, "node 1 slow, 10 %"),
        ({"kind": "wandering", "slowdown": 0.1}, "late ranks take turns, 10 %"),
        ({"kind": "structural", "slowdown": 0.1}, "uneven split, 10 %"),
        ({"kind": "regression", "slowdown": 0.1}, "slower than before, 10 %"),
        ({"kind": "network", "slowdown": 0.1}, "network slow, 10 %"),
        ({"kind": "network", "node": 0}, "node 0: network slow"),
        ({"kind": "input", "slowdown": 0.4}, "waits for data, 40 %"),
        ({"kind": "hang", "rank": 5}, "hung, rank 5"),
        ({"kind": "hang"}, "hung"),
        ({"kind": "device", "rank": 5}, "rank 5: device slow"),
        ({"kind": "telemetry", "node": 1}, "node 1: numbers missing"),
        ({"kind": "idle"}, "slots held, nothing runs"),
        ({"kind": "alone"}, "ranks train alone"),
    ],
)
def test_the_runs_list_says_the_worst_in_a_few_words(health: dict[str, object], says: str) -> None:
    assert health_words.badge(health) == says
    assert len(says) <= 34


def test_the_badge_leads_to_the_incident_and_a_broken_loss_has_its_own() -> None:
    late = Run(status=Status.RUNNING, health={"kind": "straggler", "rank": 1, "severity": "critical", "incident": 7})
    badge = looks.health(late)
    assert badge is not None
    assert (badge.incident, badge.tone, badge.shape) == (7, "crit", "s-crit")
    late.loss_text, late.loss_since = "NaN", 1200
    badge = looks.health(late)
    assert badge is not None
    assert (badge.word, badge.incident) == ("loss is NaN since step 1,200", None)
    late.health["kind"] = "hang"
    badge = looks.health(late)
    assert badge is not None
    assert badge.word == "hung, rank 1"


def test_what_ended_is_slow_no_more() -> None:
    assert looks.health(Run(status=Status.ENDED, outcome="succeeded", health={"kind": "input"})) is None


def test_cost_is_said_in_steps_slot_time_and_money() -> None:
    found = row("straggler", slowdown=0.25, gpu_hours=1.5)
    told = cost.cost_of(found, Decimal("2.50"), "EUR")
    assert (told.longer, told.lost, told.slots, told.rate) == ("25 %", "1 h 30 m", "on 8 slots", "1 h 36 m")
    assert (told.money, told.money_rate) == ("3.75 EUR", "4.00 EUR each hour")
    assert cost.cost_of(found, None, "EUR").money == ""


def test_what_is_over_costs_nothing_more_and_has_no_colour() -> None:
    found = row("hang")
    assert (cost.cost_of(found, None, "USD").rate, severity.look(found).tone) == ("8 h 00 m", "crit")
    found.closed_at = found.opened_at + timedelta(minutes=3)
    assert (cost.cost_of(found, None, "USD").rate, severity.look(found).tone) == ("", "idle")
    assert severity.state(found) == "over"


@pytest.mark.django_db
def test_the_subject_is_named_by_its_node() -> None:
    attempt = builders.running_attempt(2, 2)
    name = attempt.parts.get(node_rank=1).node_name
    whole = Incident(attempt=attempt, kind="straggler", subject="node 1", node_rank=1)
    assert (words.where(whole), words.short(whole), words.ranks_of(whole)) == (f"Every rank of {name}", name, [2, 3])


def test_a_network_that_loses_packets_says_how_many_and_a_slow_one_how_long_it_takes() -> None:
    lossy = words.sentence(row("network", "network", evidence={"retransmitted": 0.012}))
    assert lossy == "The job loses packets since step 40: 1.2 % of the bytes are sent again."
    slow = words.sentence(row("network", "network", evidence={"transfer": 0.03, "usual": 0.01}))
    assert "transfers take 30 ms instead of 10 ms" in slow


def test_a_slow_device_is_told_with_its_clock_and_heat() -> None:
    evidence = {"clock": 1200.0, "usual": 1980.0, "temperature": 91.0}
    told = words.sentence(row("device", "gpu", rank=3, evidence=evidence))
    assert told == "Rank 3: its GPU runs at 1,200 MHz, those of the other ranks at 1,980 MHz. It is 91 °C hot."


def test_ranks_with_more_work_are_not_called_slow() -> None:
    told = words.sentence(row("structural", "code", evidence={"ranks": 2.0, "by_work": 1.0}))
    assert told.startswith("2 ranks take longer because they are given more in each step")
