"""Sentences of other apps that are kept with an event or an ending, said anew for who reads another language."""

from typing import Any

from django.conf import settings
from django.utils.translation import get_language

from webapp.incidents import words as incident_words
from webapp.incidents.models import Incident
from webapp.preflight import words as check_words
from webapp.preflight.models import Check


def text(detail: dict[str, Any]) -> str:
    """The sentence as it was kept, in the server's language; in another one as its incident or check says it now."""
    kept = str(detail.get("text") or "")
    if not kept or get_language() == settings.LANGUAGE_CODE:
        return kept
    if "incident" in detail:
        incident = Incident.objects.filter(pk=detail["incident"]).first()
        return incident_words.sentence(incident) if incident else kept
    if "check" in detail:
        check = Check.objects.filter(pk=detail["check"]).first()
        return check_words.head(check.level, check.findings, check.nodes.count()) if check else kept
    return kept
