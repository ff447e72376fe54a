"""What the run page says in words: one dict for the page and for its live update."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Sum
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.language.numerals import numeral
from webapp.runs import looks, pace, wording
from webapp.runs.models import Attempt, Outcome, Run, RunEvent, Status
from webapp.runs.templatetags.figures import duration, ms
from webapp.telemetry.models import Metric, Parked

MOST_EVENTS = 500
MOST_NAMES = 24  # of nodes; there is room for a few, and the pointer over them shows some more
ALIVE = (Status.STARTING, Status.RUNNING, Status.STOPPING)


@dataclass(frozen=True)
class Fact:
    """One of the three facts: when it was last true, and from which age (seconds) on it is late or stale."""

    word: str
    hint: str
    at: datetime | None
    late: float
    stale: float

    @property
    def age(self) -> float:
        return (timezone.now() - self.at).total_seconds() if self.at else 0.0

    @property
    def state(self) -> str:
        if self.at is None:
            return "none"
        return "stale" if self.age >= self.stale else "late" if self.age >= self.late else ""

    @property
    def words(self) -> str:
        return duration(self.age, "short")


class _Rank(NamedTuple):
    """What the page counts of each rank: columns alone, for there may be a thousand."""

    started_at: datetime | None
    exited_at: datetime | None
    exit_code: int | None
    dropped: dict[str, object]


def parts(run: Run, attempt: Attempt, *, can_edit: bool) -> dict[str, Any]:
    """Everything that templates/runs/run/parts.html draws."""
    ranks = [_Rank(*row) for row in attempt.ranks.values_list(*_Rank._fields)]
    look, health = looks.look(attempt), looks.health(run) if _health_counts(run, attempt) else None
    return {
        "run": run,
        "attempt": attempt,
        "newest": run.attempt_count,
        "look": look,
        "health": health,
        "sign": health if health and attempt.status == Status.RUNNING else look,
        "can_edit": can_edit,
        "stop_until": _stop_until(run, attempt),
        "facts": facts(run, attempt),
        "node_names": _node_names(attempt),
        "marks": _marks(run, attempt),
        "ranks_say": _ranks_say(run, attempt, ranks),
        "progress": progress(run, attempt),
        "telemetry": telemetry(attempt, ranks),
        "banner": banner(attempt),
        "cleanup": wording.cleanup_sentence(attempt),
        "events": _events(run),
    }


def facts(run: Run, attempt: Attempt) -> list[Fact]:
    """Process, telemetry, progress; none before the ranks exist and none after they ended."""
    if attempt.status not in ALIVE:
        return []
    step = 1 / run.steps_per_s if run.steps_per_s else 1.0
    return [
        Fact(_("process"), _("The nodes said that the processes live"), attempt.process_at, 6, 15),
        Fact(_("telemetry"), _("Data was stored"), attempt.telemetry_at, 8, 30),
        Fact(_("progress"), _("The step moved"), attempt.progress_at, max(8, 5 * step), max(30, 20 * step)),
    ]


def progress(run: Run, attempt: Attempt) -> dict[str, Any]:
    """Steps done (they are numbered from 0), of how many, and the seconds that are left at this speed."""
    done = 0 if attempt.last_step is None else attempt.last_step + 1
    total = run.total_steps or run.spec.get("total_steps")
    share = min(100.0, 100 * done / total) if total else None
    newest = attempt.number == run.attempt_count
    speed = run.steps_per_s if newest else None
    left = (total - done) / speed if total and speed and attempt.status == Status.RUNNING else None
    texts = {"speed_text": _rate(speed), "step_text": ms(1 / speed)} if speed else {}
    return {"done": done, "total": total, "share": share, "left": left, "speed": speed, **texts}


def telemetry(attempt: Attempt, ranks: list[_Rank]) -> dict[str, int]:
    """What was stored, and what is missing: dropped on the way (the sender counted it) or parked (unreadable)."""
    stored = Metric.objects.filter(attempt=attempt).aggregate(points=Sum("points"), metrics=Count("pk"))
    return {
        "points": stored["points"] or 0,
        "metrics": stored["metrics"],
        "dropped": sum(count for rank in ranks for count in rank.dropped.values() if isinstance(count, int)),
        "parked": Parked.objects.filter(attempt=attempt).count(),
    }


def banner(attempt: Attempt) -> dict[str, Any] | None:
    """What stands out: why it waits, or how it ended badly, with the first failing rank's traceback and what to do."""
    if attempt.status == Status.QUEUED:
        return {"tone": "info", "shape": "s-queue", "head": wording.waits_sentence(attempt)}
    if attempt.outcome in ("", Outcome.SUCCEEDED) or (attempt.outcome, attempt.status) == (
        Outcome.STOPPED,
        Status.STOPPING,
    ):
        return None
    failed = attempt.outcome in (Outcome.FAILED, Outcome.LOST)
    guilty = attempt.ranks.filter(rank=attempt.detail.get("rank")).first()
    return {
        "tone": "crit" if failed else "info",
        "shape": "s-fail" if failed else "s-stop",
        "head": wording.outcome_sentence(attempt),
        "next": wording.NEXT_STEP.get(attempt.reason, "") if failed else "",
        "rank": guilty.rank if guilty else None,
        "check": attempt.detail.get("check"),
        "traceback": guilty.traceback if guilty and failed else "",
    }


def _health_counts(run: Run, attempt: Attempt) -> bool:
    """A rank that is late matters while the run runs, a broken loss also afterwards."""
    newest = attempt.number == run.attempt_count
    return attempt.status == Status.RUNNING or (newest and bool(run.loss_text))


def _rate(per_second: float) -> str:
    return numeral(per_second, ",.2f" if per_second < 10 else ",.1f" if per_second < 100 else ",.0f")


def _stop_until(run: Run, attempt: Attempt) -> datetime | None:
    """When the grace period of a stop is over and the node kills what is left."""
    if attempt.status != Status.STOPPING or attempt.stop_requested_at is None:
        return None
    return attempt.stop_requested_at + timedelta(seconds=float(run.spec.get("grace", 20)))


def _node_names(attempt: Attempt) -> str:
    names = list(attempt.parts.values_list("node_name", flat=True)[: MOST_NAMES + 1])
    return ", ".join([*names[:MOST_NAMES], "…"] if len(names) > MOST_NAMES else names)


def _marks(run: Run, attempt: Attempt) -> list[str]:
    return pace.of_run(run) if attempt.number == run.attempt_count else []


def _ranks_say(run: Run, attempt: Attempt, ranks: list[_Rank]) -> str:
    live = sum(rank.started_at is not None and rank.exited_at is None for rank in ranks)
    if attempt.status == Status.QUEUED:
        return _("not placed yet")
    if attempt.status == Status.ENDED:
        return _ended_ranks_say(ranks)
    if live < len(ranks):
        return _("%(live)s of %(all)s live") % {"live": live, "all": len(ranks)}
    if run.health.get("kind") and run.health.get("rank") is not None:
        return _("%(n)s in line, rank %(rank)s behind") % {"n": len(ranks) - 1, "rank": run.health["rank"]}
    return ngettext("one rank, live", "all live", len(ranks))


def _ended_ranks_say(ranks: list[_Rank]) -> str:
    if not any(rank.started_at or rank.exited_at for rank in ranks):
        return _("never started")
    good = sum(rank.exit_code == 0 for rank in ranks)
    if good == len(ranks):
        return _("all exited with 0")
    return _("%(good)s of %(all)s exited with 0") % {"good": good, "all": len(ranks)}


def _events(run: Run) -> list[tuple[RunEvent, str]]:
    newest = RunEvent.objects.filter(run=run).select_related("attempt", "run").order_by("-pk")[:MOST_EVENTS]
    return [(event, wording.event_text(event)) for event in newest]
