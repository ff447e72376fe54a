"""Autopsies: the nodes are asked what every rank of an attempt is doing, and their answers are kept."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from trainer_agent.wire.messages import Event
from webapp.incidents.hang.facts import Facts, facts_of
from webapp.incidents.hang.verdict import Verdict, judge
from webapp.incidents.models import Autopsy, AutopsyPiece, AutopsyRank, Incident
from webapp.incidents.pieces import put_together, taken_apart
from webapp.language.numerals import numeral
from webapp.nodes.commands import accept_autopsy, order
from webapp.nodes.models import CommandKind
from webapp.nodes.reach import heard_within, is_reachable
from webapp.queue import CONCLUDE, hint
from webapp.runs import secrets
from webapp.runs.models import Attempt, AttemptNode, RankState, Run
from webapp.runs.state import PLACED

QUICK, OF_STEP = 2.0, 5.0  # seconds, and times the run's usual step
QUIET = timedelta(seconds=6)  # three heartbeats: of a node that has not answered while others have, enough to be away
ANSWERED_IN = timedelta(seconds=6)  # after it no more answers are waited for


@dataclass(frozen=True, slots=True)
class Answers:
    """`ranks` answered; of `silent` ones nothing is known, since their node cannot be reached or said nothing."""

    ranks: dict[int, Facts]
    silent: frozenset[int]
    unreachable: frozenset[int]
    asked: int


@transaction.atomic
def ask(attempt: Attempt, *, by: str = "", incident: Incident | None = None) -> Autopsy:
    """Ask every node that still holds a part. `by`: a person; empty: the hang watch."""
    row = Autopsy.objects.create(attempt=attempt, asked_by=by, incident=incident)
    for part in attempt.parts.filter(finished_at=None, node__isnull=False).select_related("node"):
        assert part.node is not None
        order(CommandKind.AUTOPSY, part.node, attempt, asked=row.pk)
    return row


def ask_for(run: Run, *, by: str) -> Autopsy | None:
    """A person asks of the run's newest attempt. A question that is still being answered is not asked again.

    None when no rank of it can live.
    """
    attempt = run.attempts.order_by("-number").first()
    if attempt is None or attempt.status not in PLACED or not attempt.ranks.filter(started_at__isnull=False).exists():
        return None
    under_way = attempt.autopsies.filter(asked_at__gt=timezone.now() - ANSWERED_IN, verdict={}).first()
    return under_way or ask(attempt, by=by)


def take(part: AttemptNode, asked: int, event: Event) -> None:
    """One rank's answer, inside ingest's transaction. An answer to nobody's question is no error."""
    row = Autopsy.objects.filter(pk=asked, attempt=part.attempt_id).first()
    if row is None or event.rank is None:
        return
    accept_autopsy(part.node, part.attempt_id, asked)
    facts = msgspec.to_builtins(facts_of({**event.data, "log": _redacted(part.attempt, event.data.get("log"))}))
    rest, pieces = taken_apart(facts)
    new = [AutopsyPiece(autopsy=row, digest=digest, content=content) for digest, content in pieces.items()]
    AutopsyPiece.objects.bulk_create(new, ignore_conflicts=True)
    AutopsyRank.objects.update_or_create(autopsy=row, rank=event.rank, defaults={"facts": rest})
    if row.ranks.count() >= part.attempt.ranks.count():
        hint(CONCLUDE, row.pk)


def told(row: Autopsy, first: int = 0, most: int | None = None) -> dict[int, dict[str, Any]]:
    """Rank -> its facts as it told them, of at most `most` ranks from `first` on."""
    pieces = dict(row.pieces.values_list("digest", "content"))
    found = row.ranks.filter(rank__gte=first).order_by("rank")[:most]
    return {one.rank: put_together(one.facts, pieces) for one in found}


def answers(row: Autopsy) -> Answers:
    """What is known now."""
    ranks = {rank: facts_of(facts) for rank, facts in told(row).items()}
    places = dict(RankState.objects.filter(attempt=row.attempt_id).values_list("rank", "node_rank"))
    now = timezone.now()
    away = {
        part.node_rank
        for part in row.attempt.parts.filter(finished_at=None).select_related("node")
        if part.node is None or not is_reachable(part.node, now) or (ranks and not heard_within(part.node, QUIET, now))
    }
    silent = frozenset(places) - frozenset(ranks)
    return Answers(ranks, silent, frozenset(rank for rank in silent if places[rank] in away), len(places))


def is_complete(row: Autopsy, found: Answers, now: datetime) -> bool:
    """Whether no more answers are to be waited for."""
    return found.silent <= found.unreachable or now - row.asked_at > ANSWERED_IN


def conclude(row: Autopsy, found: Answers) -> Verdict:
    """The verdict, kept with the autopsy."""
    quick = _quick(row.attempt.run) if row.asked_by else 0.0
    verdict = judge(found.ranks, found.unreachable, quick, unheard=found.silent > found.unreachable)
    row.verdict = stored(verdict)
    Autopsy.objects.filter(pk=row.pk).update(verdict=row.verdict)
    return verdict


def _quick(run: Run) -> float:
    """Seconds in which a run that is not stuck makes a step. The hang watch has waited long enough before it asks."""
    return max(QUICK, OF_STEP / run.steps_per_s) if run.steps_per_s else QUICK


def stored(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON keeps it."""
    plain = {name: value for name, value in asdict(verdict).items() if name not in ("frame", "calls")}
    calls = [{"ranks": call.ranks, "what": call.what, "frame": _plain(call.frame)} for call in verdict.calls]
    return {**plain, "frame": _plain(verdict.frame), "calls": calls}


def who_answered(found: Answers) -> str:
    """“3 of 4 ranks answered.” and what is known of the others."""
    numbers = {"n": numeral(len(found.ranks)), "all": numeral(found.asked)}
    text = ngettext("%(n)s of %(all)s rank answered.", "%(n)s of %(all)s ranks answered.", found.asked) % numbers
    if found.silent:
        ranks = ", ".join(map(str, sorted(found.silent)[:8])) + (", …" if len(found.silent) > 8 else "")
        why = _("their node cannot be reached") if found.silent <= found.unreachable else _("their node said nothing")
        text += " " + _("Not: %(ranks)s (%(why)s).") % {"ranks": ranks, "why": why}
    gone = sorted(rank for rank, facts in found.ranks.items() if not facts.alive)
    if gone:
        text += " " + _("The process of these ranks is gone: %s.") % ", ".join(map(str, gone[:8]))
    return text


def _plain(frame: Any) -> dict[str, Any] | None:
    return None if frame is None else {"name": frame.name, "filename": frame.filename, "line": frame.line}


def _redacted(attempt: Attempt, lines: Any) -> list[str]:
    if not isinstance(lines, list | tuple):
        return []
    return [secrets.redact(attempt.run, str(line).replace("\0", "")) for line in lines]
