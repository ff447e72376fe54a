"""A report opened by its link, without an account: the same page, to be read only."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.compare import chosen, words
from webapp.reports import page, queries
from webapp.reports.models import Block


@never_cache
@require_safe
def detail(request: HttpRequest, token: str) -> HttpResponseBase:
    """The report; 404 when the link opens nothing any more."""
    report = queries.report_of_link(token)

    def address(block: Block) -> str:
        return reverse("reports:shared_numbers", args=[token, block.pk])

    blocks = page.shown(report, lambda block: queries.runs_of_link(report, block), address)
    context = {"report": report, "blocks": blocks, "words": words.page(), "shared": True, "token": token}
    return private(render(request, "reports/shared.html", context))


@never_cache
@require_safe
def numbers(request: HttpRequest, token: str, pk: int) -> HttpResponseBase:
    """What one block's chart draws."""
    report = queries.report_of_link(token)
    block = queries.block_of(report, pk)
    found = queries.runs_of_link(report, block)
    return private(JsonResponse(page.numbers(block, found, chosen.width(request.GET.get("width", "")))))


def private(response: HttpResponse) -> HttpResponse:
    """Nobody is to find the address, keep the answer, or learn the address from a link on the page."""
    response["X-Robots-Tag"] = "noindex, nofollow"
    response["Referrer-Policy"] = "no-referrer"
    response["Cache-Control"] = "no-store, private"
    return response
