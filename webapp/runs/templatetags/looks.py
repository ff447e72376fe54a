"""Status, health and pace line as tags, so that a list, a page and a live update draw them alike."""

from typing import Any

from django import template

from webapp.runs import looks, pace, spark
from webapp.runs.models import Run, Stateful

register = template.Library()


@register.inclusion_tag("parts/status.html")
def status(row: Stateful) -> dict[str, Any]:
    """Shape and word, as in a table."""
    return {"look": looks.look(row), "kind": "st"}


@register.inclusion_tag("parts/status.html")
def status_pill(row: Stateful) -> dict[str, Any]:
    """Shape and word, as a pill in the run bar."""
    return {"look": looks.look(row), "kind": "pill"}


@register.inclusion_tag("parts/health.html")
def health(run: Run, waits: str = "") -> dict[str, Any]:
    """The badge of the health column, or "in line"."""
    return {"look": looks.health(run, waits), "quiet": run.last_step is None}


@register.inclusion_tag("parts/pace.html")
def pace_of(run: Run) -> dict[str, Any]:
    """The pace line of a run's summary row."""
    return {"marks": pace.of_run(run)}


@register.inclusion_tag("parts/pace.html")
def pace_line(marks: list[str], large: bool = False) -> dict[str, Any]:
    """A pace line of given marks, see runs/pace.py."""
    return {"marks": marks, "large": large}


@register.inclusion_tag("parts/spark.html")
def spark_of(run: Run) -> dict[str, Any]:
    """The loss of a run's summary row as a sparkline."""
    return {"spark": spark.spark(run.spark)}
