"""What an incident's page says: the parts that are told again while it is open, and the whole page."""

from typing import Any

from django.urls import reverse

from webapp.accounts.models import User
from webapp.incidents import evidence, lineup, severity, timeline, words
from webapp.incidents.chart_words import WORDS, title
from webapp.incidents.cost import cost_of
from webapp.incidents.forms import CauseForm, CommentForm
from webapp.incidents.listing import KINDS
from webapp.incidents.models import Incident
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import Status


def said(row: Incident) -> dict[str, Any]:
    """Everything that templates/incidents/live.html draws."""
    project = row.attempt.run.project
    return {
        "incident": row,
        "run": row.attempt.run,
        "look": severity.look(row),
        "state": severity.state(row),
        "kind": KINDS.get(row.kind, row.kind),
        "sentence": words.sentence(row),
        "cause": words.cause(row),
        "next_step": words.next_step(row),
        "lineup": lineup.lineup_of(row),
        "cost": cost_of(row, project.slot_hour_price, project.currency),
        "timeline": timeline.lines(row),
    }


def whole(row: Incident, user: User, comment: CommentForm) -> dict[str, Any]:
    """And what stays: the forms, and the charts' frames."""
    project = row.attempt.run.project
    charts = [(name, title(name)) for name in evidence.shown(row)]
    return said(row) | {
        "can_edit": access.allows(user, project, Role.EDITOR),
        "members": project.members.filter(is_active=True).order_by("username"),
        "comment": comment,
        "causes": CauseForm() if words.cause(row) else None,
        "autopsy": row.autopsies.first(),
        "charts": [{"id": name, "title": told, "wide": not at % 2} for at, (name, told) in enumerate(charts)],
        "words": WORDS,
        "config": {
            "panels": reverse("incidents:panels", args=[row.pk]),
            "live": row.closed_at is None and row.attempt.status != Status.ENDED,
            "bad": "crit" if row.kind == "hang" else "lost",
        },
    }
