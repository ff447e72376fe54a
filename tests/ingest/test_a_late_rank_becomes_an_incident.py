import pytest

from tests.ingest.node import turn
from tests.telemetry.batches import steps
from webapp.incidents.models import Incident
from webapp.runs.models import Attempt, Status
from workers.watch import look

pytestmark = pytest.mark.django_db(transaction=True)


def say(nodes, ingest, numbers, slow=None) -> None:
    """What the two nodes have to say of the steps, stored, looked at."""
    for node, ranks in zip(nodes, ([0, 1], [2, 3]), strict=True):
        late = {rank: more for rank, more in (slow or {}).items() if rank in ranks}
        most = max((slow or {}).values(), default=0)
        node.say(steps=[steps(ranks, numbers, slow={**dict.fromkeys(ranks, 0), **late}, most=most)])
    turn(ingest)
    ingest._look_at = 0.0
    turn(ingest)
    for held in ingest.held.values():
        held._noted = 0.0
        held.note(1e9)
    look()


def test_a_late_rank_is_found_named_kept_up_and_over(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(40))
    assert not Incident.objects.exists()
    say(nodes, ingest, range(40, 60), slow={3: 75})
    row = Incident.objects.get()
    assert (row.kind, row.rank, row.cause, row.node_rank, row.opened_step) == ("straggler", 3, "backward", 1, 40)
    assert row.slowdown == pytest.approx(0.94, abs=0.02)
    attempt.run.refresh_from_db()
    assert attempt.run.health["rank"] == 3


def test_the_first_steps_are_not_judged(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(20), slow={3: 500})
    assert not Incident.objects.exists()


def test_a_change_of_all_ranks_is_held_against_the_run_s_own_past(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(110))
    assert attempt.watch.baseline["step"][0] == pytest.approx(0.08)
    say(nodes, ingest, range(110, 140), slow=dict.fromkeys(range(4), 30))
    row = Incident.objects.get()
    assert (row.kind, row.rank, row.cause, row.subject) == ("regression", None, "backward", "job")


def test_the_end_of_the_run_is_the_end_of_its_incidents(attempt, nodes, ingest) -> None:
    say(nodes, ingest, range(40), slow={0: 75})
    Attempt.objects.filter(pk=attempt.pk).update(status=Status.ENDED)
    look()
    assert Incident.objects.get().closed_at is not None
