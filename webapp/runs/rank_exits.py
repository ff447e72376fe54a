"""How the ranks of an attempt ended, read from its rows for those who judge it."""

from datetime import timedelta

from webapp.nodes.models import CommandKind
from webapp.runs.first_failure import Exit, Verdict, culprit, explain
from webapp.runs.models import Attempt

# A victim's report may overtake the culprit's; an exit later than our own stop order proves nothing.
_CLOCK_SLACK = timedelta(seconds=0.2)


def verdict(attempt: Attempt) -> Verdict | None:
    """Who failed first, and why, by the exits that our own order to stop did not bring about; None when nobody did."""
    stops = attempt.commands.filter(kind=CommandKind.STOP).order_by("pk")
    ordered = stops.values_list("created_at", flat=True).first()
    first = culprit(exit_ for exit_ in _exits(attempt) if ordered is None or exit_.at <= ordered + _CLOCK_SLACK)
    return None if first is None else explain(first, _made(attempt), nodes=attempt.parts.count())


def _exits(attempt: Attempt) -> list[Exit]:
    node_of = dict(attempt.parts.values_list("node_rank", "node_name"))
    return [
        Exit(
            rank=row.rank,
            node=node_of.get(row.node_rank, ""),
            code=row.exit_code,
            signal=row.exit_signal,
            at=row.exited_at,
            traceback=row.traceback,
            oom=bool(row.facts.get("oom")),
            oom_by=str(row.facts.get("oom_by", "")),
        )
        for row in attempt.ranks.exclude(exited_at=None)
        if row.exited_at is not None
    ]


def _made(attempt: Attempt) -> dict[int, int]:
    """Rank -> steps made; empty unless it is known of all."""
    made = {rank: count for rank, count in attempt.ranks.values_list("rank", "made") if count is not None}
    return made if len(made) == attempt.world_size else {}
