"""What is answered when a request fails where no view can say more: a page in the product's look, JSON to scripts."""

import logging
import sys

from django.http import HttpRequest, HttpResponse
from django.middleware import csrf
from django.shortcuts import render
from django.template.loader import render_to_string

from webapp import database_busy
from webapp.api import errors

log = logging.getLogger(__name__)


def server_error(request: HttpRequest) -> HttpResponse:
    """500; or 503, where a middleware and not a view has found that the database is away."""
    error = sys.exc_info()[1]
    if isinstance(error, Exception) and database_busy.is_busy(error):
        return database_busy.unavailable(request, error)
    if database_busy.reads_json(request):
        return errors.internal()
    try:
        return render(request, "500.html", status=500)
    except Exception:  # what broke the page may be a part of all pages
        log.exception("%s %s: the page of the error failed too", request.method, request.path)
        return HttpResponse(render_to_string("500.html"), status=500)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403, with what to do. It sets the token with which the same form can be sent again (js/csrf.js)."""
    csrf.get_token(request)
    context = {
        "from_elsewhere": reason.startswith(("Origin checking", "Referer checking")),
        "without_cookie": reason == csrf.REASON_NO_CSRF_COOKIE,
    }
    return render(request, "403_csrf.html", context, status=403)
