"""The page of a project's alerts, and what is new for the browser's own notifications."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.signed_in import signed_in
from webapp.alerts import queries, silences, words
from webapp.alerts.default_rule import ensure
from webapp.alerts.forms import ChannelForm, SilenceForm
from webapp.alerts.models import Alert, Delivery
from webapp.alerts.queries import SHOWN, project_for
from webapp.projects import access
from webapp.projects.models import Project, Role
from webapp.runs.looks import SEVERITY, Look

_OVERLAP = timedelta(seconds=10)  # a transaction may commit later than another that began after it
_MOST_NEW = 5


@login_required
@never_cache
@require_safe
def page(request: HttpRequest, slug: str) -> HttpResponse:
    """Open alerts, rules, channels, messages and silences; for the live update only what changes by itself."""
    project = project_for(signed_in(request), slug, Role.VIEWER)
    if request.headers.get("HX-Request") == "true":
        return render(request, "alerts/live.html", _live(project))
    return whole(request, project, ChannelForm(), SilenceForm())


def whole(request: HttpRequest, project: Project, channel: ChannelForm, silence: SilenceForm) -> HttpResponse:
    """The page, with these forms; 422 when one of them has errors."""
    ensure(project)
    user = signed_in(request)
    over = queries.of_project(project).exclude(closed_at=None).order_by("-closed_at")
    context = {
        **_live(project),
        "closed": [_row(row) for row in over[:SHOWN]],
        "rules": [{"rule": rule, "asks": words.asks(rule)} for rule in project.alert_rules.all()],
        "channels": project.alert_channels.all(),
        "told_there": ", ".join(rule.name for rule in project.alert_rules.filter(enabled=True)),
        "channel_form": channel,
        "silence_form": silence,
        "silences": silences.to_come(project, timezone.now()),
        "may_edit": access.allows(user, project, Role.EDITOR),
    }
    wrong = (channel.is_bound and not channel.is_valid()) or (silence.is_bound and not silence.is_valid())
    return render(request, "alerts/page.html", context, status=422 if wrong else 200)


@login_required
@never_cache
@require_safe
def new(request: HttpRequest) -> JsonResponse:
    """`{cursor, alerts: [{id, title, text, url}]}`: told of since `after`, a cursor; without one, nothing yet."""
    now = timezone.now()
    after = _cursor(request.GET.get("after", ""))
    rows = queries.told_since(signed_in(request), after - _OVERLAP)[:_MOST_NEW] if after else []
    return JsonResponse({"cursor": f"{now.timestamp():.3f}", "alerts": [_notice(row) for row in rows]})


def _live(project: Project) -> dict[str, Any]:
    return {
        "project": project,
        "silence": silences.silence_of(project, timezone.now()),
        "open": [_row(row) for row in queries.of_project(project).filter(closed_at=None)],
        "messages_sent": [_message(row) for row in queries.messages_of(project)[:SHOWN]],
    }


def _row(alert: Alert) -> dict[str, Any]:
    shape, tone = SEVERITY[alert.severity]
    look = Look(shape, tone if alert.closed_at is None else "idle", str(alert.get_severity_display()))
    return {"alert": alert, "look": look, "sentence": words.sentence(alert), "url": _url(alert)}


def _message(row: Delivery) -> dict[str, Any]:
    shape, tone = {
        Delivery.State.SENT: ("s-ok", "ok"),
        Delivery.State.FAILED: ("s-fail", "crit"),
        Delivery.State.SENDING: ("s-run", "run"),
        Delivery.State.WAITING: ("s-queue", "warn" if row.tries else "idle"),
    }[Delivery.State(row.state)]
    return {
        "row": row,
        "look": Look(shape, tone, str(row.get_state_display())),
        "sentence": row.message["json"]["sentence"],
    }


def _notice(alert: Alert) -> dict[str, Any]:
    title = f"{alert.get_severity_display()}: {alert.run.project.slug} / {alert.run.name}"
    return {"id": alert.pk, "title": title, "text": words.sentence(alert), "url": _url(alert)}


def _url(alert: Alert) -> str:
    if alert.incident_id is not None:
        return reverse("incidents:detail", args=[alert.incident_id])
    return reverse("runs:detail", args=[alert.run.uid])


def _cursor(text: str) -> datetime | None:
    """None where the text is none, or of a time that cannot be."""
    try:
        return datetime.fromtimestamp(float(text), UTC)
    except (ValueError, OverflowError, OSError):
        return None
