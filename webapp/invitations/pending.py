"""The invitation that somebody without an account follows: kept in the session until the account is made."""

from django.http import HttpRequest

from webapp.accounts.models import User
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.invitations import lifecycle
from webapp.invitations.models import Invitation

_KEY = "invitation"


def keep(request: HttpRequest, secret: str) -> None:
    """Remember the link while the person signs up."""
    request.session[_KEY] = secret


def of(request: HttpRequest) -> Invitation | None:
    """The open invitation that the person came with."""
    return lifecycle.find(request.session.get(_KEY, ""))


def accept(request: HttpRequest, invitation: Invitation, person: User) -> bool:
    """Accept and write it down. False when the link is used up."""
    request.session.pop(_KEY, None)
    if not lifecycle.accept(invitation, person):
        return False
    note(request, Verb.INVITATION_ACCEPTED, invitation, invitation.project, detail=invitation.role, who=person)
    return True
