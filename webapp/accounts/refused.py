"""Too many failed logins, in the audit log."""

from hashlib import sha256

from django.core.cache import cache
from django.http import HttpRequest

from webapp.audit.log import client_address, note
from webapp.audit.models import Verb

TOO_MANY = "too_many_login_attempts"  # allauth's code of the error
SECOND_FACTOR = "second factor"  # of an entry: the password was right


def note_refused(request: HttpRequest, login: str, detail: str = "") -> None:
    """Once in five minutes for each login and address: who goes on trying does not fill the log."""
    key = sha256(f"{login}@{client_address(request)}{detail}".encode()).hexdigest()
    if cache.add(f"login-refused:{key}", True, 300):
        note(request, Verb.LOGIN_REFUSED, name=login, detail=detail)
