"""What an API token may do, beside what its owner may."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Scope(models.TextChoices):
    """Each may do all that the one before it may."""

    READ = "read", _("read: see what you see")
    WRITE = "write", _("write: also launch, stop and change runs")
    ADMIN = "admin", _("admin: also make tokens, and change nodes and projects")


_ORDER = [Scope.READ, Scope.WRITE, Scope.ADMIN]


def covers(has: str, needed: Scope) -> bool:
    """Whether a token of scope `has` may do what needs `needed`; an unknown scope covers nothing."""
    return has in Scope.values and _ORDER.index(Scope(has)) >= _ORDER.index(needed)
