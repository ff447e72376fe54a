"""The main line follows the newest attempt, what it did again is a ghost; nothing is lost or drawn twice."""

from collections import Counter

import numpy as np
import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from tests import builders
from tests.telemetry.batches import steps, tail, values
from webapp.runs.models import Attempt, Run
from webapp.telemetry import charts, store
from webapp.telemetry.models import Tail
from webapp.telemetry.panel_lines import Panel
from webapp.telemetry.run_read import RunReader
from webapp.telemetry.stitch import pieces

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), min_size=1, max_size=8)


def run_panel(run: Run, panel_id: str, width: int = 600) -> Panel:
    """Of all attempts of the run, as the page has it."""
    return charts.Charts(RunReader(run), None, None, width).panel(panel_id)


def attempts(*spans: tuple[int, int], logged: bool = False) -> Run:
    """A run whose attempts made steps first … last, by the script's own count; each logs its number as `loss`."""
    first = builders.running_attempt(nodes=1, ranks_per_node=2)
    for number, (begin, last) in enumerate(spans, 1):
        one = first if number == 1 else Attempt.objects.create(run=first.run, number=number, world_size=2)
        Attempt.objects.filter(pk=one.pk).update(first_step=begin)
        own = {step: float(number) for step in range(begin, last + 1)} if logged else {}
        told = [values("loss", 0, own)] if own else []
        tail(one, 1, steps=[steps([0, 1], range(last - begin + 1), slow={0: number})], values=told)
    Run.objects.filter(pk=first.run_id).update(attempt_count=len(spans))
    return Run.objects.get(pk=first.run_id)


@given(SPANS)
def test_every_step_is_on_the_main_line_or_a_ghost_exactly_once(spans: list[tuple[int, int]]) -> None:
    told = [(number, first, first + more) for number, (first, more) in enumerate(spans, 1)]
    found = pieces(told)
    for (_number, first, last), piece in zip(told, found, strict=True):
        inside = [step for part in (piece.main, piece.ghost) if part for step in range(part[0], part[1] + 1)]
        assert sorted(inside) == list(range(first, last + 1))
    main = [step for piece in found if piece.main for step in range(piece.main[0], piece.main[1] + 1)]
    assert main == sorted(set(main))
    assert found[-1].ghost is None


class TestStoredAttempts(TestCase):
    @settings(max_examples=12)
    @given(SPANS.filter(lambda spans: len(spans) < 5), st.booleans())
    def test_what_is_read_is_each_stored_step_once(self, spans: list[tuple[int, int]], compacted: bool) -> None:
        run = attempts(*[(first, first + more) for first, more in spans], logged=True)
        if compacted:
            for attempt in run.attempts.all():
                store.compact(attempt, list(Tail.objects.filter(attempt=attempt)))
        for name in ("phase/step", "local/step", "loss"):
            reader = RunReader(run)
            main = reader.series(name).index.tolist()
            ghosts = [step for _number, series in reader.ghosts(name) for step in series.index.tolist()]
            made = Counter(step for first, more in spans for step in range(first, first + more + 1))
            assert main == sorted(set(main))
            assert Counter(main) + Counter(ghosts) == made


@pytest.mark.django_db
def test_a_resumed_run_has_one_clean_line_and_a_ghost() -> None:
    run = attempts((0, 212), (200, 260), logged=True)
    panel = run_panel(run, "step_time")
    assert panel["x"] == list(range(261))
    assert [(ghost["attempt"], ghost["x"]) for ghost in panel["ghosts"]] == [(1, list(range(200, 213)))]
    assert panel["columns"]["max"][199:201] == [76.0, 77.0]
    assert panel["ghosts"][0]["y"][0] == 75.5
    loss = run_panel(run, "value:loss")
    assert loss["columns"]["rank 0"][199:201] == [1.0, 2.0]
    assert loss["ghosts"][0]["y"] == [1.0] * 13
    assert run_panel(run, "comm").get("ghosts") is None
    assert "ghosts" not in charts.panel(run.attempts.get(number=1), "step_time")


@pytest.mark.django_db
def test_any_number_of_restarts_stays_one_line_at_any_zoom() -> None:
    run = attempts(*[(start, start + 500) for start in range(0, 2_400, 300)])
    for attempt in run.attempts.all():
        store.compact(attempt, list(Tail.objects.filter(attempt=attempt)))
    for name in ("step_time", "phases", "comm", "heat:local"):
        panel = run_panel(run, name, width=100)
        assert panel["x"] == sorted(set(panel["x"])), name
        assert panel["of"] == 2_601, name
    ghosts = run_panel(run, "step_time", width=100)["ghosts"]
    assert [ghost["attempt"] for ghost in ghosts] == list(range(1, 8))
    assert max(len(ghost["x"]) for ghost in ghosts) <= 220


@pytest.mark.django_db
def test_what_a_newer_attempt_logs_at_earlier_steps_is_drawn_and_the_newest_word_counts() -> None:
    run = attempts((0, 20), (10, 30), logged=True)
    newest = run.attempts.get(number=2)
    tail(newest, 2, values=[values("eval", 0, {0: 0.5, 1: 0.6}), values("loss", 0, {3: 9.0})])
    assert run_panel(run, "value:eval")["x"] == [0, 1]
    loss = run_panel(run, "value:loss")
    assert loss["x"] == list(range(31))
    assert loss["columns"]["rank 0"][3] == 9.0
    assert loss["ghosts"][0]["x"] == [3, *range(10, 21)]


@pytest.mark.django_db
def test_the_page_draws_the_run_and_one_attempt_when_it_is_asked_for(client: Client) -> None:
    run = attempts((0, 20), (10, 30))
    client.force_login(run.owner)
    address = f"/runs/{run.uid}/panels?ids=step_time"
    whole, alone = (client.get(address + more).json()["panels"]["step_time"] for more in ("", "&attempt=1"))
    assert whole["x"] == list(range(31))
    assert (alone["x"], alone.get("ghosts")) == (list(range(21)), None)
    newest = client.get(address + "&last=5").json()["panels"]["step_time"]
    assert newest["x"] == list(range(26, 31))
    assert np.isfinite(newest["columns"]["median"]).all()
