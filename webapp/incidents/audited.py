"""What people do with incidents, in the audit log."""

from django.http import HttpRequest

from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.incidents.models import Incident


def note_act(request: HttpRequest, verb: Verb, row: Incident, *, detail: str = "") -> None:
    """Add a row, under the incident's number and its run."""
    run = row.attempt.run
    note(request, verb, f"#{row.pk} {row.kind} · {run}", run.project, detail=detail)
