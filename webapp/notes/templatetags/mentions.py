"""How many mentions wait, for the account menu of every page."""

from django import template
from django.contrib.auth.models import AnonymousUser

from webapp.accounts.models import User
from webapp.notes import queries

register = template.Library()


@register.simple_tag
def unseen_mentions(user: User | AnonymousUser) -> int:
    """In comments on runs that the person can see."""
    return queries.mentions_of(user).filter(seen_at=None).order_by().count()
