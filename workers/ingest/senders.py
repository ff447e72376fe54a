"""The parts of one attempt as senders of messages: kept between rounds, read again when the parts change."""

from webapp.runs.attached import MOST_RANKS
from webapp.runs.models import Attempt, RankState
from workers.ingest.received import Sender

_ANY_RANK = frozenset(range(MOST_RANKS))


class Senders:
    """By node; each may speak of its own ranks, but of an attached launch of any, since its launcher numbers them."""

    def __init__(self, attempt: Attempt) -> None:
        self.attempt = attempt
        self._known: dict[str, Sender] = {}

    def learn(self) -> list[str]:
        """Read the parts; their nodes by node rank."""
        parts = list(self.attempt.parts.values_list("node_uid", "node_rank"))
        if [(one.node, one.node_rank) for one in self._known.values()] != parts:
            ranks = self._ranks()
            none = _ANY_RANK if self.attempt.run.is_attached else frozenset()
            self._known = {
                uid: Sender(self.attempt.pk, uid, node_rank, ranks.get(node_rank, none)) for uid, node_rank in parts
            }
        return list(self._known)

    def of(self, node: str) -> Sender:
        """A part that was learned."""
        return self._known[node]

    def _ranks(self) -> dict[int, frozenset[int]]:
        if self.attempt.run.is_attached:
            return {}
        mine: dict[int, set[int]] = {}
        rows = RankState.objects.filter(attempt=self.attempt).order_by().values_list("rank", "node_rank")
        for rank, node_rank in rows:
            mine.setdefault(node_rank, set()).add(rank)
        return {node_rank: frozenset(ranks) for node_rank, ranks in mine.items()}
