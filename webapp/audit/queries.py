"""Reads of the audit log: filtered, newest first, in pages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from webapp.audit.models import Entry

PAGE = 100


@dataclass(frozen=True, slots=True)
class Page:
    rows: list[Entry]
    older: int | None  # `before` of the next page


def page(entries: QuerySet[Entry], asked: Mapping[str, Any], before: int | None) -> Page:
    """At most `PAGE` rows older than the row `before`. `asked`: person, verb, since and until (whole days)."""
    if asked.get("person"):
        entries = entries.filter(actor_name__iexact=asked["person"])
    if asked.get("verb"):
        entries = entries.filter(verb=asked["verb"])
    if asked.get("since"):
        entries = entries.filter(at__gte=_midnight(asked["since"]))
    if asked.get("until"):
        entries = entries.filter(at__lt=_midnight(asked["until"] + timedelta(days=1)))
    if before:
        entries = entries.filter(pk__lt=before)
    rows = list(entries.select_related("project").order_by("-pk")[: PAGE + 1])
    return Page(rows[:PAGE], rows[PAGE - 1].pk if len(rows) > PAGE else None)


def _midnight(day: Any) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))
