"""What a state looks like: always a shape, a tone and a word."""

from dataclasses import dataclass

from django.utils.translation import gettext as _

from webapp.language.numerals import numeral
from webapp.runs import health_words
from webapp.runs.models import Outcome, Run, Stateful, Status

# Of an incident's severity: (shape, tone).
SEVERITY = {"info": ("s-dot", "idle"), "warning": ("s-warn", "warn"), "critical": ("s-crit", "crit")}


@dataclass(frozen=True)
class Look:
    """`shape` is a symbol of parts/sprite.html, `tone` one of run, ok, warn, crit, idle."""

    shape: str
    tone: str
    word: str
    hint: str = ""
    incident: int | None = None  # that the badge leads to

    @property
    def spins(self) -> bool:
        return self.shape == "s-run"


def look(row: Stateful) -> Look:
    """The state of a run or an attempt."""
    if row.status == Status.ENDED:
        return _ended(row.outcome)
    health = getattr(row, "health", None) or {}
    if row.status == Status.RUNNING and health.get("kind") == "hang":
        return Look("s-hung", "crit", _("Hung"))
    return {
        Status.QUEUED: Look("s-queue", "idle", _("Queued")),
        Status.STARTING: Look("s-run", "run", _("Starting")),
        Status.RUNNING: Look("s-run", "run", _("Running")),
        Status.STOPPING: Look("s-run", "idle", _("Stopping")),
    }[Status(row.status)]


def health(run: Run, waits: str = "") -> Look | None:
    """The badge in the health column; None is "in line". `waits`: what a queued run waits for, as a sentence."""
    if run.status == Status.QUEUED:
        return Look("", "idle", (waits or _("Waits for its turn.")).split(". ")[0].rstrip("."), waits)
    if run.status == Status.ENDED and run.outcome in (Outcome.FAILED, Outcome.LOST):
        return Look("s-fail", "crit", _fault(run))
    found = run.health if run.status != Status.ENDED else {}
    if run.loss_text and found.get("kind") != "hang":  # nothing that is slow matters more
        return Look("s-crit", "crit", _broken(run))
    if not found.get("kind"):
        return None
    shape, tone = SEVERITY.get(str(found.get("severity")), SEVERITY["warning"])
    if found["kind"] == "hang":
        shape, tone = "s-hung", "crit"
    return Look(shape, tone, health_words.badge(found), incident=found.get("incident"))


def _ended(outcome: str) -> Look:
    return {
        Outcome.SUCCEEDED: Look("s-ok", "ok", _("Finished")),
        Outcome.FAILED: Look("s-fail", "crit", _("Failed")),
        Outcome.LOST: Look("s-fail", "crit", _("Lost")),
        Outcome.STOPPED: Look("s-stop", "idle", _("Stopped")),
    }.get(Outcome(outcome) if outcome else Outcome.STOPPED, Look("s-stop", "idle", _("Ended")))


def _broken(run: Run) -> str:
    if run.loss_since is None:
        return _("loss is %s") % run.loss_text
    return _("loss is %(text)s since step %(step)s") % {"text": run.loss_text, "step": numeral(run.loss_since)}


def _fault(run: Run) -> str:
    detail = run.detail
    rank, node, code, signal = (detail.get(key) for key in ("rank", "node", "code", "signal"))
    if run.outcome == Outcome.LOST:
        return _("%s lost") % (node or _("node"))
    if rank is not None and signal:
        return _("rank %(rank)s killed by signal %(signal)s") % {"rank": rank, "signal": signal}
    if rank is not None and code is not None:
        return _("rank %(rank)s exit %(code)s") % {"rank": rank, "code": code}
    if rank is not None:
        return str(_("rank %s failed") % rank)
    return str(run.reason).replace("_", " ") or _("failed")
