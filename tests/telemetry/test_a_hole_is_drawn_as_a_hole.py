"""Steps that are missing break every line, and are told with ranks, reason and a sentence."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests import builders
from tests.telemetry.batches import steps, tail, values
from webapp.nodes.models import Node
from webapp.runs.models import Attempt, RankState, Status
from webapp.telemetry import charts, holes, store
from webapp.telemetry.models import Parked, Tail

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def attempt() -> Attempt:
    """Two nodes with two ranks each, silent since a while."""
    made = builders.running_attempt()
    Attempt.objects.filter(pk=made.pk).update(telemetry_at=timezone.now() - timedelta(seconds=30))
    made.refresh_from_db()
    return made


def told(attempt: Attempt) -> list[tuple[int, int, list[int], str]]:
    return [(hole["from"], hole["to"], hole["ranks"], hole["reason"]) for hole in holes.of_attempt(attempt)]


def texts(attempt: Attempt) -> list[str]:
    return [hole["text"] for hole in holes.of_attempt(attempt)]


@pytest.mark.parametrize("panel_id", ["step_time", "phases", "comm", "value:loss"])
def test_a_line_breaks_where_all_ranks_miss_steps(attempt: Attempt, panel_id: str) -> None:
    there = [*range(50), *range(60, 100)]
    tail(attempt, 1, steps=[steps(range(4), there)], values=[values("loss", 0, dict.fromkeys(there, 1.0))])
    panel = charts.panel(attempt, panel_id)
    at = panel["x"].index(50)
    assert panel["x"][at - 1 : at + 2] == [49, 50, 60]
    assert all(column[at] is None for column in panel["columns"].values())
    assert len(panel["x"]) == 91
    assert (panel["points"], panel["of"]) == (90, 90)


@pytest.mark.parametrize("panel_id", ["step_time", "phases", "comm"])
def test_a_hole_stays_a_hole_at_any_zoom(attempt: Attempt, panel_id: str) -> None:
    tail(attempt, 1, steps=[steps(range(4), [*range(5_000), *range(6_000, 9_000)])])
    store.compact(attempt, list(Tail.objects.filter(attempt=attempt)))
    for width in (60, 600, 2_500):
        panel = charts.panel(attempt, panel_id, width=width)
        gone = [x for x, y in zip(panel["x"], next(iter(panel["columns"].values())), strict=True) if y is None]
        assert len(gone) == 1, width
        at = panel["x"].index(gone[0])
        before, after = panel["x"][at - 1], panel["x"][at + 1]
        assert before <= 5_000 <= gone[0] < after, width
        assert after >= 5_888, width


def test_sparse_values_are_no_holes(attempt: Attempt) -> None:
    points = dict.fromkeys((0, 10, 20, 30, 90), 1.0)
    tail(attempt, 1, steps=[steps(range(4), [*range(22), *range(25, 100)])], values=[values("loss", 0, points)])
    assert charts.panel(attempt, "value:loss")["x"] == [0, 10, 20, 30, 90]


def test_steps_of_a_silent_node_are_still_there(attempt: Attempt) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(telemetry_at=timezone.now())
    second = attempt.parts.get(node_rank=1)
    Node.objects.filter(pk=second.node_id).update(last_heard=timezone.now() - timedelta(seconds=40))
    tail(attempt, 1, steps=[steps([0, 1], range(261)), steps([2, 3], range(120))])
    assert told(attempt) == [(120, 260, [2, 3], "pending")]
    assert texts(attempt)[0].startswith(
        f"Ranks 2 and 3: steps 120 to 260 are still on {second.node_name}, which has not been heard for 4"
    )


def test_what_is_on_its_way_for_a_moment_is_no_hole(attempt: Attempt) -> None:
    Attempt.objects.filter(pk=attempt.pk).update(telemetry_at=timezone.now())
    attempt.refresh_from_db()
    tail(attempt, 1, steps=[steps([0, 1], range(130)), steps([2, 3], range(120))])
    RankState.objects.filter(attempt=attempt).update(made=130)
    assert told(attempt) == []
    Attempt.objects.filter(pk=attempt.pk).update(telemetry_at=timezone.now() - timedelta(seconds=3))
    attempt.refresh_from_db()
    assert told(attempt) == [(120, 129, [2, 3], "pending")]


def test_each_reason_has_its_sentence(attempt: Attempt) -> None:
    tail(attempt, 1, steps=[steps([0, 1, 3], range(100)), steps([2], [*range(9), *range(81, 100)])])
    state = attempt.ranks.get(rank=2)
    node = attempt.parts.get(node_rank=1).node_name
    assert texts(attempt) == [f"Rank 2: steps 9 to 80 never came from {node}, which did not say why."]
    state.gaps = [[9, 70, "overwritten"], [71, 80, "disk_full"]]
    state.dropped = {"steps": 72}
    state.save()
    assert texts(attempt) == [
        f"Rank 2: steps 9 to 70 were lost: the agent on {node} was away for longer than a rank keeps its steps.",
        f"Rank 2: steps 71 to 80 were lost: the disk of {node} was full.",
    ]


def test_a_lost_part_and_a_parked_message_are_named(attempt: Attempt) -> None:
    now = timezone.now()
    attempt.parts.filter(node_rank=1).update(lost_at=now)
    first = attempt.parts.get(node_rank=0)
    Parked.objects.create(attempt=attempt, node_uid=first.node_uid, reason="content", size=1, payload=b"")
    tail(attempt, 1, steps=[steps([0], range(50)), steps([1], [*range(5), *range(9, 50)]), steps([2, 3], range(30))])
    attempt.ranks.filter(rank__gte=2).update(made=50)
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED, first_step=1_000)
    attempt.refresh_from_db()
    assert told(attempt) == [(1_005, 1_008, [1], "parked"), (1_030, 1_049, [2, 3], "node_lost")]


def test_the_page_gets_the_holes_of_its_window(attempt: Attempt, client: Client) -> None:
    tail(attempt, 1, steps=[steps([0, 1, 2], range(100)), steps([3], [*range(9), *range(20, 50), *range(60, 100)])])
    client.force_login(attempt.run.owner)
    address = f"/runs/{attempt.run.uid}/panels?ids=holes"
    found = [client.get(address + more).json()["panels"]["holes"] for more in ("", "&lo=30&hi=90")]
    assert [[hole["from"] for hole in panel["holes"]] for panel in found] == [[9, 50], [50]]
    assert (found[0]["id"], found[0]["axis"]) == ("holes", "step")
