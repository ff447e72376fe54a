"""What the nodes' samples of their links make of a network that is found to be slow in step times."""

from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from tests import builders
from tests.detect.made import table
from webapp.incidents.finding import Finding
from webapp.telemetry import store
from webapp.telemetry.points import STEP_END, Points
from webapp.telemetry.read import Reader
from workers.confirm import confirmed

pytestmark = pytest.mark.django_db

NODES = 4
BEGAN, CHANGED, NEWEST = 1_800_000_000, 1_800_000_060, 1_800_000_075  # seconds; the steps are a second long
RING = tuple((node, (node - 1) % NODES) for node in range(NODES))
SLOW = Finding("network", "job", "network", 0.3, CHANGED - BEGAN)
Per = dict[tuple[int, int], float]


@pytest.fixture
def attempt():
    return builders.running_attempt(nodes=NODES, ranks_per_node=1)


def of_nodes(name: str, node: int, usual: float, later: float) -> Points:
    index = np.arange(BEGAN, NEWEST + 1)
    value = np.where(index >= CHANGED, later, usual)
    return Points(name, "time", "node", "f8", np.full(index.size, node), index, value)


def tell(attempt, *, costs: Per, lost: Per, usual_loss: float = 0.0) -> Reader:
    """All links of the ring cost 8 ms a megabyte and lose nothing, but for these since the change."""
    points: dict[str, Any] = {}
    for source, target in RING:
        link = (source, target)
        cost = of_nodes(f"link/{target}/busy_ms_per_mb", source, 8.0, costs.get(link, 8.5))
        again = of_nodes(f"link/{target}/retransmitted", source, usual_loss, lost.get(link, usual_loss))
        resent = of_nodes("node/retransmits", source, 0.0, 40.0 if link in lost else 0.0)
        points |= {one.name: one for one in (cost, again)}
        store.write(attempt, {resent.name: resent})
    steps = np.arange(NEWEST - BEGAN + 1)
    ends = Points(STEP_END, "step", "rank", "f8", np.zeros(steps.size, int), steps, (BEGAN + steps).astype(float))
    store.write(attempt, {**points, ends.name: ends})
    return Reader(attempt)


def placed(attempt, found: list[Finding], *, costs: Per | None = None, lost: Per | None = None, steps: int = 75):
    reader = tell(attempt, costs=costs or {}, lost=lost or {})
    made = table(ranks=NODES, nodes=NODES, steps=steps)
    return confirmed(reader, found, made, datetime.fromtimestamp(NEWEST, UTC), on_gpu=False)


def test_one_link_that_costs_more_since_then_is_the_subject(attempt) -> None:
    (found,) = placed(attempt, [SLOW], costs={(3, 2): 44.0})
    assert (found.subject, found.link, found.probable, found.slowdown) == ("link 3-2", (3, 2), False, 0.3)
    assert found.evidence["links"]["3-2"] == 44.0


def test_the_ring_s_two_links_of_a_node_are_its_card(attempt) -> None:
    (found,) = placed(attempt, [SLOW], costs={(3, 2): 44.0, (0, 3): 45.0})
    assert (found.subject, found.node_rank, found.link) == ("node 3", 3, None)


def test_all_links_that_cost_more_are_the_network_as_a_whole(attempt) -> None:
    (found,) = placed(attempt, [SLOW], costs=dict.fromkeys(RING, 40.0))
    assert (found.subject, found.probable) == ("job", False)


def test_where_no_link_costs_more_the_network_is_not_blamed_until_it_lasts(attempt) -> None:
    assert placed(attempt, [SLOW]) == []
    assert [found.subject for found in placed(attempt, [SLOW], steps=200)] == ["job"]


@pytest.mark.parametrize(("nodes", "steps", "told"), [(1, 75, 0), (1, 200, 1), (2, 75, 1)])
def test_where_links_are_not_known_one_machine_must_last_and_more_are_told_at_once(nodes, steps, told) -> None:
    reader = Reader(builders.running_attempt(nodes=nodes, ranks_per_node=2))
    made = table(ranks=2 * nodes, nodes=nodes, steps=steps)
    found = confirmed(reader, [SLOW], made, datetime.fromtimestamp(NEWEST, UTC), on_gpu=False)
    assert [one.subject for one in found] == ["job"] * told


def test_a_link_that_loses_packets_is_told_before_anybody_waits_for_it(attempt) -> None:
    (found,) = placed(attempt, [], lost={(2, 1): 0.005})
    assert (found.subject, found.slowdown) == ("link 2-1", 0.0)
    assert found.evidence["retransmitted"] == pytest.approx(0.005)


def test_a_trace_of_loss_is_nothing(attempt) -> None:
    assert placed(attempt, [], lost={(2, 1): 0.001}) == []
