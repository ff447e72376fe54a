"""What the page says: facts, banner, config; never a secret."""

import html
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from tests import builders
from tests.pages.people import team
from tests.runpage import stored
from webapp.runs import secrets
from webapp.runs.models import Attempt, Cause, Outcome, RankState, Run, Status
from webapp.runs.run_words import WORDS
from webapp.runs.state import new_attempt
from webapp.telemetry.models import Parked

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def attempt(client: Client) -> Attempt:
    attempt = stored.run_with_steps(team().project)
    client.force_login(attempt.run.owner)
    return attempt


def page(client: Client, shown: Attempt, name: str = "detail", **query: str) -> str:
    answer = client.get(reverse(f"runs:{name}", args=[shown.run.uid]), query)
    assert answer.status_code == 200
    return html.unescape(answer.content.decode())


def set_state(attempt: Attempt, **fields: object) -> None:
    shared = {name: value for name, value in fields.items() if hasattr(Run, name)}
    Run.objects.filter(pk=attempt.run_id).update(**shared)
    Attempt.objects.filter(pk=attempt.pk).update(**fields)


def test_progress_speed_and_time_left_are_told(client: Client, attempt: Attempt) -> None:
    text = page(client, attempt)
    assert "40 of 100 steps" in text
    assert "12.5" in text
    assert "<b>4 s</b> left" in text


def test_an_unknown_total_is_called_unknown(client: Client, attempt: Attempt) -> None:
    Run.objects.update(total_steps=None)
    assert "total unknown" in page(client, attempt)


def test_a_run_that_is_stopped_in_the_queue_never_started(client: Client, attempt: Attempt) -> None:
    RankState.objects.filter(attempt=attempt).delete()
    set_state(attempt, status=Status.ENDED, outcome=Outcome.STOPPED)
    text = page(client, attempt)
    assert "never started" in text
    assert "exited with 0" not in text


def test_stopping_asks_in_words_that_fit_the_state(client: Client, attempt: Attempt) -> None:
    name = attempt.run.name
    assert f"Stop “{name}”? Its ranks get a signal and 20 s to end" in page(client, attempt)
    set_state(attempt, status=Status.QUEUED)
    assert f"Stop “{name}”? It has not started yet" in page(client, attempt)


def test_an_old_sign_of_life_is_stale_by_shape_and_class(client: Client, attempt: Attempt) -> None:
    set_state(attempt, process_at=timezone.now() - timedelta(minutes=2))
    text = page(client, attempt, "header")
    assert '<li class="stale"' in text
    assert "#s-stale" in text


def test_what_was_dropped_or_unreadable_is_counted(client: Client, attempt: Attempt) -> None:
    RankState.objects.filter(attempt=attempt, rank=1).update(dropped={"steps": 7, "samples": 5})
    Parked.objects.create(attempt=attempt, reason="no message", size=3, payload=b"abc")
    text = page(client, attempt)
    assert "12 dropped" in text
    assert "1 message could not be read" in text


def test_a_failed_run_opens_with_the_sentence_the_traceback_and_what_to_do(client: Client, attempt: Attempt) -> None:
    trace = 'Traceback (most recent call last):\n  File "train.py", line 3\nValueError: no'
    RankState.objects.filter(attempt=attempt, rank=1).update(exit_code=1, traceback=trace, exited_at=timezone.now())
    detail = {"rank": 1, "node": "gpu-a", "code": 1, "text": "ValueError: no"}
    set_state(
        attempt, status=Status.ENDED, outcome=Outcome.FAILED, cause=Cause.CODE, reason="rank_exit", detail=detail,
        ended_at=timezone.now(),
    )  # fmt: skip
    text = page(client, attempt)
    assert "Rank 1 on gpu-a ended with exit code 1" in text
    assert trace in text
    assert "fix the script" in text
    assert '"live": false' in text


def test_a_queued_run_says_what_it_waits_for(client: Client, attempt: Attempt) -> None:
    waits = {"reason": "slots", "slots": 4, "nodes": 2, "free": 1, "ahead": 0}
    set_state(attempt, status=Status.QUEUED)
    Attempt.objects.update(waits_for=waits)
    assert "Waits for 4 slots on 2 nodes." in page(client, attempt)


def test_config_has_the_command_of_each_node_and_no_secret(client: Client, attempt: Attempt) -> None:
    run = attempt.run
    run.spec = builders.spec(env={"A": "visible"}, secret_names=["KEY"]).model_dump()
    run.save()
    secrets.keep(run, {"KEY": "hunter2"})
    Attempt.objects.update(master_addr="10.0.0.1", master_port=29501)
    facts = {"sees": ["step", "forward"], "cannot_see": {"exposed_comm": "this torch has no timers"}}
    RankState.objects.filter(rank=0).update(facts=facts)
    text = page(client, attempt, "config")
    assert "--node-rank=1" in text
    assert "--master-port=29501" in text
    assert "visible" in text
    assert "KEY" in text
    assert "hunter2" not in text
    assert "step, forward" in text
    assert "this torch has no timers" in text


def test_an_older_attempt_is_shown_when_it_is_asked_for(client: Client, attempt: Attempt) -> None:
    Attempt.objects.create(run=attempt.run, number=2, world_size=4, status=Status.QUEUED)
    Run.objects.update(attempt_count=2, status=Status.QUEUED)
    assert 'data-status="queued"' in page(client, attempt)
    assert 'data-status="running"' in page(client, attempt, attempt="1")


def test_what_could_not_be_ended_is_told_on_a_line_of_its_own(client: Client, attempt: Attempt) -> None:
    set_state(attempt, status=Status.ENDED, outcome=Outcome.SUCCEEDED, ended_at=timezone.now())
    assert 'data-test="cleanup"' not in page(client, attempt)
    attempt.parts.filter(node_rank=1).update(survivors=[{"pid": 4711, "name": "python", "state": "D"}])
    assert "python (pid 4711)" in page(client, attempt).partition('data-test="cleanup"')[2]


def test_a_loss_that_is_no_number_is_the_runs_health(client: Client, attempt: Attempt) -> None:
    assert "NaN" not in page(client, attempt, "header")
    Run.objects.update(last_loss=None, loss_text="NaN", loss_since=1234)
    assert "loss is NaN since step 1,234" in page(client, attempt, "header")
    set_state(attempt, status=Status.ENDED, outcome=Outcome.SUCCEEDED, ended_at=timezone.now())
    assert "loss is NaN since step 1,234" in page(client, attempt, "header")


def test_a_new_attempt_shows_nothing_of_the_one_before(client: Client, attempt: Attempt) -> None:
    Run.objects.update(last_loss=1.234, spark=[3.0, 1.234], loss_text="")
    set_state(attempt, status=Status.ENDED, outcome=Outcome.FAILED, ended_at=timezone.now())
    attempt.run.refresh_from_db()
    new_attempt(attempt.run, Status.QUEUED)
    run = Run.objects.get()
    assert (run.last_step, run.last_loss, run.loss_text, run.spark, run.steps_per_s) == (None, None, "", [], None)
    assert "1.234" not in client.get(reverse("runs:list")).content.decode()


def test_every_chart_has_words_for_nothing_yet_and_for_nothing_at_all() -> None:
    kinds = {key.removeprefix("empty_") for key in WORDS if key.startswith("empty_")} - {"window"}
    assert kinds == {key.removeprefix("never_") for key in WORDS if key.startswith("never_")}
    assert not [key for key in WORDS if key.startswith("never_") and "yet" in str(WORDS[key])]


def test_a_run_that_has_nothing_yet_is_drawn(client: Client) -> None:
    attempt = builders.running_attempt(1, 1)
    client.force_login(attempt.run.owner)
    text = page(client, attempt)
    assert "points stored" in text
    assert "no steps yet" in text
