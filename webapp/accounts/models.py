"""People and their API tokens."""

import hashlib
import secrets

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils import timezone

TOKEN_PREFIX = "plt_"


def hash_token(token: str) -> str:
    """SHA-256 of a random token; tokens carry 256 bits, so no slow hash is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


class User(AbstractUser):
    """A person. Roles are per project, see `projects.Membership`."""

    @property
    def initial(self) -> str:
        return (self.get_full_name() or self.username)[:1].upper()


class ApiToken(models.Model):
    """A bearer token of one person; only its hash is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="api_tokens")
    name = models.CharField(max_length=80)
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
        return cls.objects.create(user=user, name=name, token_hash=hash_token(secret), **fields), secret
