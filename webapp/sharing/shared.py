"""What a link shows, without any account: the run page's own answers, each asked for below the link's address.

Access comes from the link alone and is asked again at every request. Whoever is logged in gets no more by it.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_safe

from webapp.live.followers import asked as ask_database
from webapp.live.views import frames_of
from webapp.runs import asked, ledger_page, log_views, panel_views, run_config, run_page, run_views
from webapp.sharing import lifecycle
from webapp.sharing.models import ShareLink

Shown = Callable[[HttpRequest, ShareLink], HttpResponseBase]
ByToken = Callable[[HttpRequest, str], HttpResponseBase]


def by_link(show: Shown) -> ByToken:
    """The view for who has the link's secret; 404 when it opens nothing any more."""

    @never_cache
    @require_safe
    @wraps(show)
    def view(request: HttpRequest, token: str) -> HttpResponseBase:
        link = lifecycle.find(token)
        if link is None:
            return _private(render(request, "sharing/over.html", status=404))
        return _private(_checked(request, link))

    _checked = asked.answers_bad_questions(show)
    return view


@by_link
def page(request: HttpRequest, link: ShareLink) -> HttpResponse:
    """The run page, to be read only."""
    secret = request.resolver_match.kwargs["token"]  # type: ignore[union-attr]
    shown = {"panels", "keys", "header", "ledger", "live"} | ({"logs"} if link.with_logs else set())

    def address(name: str) -> str:
        return reverse(f"sharing:{name}", args=[secret]) if name in shown else ""

    context = run_views.page_context(request, link.run, address)
    context |= run_config.rank_table(context["attempt"])
    lifecycle.note_opened(link)
    return render(request, "sharing/page.html", _for_guests(context, link))


@by_link
def header(request: HttpRequest, link: ShareLink) -> HttpResponse:
    """The page's words again."""
    attempt = asked.attempt_of(link.run, request.GET)
    context = run_page.parts(link.run, attempt, can_edit=False) | run_config.rank_table(attempt)
    return render(request, "sharing/parts.html", _for_guests(context, link))


@by_link
def ledger(request: HttpRequest, link: ShareLink) -> HttpResponse:
    """What was stored and what is missing."""
    attempt = asked.attempt_of(link.run, request.GET)
    return render(request, "runs/run/ledger.html", ledger_page.parts(link.run, attempt))


@by_link
def panels(request: HttpRequest, link: ShareLink) -> HttpResponseBase:
    """Numbers of charts."""
    return panel_views.panels_of(request, link.run)


@by_link
def keys(request: HttpRequest, link: ShareLink) -> HttpResponseBase:
    """What was logged."""
    return panel_views.keys_of(request, link.run)


@by_link
def logs(request: HttpRequest, link: ShareLink) -> HttpResponseBase:
    """Log lines, where the link shows them."""
    if not link.with_logs:
        return render(request, "sharing/over.html", status=404)
    return log_views.lines_of(request, link.run)


@require_GET
async def live(request: HttpRequest, token: str) -> HttpResponseBase:
    """Frames of the run, until the link is taken back or ends."""
    link = await ask_database(lambda: lifecycle.find(token))
    if link is None:
        return _private(await ask_database(lambda: render(request, "sharing/over.html", status=404)))

    async def allowed() -> bool:
        return await ask_database(lambda: lifecycle.working().filter(pk=link.pk).exists())

    return _private(await frames_of(request, link.run.uid, allowed))


def _for_guests(context: dict[str, Any], link: ShareLink) -> dict[str, Any]:
    """What the team alone may read is taken out here, so that no template can show it."""
    shown = {name: value for name, value in context.items() if name != "events"}  # they name people
    if shown["banner"] is not None:
        kept = {"rank": None, "traceback": ""} if not link.with_logs else {}
        shown["banner"] = shown["banner"] | {"check": None} | kept
    return shown | {"shared": link}


def _private(response: HttpResponseBase) -> HttpResponseBase:
    """Nobody is to find the address, keep the answer, or learn the address from a link on the page."""
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store, private"
    return response
