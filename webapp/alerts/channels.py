"""Channels of a project: their addresses are kept encrypted, and only a part of them is ever shown again."""

from urllib.parse import urlsplit

from webapp.alerts.models import Channel
from webapp.projects.models import Project
from webapp.runs.secrets import encrypt


def add(project: Project, kind: str, address: str, secret: str, name: str = "") -> Channel:
    """A new one."""
    channel = Channel(project=project, kind=kind)
    _write(channel, name, address, secret)
    channel.save()
    return channel


def change(channel: Channel, *, name: str, address: str, secret: str, drop_secret: bool) -> None:
    """Empty: the address and the secret stay as they are. Messages on their way go to the new address."""
    if drop_secret:
        channel.secret = b""
    _write(channel, name, address, secret)
    channel.save(update_fields=["name", "shown", "address", "secret"])


def _write(channel: Channel, name: str, address: str, secret: str) -> None:
    """A webhook's address may hold a token, so that only its host is shown."""
    channel.name = name
    if address:
        by_mail = channel.kind == Channel.Kind.EMAIL
        shown = address.replace(",", ", ") if by_mail else f"{urlsplit(address).netloc}/…"
        channel.shown, channel.address = shown[:500], encrypt(address)
    if secret:
        channel.secret = encrypt(secret)
