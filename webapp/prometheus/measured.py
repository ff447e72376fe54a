"""Notes each request with its route, for /metrics."""

import time

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from webapp.prometheus.tally import OF_THIS_PROCESS
from webapp.redis import connection

_METHODS = {"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"}


class Measured(MiddlewareMixin):
    """Until the answer begins: a stream may go on for hours."""

    def process_request(self, request: HttpRequest) -> None:
        request.began_at = time.perf_counter()  # type: ignore[attr-defined]

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        seconds = time.perf_counter() - request.began_at  # type: ignore[attr-defined]
        method = request.method if request.method in _METHODS else "other"
        OF_THIS_PROCESS.note(str(method), route_of(request), response.status_code, seconds)
        OF_THIS_PROCESS.push_if_due(connection())
        return response


def route_of(request: HttpRequest) -> str:
    """The pattern that fits the address, so that runs do not make routes; `unknown` when none does."""
    if request.resolver_match is not None:
        return f"/{request.resolver_match.route}"
    return "static" if request.path.startswith(settings.STATIC_URL) else "unknown"
