"""A link as it is handed on, and as the audit log has it."""

from django.conf import settings
from django.urls import reverse

from webapp.sharing.models import ShareLink


def address_of(link: ShareLink, secret: str) -> str:
    """The link, at the view that it was made of."""
    return str(settings.PUBLIC_URL).rstrip("/") + reverse("sharing:page", args=[secret]) + link.view


def audited(link: ShareLink) -> str:
    """Which link, how long it works, what it shows; without its secret."""
    until = f"until {link.expires_at:%Y-%m-%d %H:%M} UTC" if link.expires_at else "without an end"
    return f"{link.hint}… {until}{', with logs' if link.with_logs else ''}"
