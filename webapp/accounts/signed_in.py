"""The person behind a request that has passed `login_required`."""

from django.http import HttpRequest

from webapp.accounts.models import User


def signed_in(request: HttpRequest) -> User:
    """The signed-in person, typed."""
    if not isinstance(request.user, User):
        raise TypeError("signed_in() needs a view behind login_required")
    return request.user
