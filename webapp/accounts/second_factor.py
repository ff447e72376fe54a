"""Second factors in the audit log. allauth tells of them by signals only."""

from typing import Any

from allauth.mfa import signals
from allauth.mfa.models import Authenticator
from django.http import HttpRequest

from webapp.accounts.models import User
from webapp.accounts.refused import SECOND_FACTOR
from webapp.audit.log import note
from webapp.audit.models import Verb

_CODES = Authenticator.Type.RECOVERY_CODES.value


def listen() -> None:
    """Called once, when the process starts."""
    signals.authenticator_added.connect(_added)
    signals.authenticator_removed.connect(_removed)
    signals.authenticator_reset.connect(_added)
    signals.authentication_failed.connect(_failed)


def _added(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    kind = authenticator.type
    note(request, Verb.RECOVERY_CODES if kind == _CODES else Verb.FACTOR_ADDED, user, detail=_name(authenticator))


def _removed(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    if authenticator.type != _CODES:  # they go by themselves with the last factor
        note(request, Verb.FACTOR_REMOVED, user, detail=_name(authenticator))


def _failed(request: HttpRequest, user: User, **_: Any) -> None:
    note(request, Verb.LOGIN_FAILED, name=user.get_username(), detail=SECOND_FACTOR)


def _name(authenticator: Authenticator) -> str:
    return "" if authenticator.type == _CODES else str(authenticator.type)
