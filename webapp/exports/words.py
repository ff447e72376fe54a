"""What pages and the API say about an export."""

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.exports.models import Export, Kind, State
from webapp.runs.looks import Look

_FAILED = {
    "disk": gettext_lazy("The server's disk is too full for it. Ask an administrator to make room, then try again."),
    "killed": gettext_lazy("The worker ended several times while it made this. Ask an administrator to read its log."),
    "deleted": gettext_lazy("The run was deleted meanwhile."),
    "internal": gettext_lazy("Something went wrong on our side; it is in the server's log. Try again."),
}
_SHORT = {Kind.PARQUET: "Parquet", Kind.CSV: "CSV", Kind.JSON: "JSON", Kind.LOGS: gettext_lazy("logs")}
_LOOKS = {
    State.QUEUED: ("s-queue", "idle"),
    State.WORKING: ("s-run", "run"),
    State.DONE: ("s-ok", "ok"),
    State.FAILED: ("s-fail", "crit"),
    State.EXPIRED: ("s-dot", "idle"),
}


def look(row: Export) -> Look:
    """The state with its sign and colour."""
    symbol, tone = _LOOKS[State(row.state)]
    return Look(symbol, tone, row.get_state_display().capitalize())


def sentence(row: Export) -> str:
    """Why there is no file; empty when there is one, or will be."""
    if row.state == State.FAILED:
        return str(_FAILED.get(row.error, _FAILED["internal"]))
    if is_over(row):
        return _("Its time is over and the file was removed. Export the run again.")
    return ""


def contents(row: Export) -> list[str]:
    """What is in the file, in short."""
    return [str(_SHORT[kind]) for kind in row.kinds if kind in _SHORT]


def is_over(row: Export) -> bool:
    """It was ready once."""
    return row.state == State.EXPIRED or (row.expires_at is not None and row.expires_at <= timezone.now())
