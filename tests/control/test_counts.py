"""How many step records each rank made and its node took, as nodes say it twice: live and at the end."""

import pytest
from django.utils import timezone

from tests.control.cluster import beat, node_of, part_of, running, say
from trainer_agent.wire.messages import AttemptAlive
from webapp.nodes import heartbeats

pytestmark = pytest.mark.django_db


def counts(attempt) -> list[tuple[int | None, int | None]]:
    return list(attempt.ranks.order_by("rank").values_list("made", "sent"))


def test_a_heartbeat_and_the_last_words_of_a_node_count_its_own_ranks_and_never_down(redis_client):
    attempt = running(nodes=2, ranks_per_node=1)
    told = AttemptAlive(attempt=attempt.pk, ranks=[0], made={0: 40, 1: 99}, taken={0: 38, 1: 99})
    beat(redis_client, node_of(attempt, 0), told, trouble="No space is left.")
    heartbeats.read(timezone.now())
    assert counts(attempt) == [(40, 38), (None, None)]
    assert node_of(attempt, 0).vitals["trouble"] == "No space is left."

    say(part_of(attempt, 0), "counted", 0, made=39, taken=41)
    say(part_of(attempt, 1), "counted", 1, made=7, taken=7)
    say(part_of(attempt, 1), "counted", 0, made=500, taken=500)
    assert counts(attempt) == [(40, 41), (7, 7)]


def test_counts_that_did_not_change_are_not_written_again(redis_client):
    attempt = running(nodes=1, ranks_per_node=2)
    node = node_of(attempt, 0)
    told = AttemptAlive(attempt=attempt.pk, ranks=[0, 1], made={0: 4, 1: 4}, taken={0: 4, 1: 4})
    beat(redis_client, node, told)
    heartbeats.read(timezone.now())
    attempt.ranks.update(made=1)  # so that another write would be seen
    beat(redis_client, node, told, at=timezone.now().timestamp() + 1)
    assert heartbeats.read(timezone.now()) == 1
    assert [made for made, _sent in counts(attempt)] == [1, 1]


def test_steps_that_never_come_are_gaps_with_their_reason():
    attempt = running(nodes=1, ranks_per_node=1)
    part = part_of(attempt, 0)
    for first, last, reason in ((3, 5, "overwritten"), (6, 6, "overwritten"), (20, 29, "disk_full")):
        say(part, "dropped", 0, what="steps", count=last - first + 1, reason=reason, first=first, last=last)
    say(part, "dropped", 0, what="log bytes", count=70, reason="disk_full")
    rank = attempt.ranks.get()
    assert rank.gaps == [[3, 6, "overwritten"], [20, 29, "disk_full"]]
    assert rank.dropped == {"steps": 14, "log bytes": 70}
