"""From stored steps and samples to incidents that name a link, a device or a short processor."""

from collections.abc import Iterable

import numpy as np
import pytest

from tests.ingest.node import turn
from tests.ingest.test_a_late_rank_becomes_an_incident import say
from tests.telemetry.batches import samples, steps, values
from trainer_agent.wire.messages import StepColumns
from webapp.incidents.models import Incident
from webapp.nodes.models import Slot

pytestmark = pytest.mark.django_db(transaction=True)

BEGIN, STEP_S = 1_000, 0.08  # of the steps that `batches.steps` makes
CHANGE = 150
CHANGE_AT = BEGIN + int(CHANGE * STEP_S)
BEFORE, SINCE = range(CHANGE_AT - 70, CHANGE_AT + 1), range(CHANGE_AT + 1, CHANGE_AT + 13)


def tell(nodes, ingest, told: dict[int, list], kind: str = "samples") -> None:
    """What each of the two nodes has measured."""
    for node, content in told.items():
        nodes[node].say(**{kind: content})
    turn(ingest)


def of_links(metric: str, usual: float, costs: dict[tuple[int, int], float]) -> dict[int, list]:
    """Of both ways between the nodes, by the one that sends."""
    found = {}
    for a, b in ((0, 1), (1, 0)):
        points = {**dict.fromkeys(BEFORE, usual), **dict.fromkeys(SINCE, costs.get((a, b), usual))}
        found[a] = [samples(f"link/{b}/{metric}", a, points)]
    return found


def of_ranks(metric: str, seconds: Iterable[int], values: list[float]) -> dict[int, list]:
    """A rank's value all the time, by node."""
    made = [samples(metric, rank, dict.fromkeys(seconds, value)) for rank, value in enumerate(values)]
    return {0: made[:2], 1: made[2:]}


def go_on(nodes, ingest, last: int, more: int = 0) -> None:
    """Steps up to `last`, all ranks with a transfer that takes so much longer."""
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        node.say(steps=[steps(ranks, range(CHANGE, last), most=more)])
    say(nodes, ingest, range(0))


def test_a_slow_network_is_named_by_the_link_that_got_dear(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(CHANGE))
    tell(nodes, ingest, of_links("busy_ms_per_mb", 8.0, {(1, 0): 80.0}))
    go_on(nodes, ingest, CHANGE + 30, more=40)
    row = Incident.objects.get()
    assert (row.kind, row.subject, row.link, row.probable) == ("network", "link 1-0", [1, 0], False)
    assert row.evidence["links"] == {"0-1": 8.0, "1-0": 80.0}
    assert row.evidence["transfer"] == pytest.approx(0.045)


def test_without_links_a_slow_network_is_the_jobs(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(CHANGE))
    go_on(nodes, ingest, CHANGE + 30, more=40)
    row = Incident.objects.get()
    assert (row.kind, row.subject, row.probable) == ("network", "job", True)


def test_a_slow_network_waits_a_moment_for_what_its_links_say(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(CHANGE))
    tell(nodes, ingest, {0: [samples("link/1/busy_ms_per_mb", 0, dict.fromkeys(BEFORE, 8.0))]})
    go_on(nodes, ingest, CHANGE + 12, more=40)
    assert not Incident.objects.exists()


def test_lost_packets_are_worth_a_word_though_nobody_waits_for_them(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(CHANGE))
    tell(nodes, ingest, of_links("busy_ms_per_mb", 8.0, {}))
    tell(nodes, ingest, of_links("retransmitted", 0.0, {(0, 1): 0.02}))
    tell(nodes, ingest, {0: [samples("node/retransmits", 0, dict.fromkeys([*BEFORE, *SINCE], 30.0))]})
    go_on(nodes, ingest, CHANGE + 20)
    row = Incident.objects.get()
    assert (row.subject, row.severity, row.slowdown) == ("link 0-1", "info", 0.0)
    assert row.evidence["retransmitted"] == pytest.approx(0.02)


def test_a_late_rank_on_a_device_with_a_low_clock_is_late_by_that(attempt, nodes, ingest) -> None:
    Slot.objects.filter(node=attempt.parts.first().node).update(attempt=attempt, kind="gpu")
    for metric, usual, slow in (("gpu/sm_clock", 1980, 1200), ("gpu/temperature", 60, 91), ("gpu/util", 99, 99)):
        tell(nodes, ingest, of_ranks(metric, range(25), [usual, usual, slow, usual]))
    say(nodes, ingest, range(60), slow={2: 75})
    row = Incident.objects.get()
    assert (row.kind, row.rank, row.cause, row.probable) == ("straggler", 2, "gpu", False)
    assert (row.evidence["clock"], row.evidence["usual"]) == (1200, 1980)


def test_a_low_clock_that_nobody_waits_for_is_told_of_and_costs_nothing(attempt, nodes, ingest) -> None:
    Slot.objects.filter(node=attempt.parts.first().node).update(attempt=attempt, kind="gpu")
    tell(nodes, ingest, of_ranks("gpu/sm_clock", range(25), [1980, 1200, 1980, 1980]))
    tell(nodes, ingest, of_ranks("gpu/util", range(25), [99] * 4))
    say(nodes, ingest, range(60))
    row = Incident.objects.get()
    assert (row.kind, row.subject, row.severity, row.slowdown) == ("device", "rank 1", "info", 0.0)


def test_a_rank_whose_inputs_are_longer_is_no_straggler(attempt, nodes, ingest) -> None:
    told = [values("tokens", rank, dict.fromkeys(range(60), 8192 if rank == 3 else 4096)) for rank in range(4)]
    tell(nodes, ingest, {0: told[:2], 1: told[2:]}, "values")
    say(nodes, ingest, range(60), slow={3: 50})
    row = Incident.objects.get()
    assert (row.kind, row.subject, row.cause) == ("structural", "job", "code")


def test_a_rank_that_has_no_processor_is_late_by_that(attempt, nodes, ingest) -> None:
    tell(nodes, ingest, of_ranks("rank/run_delay", range(25), [0.01, 0.4, 0.01, 0.02]))
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        told = steps(ranks, range(60), most=40)
        if 1 in ranks:  # all its parts take half as long again
            for part, more in (("data", 1_000), ("forward", 10_000), ("backward", 25_000), ("optimizer", 1_500)):
                longer(told, 1, f"phase/{part}", more)
            longer(told, 1, "phase/exposed_comm", -37_500)
        node.say(steps=[told])
    say(nodes, ingest, range(0))
    row = Incident.objects.get()
    assert (row.kind, row.rank, row.cause, row.probable) == ("straggler", 1, "cpu", False)
    assert row.evidence["waits"] == pytest.approx(0.4)


def longer(told: StepColumns, rank: int, metric: str, us: int) -> None:
    """Change one phase of one rank by so many microseconds."""
    column = np.frombuffer(told.columns[metric], "<u4").astype(np.int64)
    column[np.frombuffer(told.rank, "<u4") == rank] += us
    told.columns[metric] = column.astype("<u4").tobytes()
