"""The page of a comparison, and the numbers of its cards: each is asked for when it comes into view."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.signed_in import signed_in
from webapp.compare import answers, chosen, page
from webapp.compare.curves import AXES
from webapp.numbers_json import numbers_json
from webapp.runs.models import Run


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """Up to 50 runs side by side."""
    found = chosen.runs_of(signed_in(request), request.GET)
    return render(request, "compare/page.html", page.context(signed_in(request), found, request.GET))


@login_required
@never_cache
@require_safe
def curve(request: HttpRequest) -> HttpResponse:
    """One metric of all runs as lines."""
    axis = request.GET.get("axis", "")
    drawn = answers.curve(
        _runs(request),
        request.GET.get("metric", ""),
        axis if axis in AXES else AXES[0],
        chosen.smoothness(request.GET.get("smooth", "")),
        chosen.width(request.GET.get("width", "")),
        turned="turned" in request.GET,
        window=chosen.window(request.GET.get("lo", ""), request.GET.get("hi", "")),
    )
    return numbers_json(request, drawn)


@login_required
@never_cache
@require_safe
def phases(request: HttpRequest) -> JsonResponse:
    """Where a step's time goes in each run."""
    return JsonResponse(answers.phases(_runs(request)))


@login_required
@never_cache
@require_safe
def scaling(request: HttpRequest) -> JsonResponse:
    """Throughput and efficiency against world size."""
    return JsonResponse(answers.scaling(_runs(request)))


@login_required
@never_cache
@require_safe
def values(request: HttpRequest) -> JsonResponse:
    """What parallel coordinates and the scatter plot can show."""
    return JsonResponse(answers.values(_runs(request), chosen.drawn(request.GET).metrics))


@login_required
@never_cache
@require_safe
def names(request: HttpRequest) -> JsonResponse:
    """Metrics with `part` in their name."""
    return JsonResponse(answers.names(_runs(request), request.GET.get("part", "").strip()))


@login_required
@never_cache
@require_safe
def summary(request: HttpRequest) -> HttpResponse:
    """The table of runs: what each took, and what its metrics came to."""
    return render(request, "compare/summary.html", page.summary_of(_runs(request), request.GET))


@login_required
@never_cache
@require_safe
def config(request: HttpRequest) -> HttpResponse:
    """The table of settings that differ, with the equal ones folded away."""
    runs = _runs(request)
    return render(request, "compare/config.html", page.settings(runs, request.GET.get("find", "").strip()))


def _runs(request: HttpRequest) -> list[Run]:
    return chosen.runs_of(signed_in(request), request.GET).runs
