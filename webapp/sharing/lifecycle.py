"""The only writer of share links: made, opened, taken back. Finds them by their secret."""

import secrets
from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.utils import timezone

from webapp.accounts.models import User, hash_token
from webapp.runs.models import Run
from webapp.sharing.models import ShareLink


def make(run: Run, by: User, *, view: str, days: int | None, with_logs: bool) -> tuple[ShareLink, str]:
    """A new link; the second value is the secret part of its address and is shown once. `days` None: no end."""
    secret = secrets.token_urlsafe(32)
    row = ShareLink.objects.create(
        run=run,
        token_hash=hash_token(secret),
        hint=secret[:6],
        view=view,
        with_logs=with_logs,
        created_by=by,
        expires_at=timezone.now() + timedelta(days=days) if days else None,
    )
    return row, secret


def working() -> QuerySet[ShareLink]:
    """Neither taken back nor expired, and the run is still there."""
    alive = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
    return ShareLink.objects.filter(alive, revoked_at=None, run__deleted_at=None)


def find(secret: str) -> ShareLink | None:
    """The working link with this secret."""
    return working().filter(token_hash=hash_token(secret)).select_related("run__project", "run__owner").first()


def note_opened(link: ShareLink) -> None:
    """Somebody has opened its page."""
    ShareLink.objects.filter(pk=link.pk).update(opened=F("opened") + 1, opened_at=timezone.now())


def revoke(link: ShareLink) -> bool:
    """It opens nothing from now on. False when it was taken back before."""
    return ShareLink.objects.filter(pk=link.pk, revoked_at=None).update(revoked_at=timezone.now()) == 1
