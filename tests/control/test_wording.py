"""Every fixed word has its sentence, and every reason says what to do next."""

import ast

import pytest

from tests.control.cluster import finish, launch, part_of, running, say
from webapp.runs import lifecycle, scheduler, wording
from webapp.runs.models import Attempt


def test_every_reason_has_a_sentence_and_a_next_step():
    assert set(wording.REASONS) == set(wording.NEXT_STEP)
    assert all(str(text).endswith(".") for text in wording.NEXT_STEP.values())


def test_every_word_that_the_code_writes_has_its_sentence(repo):
    words = set()
    for file in [
        *(repo / "webapp/runs").glob("*.py"),
        *(repo / "webapp/nodes").glob("*.py"),
        repo / "workers/upkeep.py",
    ]:
        for node in ast.walk(ast.parse(file.read_text())):
            if not isinstance(node, ast.Call):
                continue
            if (
                getattr(node.func, "id", "") == "record"
                and len(node.args) > 1
                and isinstance(node.args[1], ast.Constant)
            ):
                words.add(node.args[1].value)
            words |= {
                word.value.value
                for word in node.keywords
                if word.arg == "reason" and isinstance(word.value, ast.Constant) and word.value.value
            }
    assert len(words) > 20
    known = {*wording.REASONS, *wording.EVENTS, "ended", "stopped", "no_node", "slots", "behind", "too_large", "ports"}
    assert words <= known


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_client")
def test_a_whole_run_reads_as_plain_sentences():
    attempt = running()
    say(part_of(attempt, 1), "rank_exited", 3, code=None, signal=9, traceback="")
    finish(attempt, code=1)
    node = part_of(attempt, 1).node_name
    assert wording.outcome_sentence(attempt) == f"Rank 3 on {node} was ended by SIGKILL."
    assert "memory" in wording.next_step(attempt)
    texts = [wording.event_text(event) for event in attempt.events.all()]
    assert texts[0].startswith("Created by user")
    assert "All 4 ranks are running." in texts
    assert f"Rank 3 on {node} ended with SIGKILL." in texts
    assert texts[-1] == "Failed."
    assert not any("?" in text or "None" in text for text in texts)


@pytest.mark.django_db
@pytest.mark.usefixtures("redis_client")
def test_each_waiting_run_says_what_it_waits_for():
    from tests import builders

    builders.node(slots=2)
    builders.node(slots=1)
    builders.node(slots=2)
    first = launch(nodes=2, ranks_per_node=1)
    scheduler.place_queued()
    others = [launch(nodes=2, ranks_per_node=2), launch(nodes=1, ranks_per_node=1)]
    scheduler.place_queued()
    waits = [wording.waits_sentence(run.attempts.get()) for run in others]
    assert waits == ["Waits for 4 slots on 2 nodes. 3 are free.", "Waits behind 1 other run."]
    assert wording.waits_sentence(first.attempts.get()) == ""
    lifecycle.request_stop(others[0], "ana")
    assert wording.outcome_sentence(Attempt.objects.get(run=others[0])) == "Stopped by ana."
