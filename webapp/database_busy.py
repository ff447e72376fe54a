"""The database is locked or away for a while: a page that says so, instead of an error of ours."""

import logging
import sqlite3

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

log = logging.getLogger(__name__)

BUSY = (OperationalError, InterfaceError)
_AGAIN_IN_S = 5


def is_busy(error: Exception) -> bool:
    """Whether to try again helps. SQLite gives the same error to a statement that is wrong."""
    wrong_statement = getattr(error.__cause__, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR
    return isinstance(error, BUSY) and not wrong_statement


def sentence() -> str:
    """What is going on, and what to do."""
    return _(
        "The database is busy or away just now. Running jobs go on, and what they report is stored as soon as it is "
        "back. Try again in a moment."
    )


def reads_json(request: HttpRequest) -> bool:
    """Whether a script or an agent asks."""
    return request.path.startswith(("/api/", "/agent/"))


def unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    """503, without asking the database who wants to know."""
    log.warning("%s %s: the database is away: %s", request.method, request.path, error)
    response: HttpResponse
    if reads_json(request):
        response = JsonResponse({"code": "unavailable", "message": sentence(), "fields": {}}, status=503)
    else:
        response = HttpResponse(render_to_string("503.html", {"sentence": sentence()}), status=503)
    response["Retry-After"] = str(_AGAIN_IN_S)
    return response


class DatabaseBusy(MiddlewareMixin):
    """503 for a view that failed at the database."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """None for every other exception."""
        return unavailable(request, exception) if is_busy(exception) else None
