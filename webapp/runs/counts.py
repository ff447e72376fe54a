"""What nodes say of each rank's step records: how many were made, how many taken up to send, which will never come."""

from django.db.models import BigIntegerField, Case, F, Value, When
from django.db.models.functions import Coalesce, Greatest

from webapp.nodes.models import Node
from webapp.runs.models import AttemptNode, RankState

MOST = 1 << 62
MOST_GAPS = 1_000  # of one rank; the count of what was dropped goes on
Gap = tuple[int, int, str]


def note_counts(node: Node | None, attempt_id: int, made: dict[int, int], taken: dict[int, int]) -> None:
    """One update for the ranks that the node has in the attempt. A count never goes down: words may come late."""
    known = {rank: count for rank, count in made.items() if 0 <= count < MOST and 0 <= taken.get(rank, 0) < MOST}
    if not known or node is None:
        return
    own = AttemptNode.objects.filter(node=node, attempt_id=attempt_id).values("node_rank")
    rows = RankState.objects.filter(attempt_id=attempt_id, node_rank__in=own, rank__in=known)
    rows.update(made=_highest("made", known), sent=_highest("sent", {rank: taken.get(rank, 0) for rank in known}))


def with_gap(gaps: list[Gap], first: int, last: int, reason: str) -> list[Gap]:
    """The gaps and one more; the same reason right behind makes a gap longer."""
    if gaps and gaps[-1][2] == reason and gaps[-1][1] + 1 == first:
        return [*gaps[:-1], (gaps[-1][0], last, reason)]
    return [*gaps, (first, last, reason)] if len(gaps) < MOST_GAPS else gaps


def _highest(field: str, counts: dict[int, int]) -> Case:
    known = Coalesce(F(field), Value(0))
    told = [When(rank=rank, then=Greatest(known, Value(count))) for rank, count in counts.items()]
    return Case(*told, default=F(field), output_field=BigIntegerField())
