"""What nodes say of each rank's step records: how many were made, how many taken up to send, which will never come."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db import connection

from webapp.runs.models import AttemptNode, RankState

MOST = 1 << 62
MOST_GAPS = 1_000  # of one rank; the count of what was dropped goes on
Gap = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Counts:
    """What one node (its key) says of its ranks in one attempt: steps by rank."""

    node: int
    attempt: int
    made: dict[int, int]
    taken: dict[int, int]


def note_counts(words: Sequence[Counts]) -> None:
    """Written at once, inside a transaction. A count never goes down, since words may come late.

    A node counts its own ranks only.
    """
    told = {(word.node, word.attempt): word for word in words}
    attempts = {word.attempt for word in words}
    parts = AttemptNode.objects.filter(attempt__in=attempts).values_list("attempt_id", "node_rank", "node_id")
    nodes = {(attempt, node_rank): node for attempt, node_rank, node in parts}
    rows = RankState.objects.filter(attempt__in=attempts).select_for_update().order_by("pk")
    changed = []
    for pk, attempt, rank, node_rank, made, sent in rows.values_list(
        "pk", "attempt_id", "rank", "node_rank", "made", "sent"
    ):
        word = told.get((nodes.get((attempt, node_rank)) or 0, attempt))
        more, taken = (word.made.get(rank, -1), word.taken.get(rank, 0)) if word else (-1, 0)
        if 0 <= more < MOST and 0 <= taken < MOST:
            changed.append((max(made or 0, more), max(sent or 0, taken), pk))
    with connection.cursor() as cursor:  # a thousand rows every two seconds: the ORM takes ten times as long
        cursor.executemany("UPDATE runs_rankstate SET made = %s, sent = %s WHERE id = %s", changed)


def with_gap(gaps: list[Gap], first: int, last: int, reason: str) -> list[Gap]:
    """The gaps and one more; the same reason right behind makes a gap longer."""
    if gaps and gaps[-1][2] == reason and gaps[-1][1] + 1 == first:
        return [*gaps[:-1], (gaps[-1][0], last, reason)]
    return [*gaps, (first, last, reason)] if len(gaps) < MOST_GAPS else gaps
