"""The only writer of invitations: made, accepted once, or taken back. Finds them by their secret."""

import secrets
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from webapp.accounts.models import User, hash_token
from webapp.invitations.models import Invitation
from webapp.projects import members
from webapp.projects.models import Project, Role

LIFETIME = timedelta(days=7)


def invite(project: Project | None, email: str, role: Role, by: User) -> tuple[Invitation, str]:
    """A new invitation in place of an open one to the same; the second value is the secret part of its link."""
    open_ones().filter(project=project, email__iexact=email).update(revoked_at=timezone.now())
    secret = secrets.token_urlsafe(32)
    row = Invitation.objects.create(
        project=project,
        email=email,
        role=role,
        invited_by=by,
        token_hash=hash_token(secret),
        expires_at=timezone.now() + LIFETIME,
    )
    return row, secret


def open_ones() -> QuerySet[Invitation]:
    """Neither accepted nor taken back nor expired."""
    return Invitation.objects.filter(accepted_at=None, revoked_at=None, expires_at__gt=timezone.now()).select_related(
        "project", "invited_by"
    )


def find(secret: str) -> Invitation | None:
    """The open invitation of this link."""
    return open_ones().filter(token_hash=hash_token(secret)).first() if secret else None


@transaction.atomic
def accept(invitation: Invitation, person: User) -> bool:
    """The person joins the project; who is in already keeps the greater role. False when the link is used up."""
    taken = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, revoked_at=None)
    if taken.update(accepted_at=timezone.now(), accepted_by=person) != 1:
        return False
    if invitation.project is not None:
        members.join(invitation.project, person, Role(invitation.role))
    return True


def revoke(invitation: Invitation) -> None:
    """The link opens nothing from now on."""
    Invitation.objects.filter(pk=invitation.pk, accepted_at=None).update(revoked_at=timezone.now())
