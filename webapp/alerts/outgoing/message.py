"""What is sent: a subject, a text, and the same as JSON. Put together when it happens, so that retries say the same."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from webapp.alerts import words
from webapp.alerts.models import Alert, Channel


def for_channel(channel: Channel, said: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What is `said`; for e-mail also, under `in`, subject and text in each language."""
    message = said()
    if channel.kind == Channel.Kind.EMAIL:
        message["in"] = {code: _in(code, said) for code, _name in settings.LANGUAGES}
    return message


def _in(language: str, said: Callable[[], dict[str, Any]]) -> dict[str, str]:
    with translation.override(language):
        return {name: text for name, text in said().items() if name in ("subject", "text")}


def of_alert(alert: Alert, event: str) -> dict[str, Any]:
    """`event`: opened or closed."""
    run, sentence = alert.run, words.sentence(alert)
    url = _absolute(reverse("runs:detail", args=[run.uid]))
    if alert.incident_id is not None:
        url = _absolute(reverse("incidents:detail", args=[alert.incident_id]))
    head = _("over") if event == "closed" else alert.get_severity_display()
    subject = f"[Paceline] {head}: {run.project.slug} / {run.name}: {sentence}"
    over = ""
    if alert.closed_at is not None:
        over = _("Over since %s UTC.") % f"{alert.closed_at:%Y-%m-%d %H:%M:%S}" + "\n"
    text = f"{head}: {run.project.slug} / {run.name}\n{sentence}\n{over}{url}"
    facts = {"event": event, "sentence": sentence, "url": url, "alert": shown(alert)}
    return {"subject": _one_line(subject), "text": text, "json": facts}


def of_test(channel: Channel, username: str) -> dict[str, Any]:
    """Says that messages arrive."""
    told = {"project": channel.project.name, "who": username}
    sentence = _("Messages of the project %(project)s arrive here. %(who)s sent this one to try it.") % told
    url = _absolute(reverse("alerts:page", args=[channel.project.slug]))
    facts = {"event": "test", "sentence": sentence, "url": url, "alert": None}
    subject = _one_line(f"[Paceline] {channel.project.slug}: " + _("a test"))
    return {"subject": subject, "text": f"{sentence}\n{url}", "json": facts}


def shown(alert: Alert) -> dict[str, Any]:
    """An alert as webhooks and the API tell it."""
    return {
        "id": alert.pk,
        "project": alert.run.project.slug,
        "run": alert.run.uid,
        "run_name": alert.run.name,
        "attempt": alert.attempt.number,
        "rule": alert.rule.name,
        "severity": alert.severity,
        "metric": alert.facts.get("metric") or None,
        "rank": alert.facts.get("rank"),
        "value": alert.value,
        "incident": alert.incident_id,
        "sentence": words.sentence(alert),
        "opened_at": alert.opened_at.isoformat(),
        "closed_at": alert.closed_at.isoformat() if alert.closed_at else None,
        "told_at": alert.told_at.isoformat() if alert.told_at else None,
        "silenced": alert.silenced,
    }


def _absolute(path: str) -> str:
    return f"{settings.PUBLIC_URL.rstrip('/')}{path}"


def _one_line(text: str) -> str:
    """A run's name may hold line breaks, a subject may not."""
    line = " ".join(text.split())
    return line if len(line) <= 200 else f"{line[:199]}…"
