"""The line-up of an incident: one mark per rank, those at fault out of line, those that only wait for them hatched."""

from dataclasses import dataclass

from django.db.models import Q
from django.utils.translation import ngettext

from webapp.incidents import words
from webapp.incidents.models import Incident
from webapp.language.numerals import numeral
from webapp.telemetry.models import Metric
from webapp.telemetry.points import EXPOSED

MOST = 32  # ranks that are drawn one by one


@dataclass(frozen=True)
class Mark:
    """`look`: slow, hung, wait or nothing."""

    rank: int
    look: str


@dataclass(frozen=True)
class Lineup:
    """`nodes`: (name, marks). `waiting`: what is said of the victims, empty where there are none."""

    nodes: list[tuple[str, list[Mark]]]
    waiting: str
    victims: list[int]


def lineup_of(row: Incident) -> Lineup | None:
    """None where no rank is named, or there are too many to draw."""
    guilty, victims = set(words.ranks_of(row)), victims_of(row)
    waiting = ngettext("%(n)s rank waits for it", "%(n)s ranks wait for it", len(victims)) % {
        "n": numeral(len(victims))
    }
    if not guilty:
        return None
    ranks = row.attempt.ranks.all()
    bad = "hung" if row.kind == "hang" else "slow"
    looks = dict.fromkeys(victims, "wait") | dict.fromkeys(guilty, bad)
    names = {part.node_rank: part.node_name for part in row.attempt.parts.all()}
    nodes: dict[int, list[Mark]] = {}
    for rank in sorted(ranks, key=lambda rank: rank.rank) if len(ranks) <= MOST else ():
        nodes.setdefault(rank.node_rank, []).append(Mark(rank.rank, looks.get(rank.rank, "")))
    drawn = [(names.get(node, str(node)), marks) for node, marks in sorted(nodes.items())]
    return Lineup(drawn, waiting if victims else "", sorted(victims))


def victims_of(row: Incident) -> list[int]:
    """Ranks that only wait for the subject: as they were found, else all others of a job that communicates."""
    if row.victims or row.kind not in ("straggler", "device"):
        return [int(rank) for rank in row.victims]
    if not Metric.objects.filter(attempt=row.attempt, name=EXPOSED).exists():
        return []
    guilty = set(words.ranks_of(row))
    at_once = Q(closed_at=None) | Q(closed_at__gte=row.opened_at)
    for other in row.attempt.incidents.filter(at_once, kind=row.kind, opened_at__lte=row.seen_at):
        guilty |= set(words.ranks_of(other))
    return [rank.rank for rank in row.attempt.ranks.all() if rank.rank not in guilty] if guilty else []
