"""What a page's script asks for in an address, checked: a wrong value is answered with 400 and a sentence."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import unquote

from django.http import HttpRequest, JsonResponse, QueryDict
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from webapp.language.numerals import numeral
from webapp.runs.models import Attempt, Run

P = ParamSpec("P")
BIGGEST = 1 << 52  # steps and byte counts beyond this are no real ones


class BadQuestion(ValueError):
    """The message is a sentence for people."""


def answers_bad_questions(
    view: Callable[Concatenate[HttpRequest, P], HttpResponseBase],
) -> Callable[Concatenate[HttpRequest, P], HttpResponseBase]:
    """A view whose BadQuestion becomes a 400 with its sentence as JSON."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except BadQuestion as error:
            return JsonResponse({"error": str(error)}, status=400)

    return wrapped


def attempt_of(run: Run, query: QueryDict) -> Attempt:
    """The attempt that `attempt=<number>` names, else the newest."""
    asked = whole(query, "attempt", 1, BIGGEST)
    attempts = run.attempts.select_related("run")
    found = attempts.filter(number=asked).first() if asked is not None else attempts.order_by("-number").first()
    if found is None:
        raise BadQuestion(_("This run has no attempt with that number."))
    return found


def names_attempt(query: QueryDict) -> bool:
    """Whether one attempt is asked for, rather than the run with all of them."""
    return bool(query.get("attempt", "").strip())


def whole(query: QueryDict, name: str, low: int, high: int) -> int | None:
    """A whole number, None when it is not asked for."""
    text = query.get(name, "").strip()
    if not text:
        return None
    try:
        value = int(text)
    except ValueError:
        raise BadQuestion(_("“%s” must be a whole number.") % name) from None
    if not low <= value <= high:
        raise BadQuestion(
            _("“%(name)s” must be from %(low)s to %(high)s.")
            % {"name": name, "low": numeral(low), "high": numeral(high)}
        )
    return value


def names(query: QueryDict, name: str, most: int) -> list[str]:
    """Comma-separated names, each percent-encoded on its own, so that a name may hold any character."""
    found = list(dict.fromkeys(unquote(part) for part in query.get(name, "").split(",") if part))
    if not found:
        raise BadQuestion(_("Say in “%s” what you ask for.") % name)
    if len(found) > most:
        raise BadQuestion(_("Ask for at most %s at once.") % most)
    return found
