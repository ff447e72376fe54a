"""What the API says when it cannot: `{"code", "message", "fields"}`, a stable code and a sentence, never a traceback.

ApiError            refused for a reason of the caller's: status, code (`scope`: the token covers too little), sentence,
                    and sentences by field
Http404             not_found, for what does not exist and for what the caller may not see
PermissionDenied    forbidden, for members whose role is too small
WrongState          conflict, the act does not fit the run's state
OperationalError    unavailable, the database is locked or away: try again
StoreFailed         unavailable, the storage of files is away; not_found, it does not have this one
anything else       internal, logged with the request's path
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError
from pydantic import ValidationError as SpecError

from webapp import database_busy
from webapp.artifacts.store import StoreFailed
from webapp.runs.state import WrongState

log = logging.getLogger(__name__)

CODES = {
    400: "bad_request",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    409: "conflict",
    412: "precondition_failed",
    413: "too_large",
    416: "range_not_satisfiable",
    422: "invalid",
    503: "unavailable",
}


class ApiError(Exception):
    """An answer other than success. `code` follows from the status (`CODES`) unless it is given."""

    def __init__(self, status: int, message: str, fields: Mapping[str, str] | None = None, code: str = "") -> None:
        super().__init__(message)
        self.status, self.message, self.fields, self.code = status, message, dict(fields or {}), code


def invalid(fields: Mapping[str, str]) -> ApiError:
    """422 with a sentence for each field."""
    return ApiError(422, _("Some fields need another value."), fields)


def register(api: NinjaAPI) -> None:
    """Make `api` answer every exception as JSON."""
    api.add_exception_handler(ApiError, _refused)
    api.add_exception_handler(WrongState, _conflict)
    api.add_exception_handler(Http404, _not_found)
    api.add_exception_handler(PermissionDenied, _forbidden)
    api.add_exception_handler(StoreFailed, _store_failed)
    api.add_exception_handler(HttpError, _http_error)
    api.add_exception_handler(ValidationError, _wrong_request)
    api.add_exception_handler(SpecError, _wrong_spec)
    for busy in database_busy.BUSY:
        api.add_exception_handler(busy, _database_busy)
    api.add_exception_handler(Exception, _internal)


def answer(status: int, message: str, fields: Mapping[str, str] | None = None, code: str = "") -> HttpResponse:
    """The one shape of an error."""
    body = {"code": code or CODES.get(status, "internal"), "message": message, "fields": dict(fields or {})}
    response = JsonResponse(body, status=status)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    return response


def internal() -> HttpResponse:
    """500, whatever it was."""
    return answer(500, _("Something went wrong on our side; it is in the server's log. Try again."))


def unknown_path(request: HttpRequest) -> HttpResponse:
    """View for every address that no router knows."""
    return answer(404, _("There is no address %(path)s in this API; see /api/v1/docs.") % {"path": request.path})


def json_when_http_is_wrong(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """The view, with a JSON body where it says by its status alone what of HTTP does not fit."""

    @wraps(view)
    def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        texts = {
            405: _("%(method)s is not possible here.") % {"method": request.method},
            412: _("The file is another one than the request names. Ask for it without If-Match."),
            416: _("The file has none of the bytes that Range names; Content-Range says how long it is."),
        }
        if response.status_code not in texts:
            return response
        refused = answer(response.status_code, texts[response.status_code])
        for name in set(response.headers) - {"Content-Type", "Content-Length"}:
            refused[name] = response[name]
        return refused

    return checked


def _refused(_request: HttpRequest, error: Any) -> HttpResponse:
    return answer(error.status, error.message, error.fields, error.code)


def _conflict(_request: HttpRequest, error: Any) -> HttpResponse:
    return answer(409, str(error))


def _not_found(_request: HttpRequest, error: Any) -> HttpResponse:
    return answer(404, str(error) or _("Nothing is here, or you may not see it."))


def _forbidden(_request: HttpRequest, error: Any) -> HttpResponse:
    sentence = str(error)
    return answer(403, sentence[:1].upper() + sentence[1:] + "." if sentence else _("Your role may not do this."))


def _store_failed(_request: HttpRequest, error: Any) -> HttpResponse:
    return answer(error.status, str(error))


def _http_error(_request: HttpRequest, error: Any) -> HttpResponse:
    texts = {
        401: _("Send a valid token: “Authorization: Bearer …”. You get one on the page “API tokens”."),
        403: _("The CSRF token is missing or wrong. Reload the page, or use a bearer token."),
        400: _("The body is not what this address reads: send JSON."),
    }
    message = error.message if type(error) is not HttpError and error.status_code != 401 else ""
    return answer(error.status_code, message or texts.get(error.status_code, error.message))


def _wrong_request(_request: HttpRequest, error: Any) -> HttpResponse:
    return _invalid(error.errors, skip=1)


def _wrong_spec(_request: HttpRequest, error: Any) -> HttpResponse:
    return _invalid(error.errors(), skip=0)


def _invalid(errors: Iterable[Mapping[str, Any]], skip: int) -> HttpResponse:
    fields: dict[str, str] = {}
    general = ""
    for error in errors:
        sentence = _sentence(error)
        name = _field_name(error["loc"], skip)
        if name:
            fields.setdefault(name, sentence)
        else:
            general = general or sentence
    return answer(422, general or _("Some fields need another value."), fields)


def _field_name(loc: tuple[Any, ...], skip: int) -> str:
    """`("body", "asked", "argv", 0)` to `argv.0`; the first `skip` parts say where, and `asked` is our parameter."""
    parts = [str(part) for part in loc[skip:]]
    if parts and parts[0] == "asked":
        parts = parts[1:]
    return ".".join(parts)


def _sentence(error: Mapping[str, Any]) -> str:
    reason = error.get("ctx", {}).get("error")
    if reason:
        return str(reason)
    message = str(error["msg"])
    return message if message.endswith(".") else f"{message}."


def _database_busy(request: HttpRequest, error: Any) -> HttpResponse:
    if not database_busy.is_busy(error):
        return _internal(request, error)
    return database_busy.unavailable(request, error)


def _internal(request: HttpRequest, error: Any) -> HttpResponse:
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    return internal()
