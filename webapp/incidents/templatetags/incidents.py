"""Open incidents as tags, for the top bar of every page and the strip of a run's page."""

import json
from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser

from webapp.accounts.models import User
from webapp.incidents import queries, severity, words
from webapp.incidents.models import Severity
from webapp.runs.models import Attempt

register = template.Library()
SHOWN = 3  # lines of the strip; the others are folded


@register.simple_tag
def open_incidents(user: User | AnonymousUser) -> int:
    """How many open incidents the person can see."""
    return queries.visible(user).filter(closed_at=None).order_by().count()


@register.inclusion_tag("runs/run/incidents.html")
def incidents_of(attempt: Attempt, shared: object = None) -> dict[str, Any]:
    """Open incidents of an attempt, the worst first. `shared`: for guests, without links and names of people."""
    rows = list(attempt.incidents.filter(closed_at=None).select_related("attempt", "acknowledged_by"))
    rows.sort(key=lambda row: (row.kind != "hang", -list(Severity.values).index(row.severity), -row.slowdown))
    lines = [{"row": row, "look": severity.look(row), "sentence": words.sentence(row)} for row in rows]
    marks = {str(rank): severity.look(row).tone for row in reversed(rows) for rank in words.ranks_of(row)}
    return {"lines": lines[:SHOWN], "folded": lines[SHOWN:], "marks": json.dumps(marks), "shared": shared}
