"""Who asks: a bearer token, or the browser's session (writes then need the CSRF token).

A token must cover the operation: by default `read` for what only reads and `write` for the rest; operations that need
`admin` say `auth=ADMIN_AUTH`.
"""

from contextlib import suppress
from datetime import timedelta
from typing import cast

from django.db import OperationalError
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja.security import HttpBearer, SessionAuth

from webapp.accounts.models import ApiToken, User, hash_token
from webapp.accounts.scopes import Scope, covers
from webapp.api.errors import ApiError

USED_RESOLUTION = timedelta(minutes=1)


class BearerToken(HttpBearer):
    """`Authorization: Bearer plt_…`. A token that is sent but wrong is refused, whatever the session says."""

    def __init__(self, writes_need: Scope = Scope.WRITE) -> None:
        super().__init__()
        self._writes_need = writes_need

    def authenticate(self, request: HttpRequest, token: str) -> User:
        found = ApiToken.objects.select_related("user").filter(token_hash=hash_token(token.strip())).first()
        if found is None:
            raise ApiError(401, _("This token is unknown or was revoked. Make a new one on the page “API tokens”."))
        if found.expires_at is not None and found.expires_at <= timezone.now():
            raise ApiError(401, _("This token has expired. Make a new one on the page “API tokens”."))
        if not found.user.is_active:
            raise ApiError(401, _("The account of this token is switched off."))
        note_use(found)
        self._require_scope(request, found)
        request.api_token = found  # type: ignore[attr-defined]
        return found.user

    def _require_scope(self, request: HttpRequest, token: ApiToken) -> None:
        needed = Scope.READ if request.method in ("GET", "HEAD", "OPTIONS") else self._writes_need
        if not covers(token.scope, needed):
            sentence = _("This needs a token with the scope “%(needed)s”; this one has “%(has)s”.")
            raise ApiError(403, sentence % {"needed": needed.value, "has": token.scope}, code="scope")


def person(request: HttpRequest) -> User:
    """The person who asks; the API's authentication put it there."""
    return cast(User, request.auth)  # type: ignore[attr-defined]


def note_use(token: ApiToken) -> None:
    """Write `last_used_at`, at most once a minute, so that polling does not mean writing.

    It is a courtesy: a database that is locked just now is no reason to refuse who only reads.
    """
    now = timezone.now()
    stale = Q(last_used_at=None) | Q(last_used_at__lt=now - USED_RESOLUTION)
    if token.last_used_at is None or token.last_used_at < now - USED_RESOLUTION:
        with suppress(OperationalError):
            ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=now)


AUTH = [BearerToken(), SessionAuth()]
ADMIN_AUTH = [BearerToken(writes_need=Scope.ADMIN), SessionAuth()]
