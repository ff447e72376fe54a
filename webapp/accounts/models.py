"""People and their API tokens."""

import hashlib
import secrets

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

from webapp.accounts.scopes import Scope

TOKEN_PREFIX = "plt_"


def hash_token(token: str) -> str:
    """SHA-256 of a random token; tokens carry 256 bits, so no slow hash is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


class User(AbstractUser):
    """A person, or a project's service account. Roles are per project, see `projects.Membership`."""

    is_service = models.BooleanField(default=False)  # whom a project's token acts as; nobody logs in as it
    language = models.CharField(
        max_length=8, blank=True
    )  # of the pages, a code of LANGUAGES; empty: as the browser asks

    @property
    def initial(self) -> str:
        return (self.get_full_name() or self.username)[:1].upper()


class ApiToken(models.Model):
    """A bearer token of one person or, with a project, of a service account; only its hash is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    project = models.ForeignKey("projects.Project", on_delete=models.CASCADE, null=True, related_name="service_tokens")
    name = models.CharField(max_length=80)
    scope = models.CharField(max_length=8, choices=Scope.choices, default=Scope.ADMIN)
    hint = models.CharField(max_length=12, blank=True)  # its first characters, to know it by
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(default=timezone.now)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

    @classmethod
    def issue(cls, user: User, name: str, **fields: object) -> tuple["ApiToken", str]:
        """Make a token; the second value is the secret and is shown once."""
        secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
        row = cls.objects.create(user=user, name=name, token_hash=hash_token(secret), hint=secret[:8], **fields)
        return row, secret
