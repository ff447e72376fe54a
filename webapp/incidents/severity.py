"""What an incident's severity looks like: shape, tone and word. Pure."""

from django.utils.translation import gettext as _

from webapp.incidents.models import Incident
from webapp.runs.looks import SEVERITY, Look


def look(row: Incident) -> Look:
    """Of a closed one without colour: nothing is wrong any more."""
    shape, tone = SEVERITY[row.severity]
    if row.kind == "hang":
        shape, tone = "s-hung", "crit"
    return Look(shape, tone if row.closed_at is None else "idle", str(row.get_severity_display()))


def state(row: Incident) -> str:
    """“not acknowledged”, “acknowledged by ana”, “closed by ana”, “over”."""
    if row.closed_at is not None:
        return _("closed by %s") % row.closed_by if row.closed_by else _("over")
    if row.acknowledged_at is not None:
        return _("acknowledged by %s") % row.acknowledged_by if row.acknowledged_by else _("acknowledged")
    return _("not acknowledged")
