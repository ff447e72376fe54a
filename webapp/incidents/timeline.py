"""An incident's timeline in words."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from webapp.incidents.models import Incident, IncidentEvent
from webapp.incidents.words import PARTS


@dataclass(frozen=True)
class Line:
    """`who`: the person, empty when it was Paceline. `said`: of a comment, as it was typed."""

    at: datetime
    shape: str
    tone: str
    text: str
    who: str = ""
    said: str = ""


def lines(row: Incident) -> list[Line]:
    """Newest first."""
    return [_line(event) for event in row.events.order_by("-pk")]


def _line(event: IncidentEvent) -> Line:
    shape, tone, say = _KINDS.get(event.kind, ("s-dot", "", lambda event: event.kind))
    return Line(event.at, shape, tone, say(event), event.actor, event.text)


def _opened(event: IncidentEvent) -> str:
    text = _("Found")
    share = _share(event)
    return _("%(text)s, steps take %(share)s longer") % {"text": text, "share": share} if share else text


def _worse(event: IncidentEvent) -> str:
    share = _share(event)
    return _("Got worse: steps take %s longer") % share if share else _("Got worse")


def _cause(event: IncidentEvent) -> str:
    cause = str(event.data.get("cause", ""))
    return _("Cause found: %s") % PARTS.get(cause, cause)


def _confirmed(event: IncidentEvent) -> str:
    cause = str(event.data.get("cause", ""))
    return _("%(who)s confirmed the cause: %(cause)s") % {"who": event.actor, "cause": PARTS.get(cause, cause)}


def _assigned(event: IncidentEvent) -> str:
    to = event.data.get("to")
    if to == event.actor:
        return str(_("%s took it") % to)
    return _("%(who)s gave it to %(to)s") % {"who": event.actor, "to": to or _("nobody")}


def _closed(event: IncidentEvent) -> str:
    if event.actor:
        return _("%s closed it") % event.actor
    return _("Over: the run ended") if event.data.get("run_ended") else _("Over: not seen any more")


def _share(event: IncidentEvent) -> str:
    slowdown = float(event.data.get("slowdown") or 0)
    return f"{100 * slowdown:.0f} %" if slowdown >= 0.005 else ""


_KINDS: dict[str, tuple[str, str, Callable[[IncidentEvent], str]]] = {
    "opened": ("s-warn", "warn", _opened),
    "reopened": ("s-warn", "warn", lambda _event: _("Back again")),
    "worse": ("s-crit", "crit", _worse),
    "cause": ("s-dot", "acc", _cause),
    "confirmed": ("s-dot", "acc", _confirmed),
    "placed": ("s-dot", "acc", lambda _event: _("Its place is found")),
    "acknowledged": ("s-dot", "acc", lambda event: _("%s acknowledged it") % event.actor),
    "assigned": ("s-dot", "", _assigned),
    "comment": ("s-dot", "acc", lambda event: event.actor),
    "closed": ("s-ok", "ok", _closed),
}
