"""Channels of a project: their addresses are kept encrypted, and only a part of them is ever shown again."""

from urllib.parse import urlsplit

from webapp.alerts.models import Channel
from webapp.projects.models import Project
from webapp.runs.secrets import encrypt


def add(project: Project, kind: str, address: str, secret: str) -> Channel:
    """A webhook's address may hold a token, so that only its host is shown."""
    shown = address.replace(",", ", ") if kind == Channel.Kind.EMAIL else f"{urlsplit(address).netloc}/…"
    return Channel.objects.create(
        project=project,
        kind=kind,
        shown=shown[:500],
        address=encrypt(address),
        secret=encrypt(secret) if secret else b"",
    )
