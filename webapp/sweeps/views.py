"""Pages of sweeps: the list, the form, one sweep live."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs import queries as runs
from webapp.runs.launch_views import code_and_secrets, slots_context
from webapp.sweeps import charts, lifecycle, queries, words
from webapp.sweeps.columns import column
from webapp.sweeps.forms import SweepForm
from webapp.sweeps.models import Sweep

SHOWN = 100  # newest sweeps of the list
MOST_ROWS = 500  # of a sweep's table: the best ones


@login_required
@never_cache
@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The newest sweeps of the person's projects."""
    user = signed_in(request)
    sweeps = list(queries.sweeps_for(user)[:SHOWN])
    rows = [{"sweep": sweep, "look": words.look_of_sweep(sweep), "best": _best(sweep)} for sweep in sweeps]
    may_launch = access.projects_where(user, Role.EDITOR).exists()
    return render(request, "sweeps/list.html", {"rows": rows, "may_launch": may_launch})


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The form. A refused one comes back with what was typed, and status 422."""
    user = signed_in(request)
    uid = request.POST.get("from") or request.GET.get("from")
    source_run = runs.run_for(user, uid, Role.EDITOR) if uid else None
    if request.method == "POST":
        form = SweepForm(user, source_run, request.POST, request.FILES)
        sweep = _create(form, user) if form.is_valid() else None
        if sweep is None:
            return _page(request, form, 422)
        note(request, Verb.SWEPT, sweep, sweep.project)
        return redirect("sweeps:detail", sweep.uid)
    project = request.GET.get("project")
    return _page(request, SweepForm(user, source_run, **({"project": project} if project else {})), 200)


@login_required
@never_cache
@require_safe
def detail(request: HttpRequest, uid: str) -> HttpResponse:
    """One sweep; for the live update only what changes."""
    sweep = queries.sweep_for(signed_in(request), uid, Role.VIEWER)
    trials = list(sweep.trials.select_related("run"))
    best = queries.best_of(sweep, trials)
    order = sorted(trials, key=lambda t: (t.value is None, (t.value or 0.0) * (1 if sweep.minimize else -1), t.number))
    shown = order[:MOST_ROWS]
    columns = [column(name, [trial.arguments.get(name) for trial in shown]) for name, _text in sweep.space]
    goal = column(sweep.goal, [trial.value for trial in shown])
    context = {
        "sweep": sweep,
        "look": words.look_of_sweep(sweep),
        "sentence": words.sentence(sweep, trials),
        "columns": columns,
        "rows": [
            {
                "trial": trial,
                "look": words.look_of(trial),
                "cells": [(one.texts[at], one.numeric) for one in columns],
                "value": goal.texts[at],
                "best": trial is best,
            }
            for at, trial in enumerate(shown)
        ],
        "not_shown": max(0, len(order) - MOST_ROWS),
        "may_stop": not sweep.ended and access.allows(signed_in(request), sweep.project, Role.EDITOR),
    }
    live = request.headers.get("HX-Request") == "true"
    return render(request, "sweeps/live.html" if live else "sweeps/detail.html", context)


@login_required
@never_cache
@require_safe
def chart(request: HttpRequest, uid: str) -> JsonResponse:
    """The numbers of the page's charts."""
    sweep = queries.sweep_for(signed_in(request), uid, Role.VIEWER)
    return JsonResponse(charts.chart(sweep, list(sweep.trials.all())))


@login_required
@require_POST
def stop(request: HttpRequest, uid: str) -> HttpResponse:
    """End the sweep and stop its runs."""
    user = signed_in(request)
    sweep = queries.sweep_for(user, uid, Role.EDITOR)
    lifecycle.stop(sweep, user.username)
    note(request, Verb.SWEEP_STOPPED, sweep, sweep.project)
    return redirect("sweeps:detail", uid)


def _create(form: SweepForm, user: User) -> Sweep | None:
    found = code_and_secrets(form)
    if found is None:
        return None
    spec, values = found
    asked = form.asked()
    return lifecycle.create(project=form.cleaned_data["project"], owner=user, spec=spec, secrets=values, **asked)


def _page(request: HttpRequest, form: SweepForm, status: int) -> HttpResponse:
    button = {"send": _("Start sweep"), "sending": _("Starting…")}
    context = {"form": form, "source_run": form.source_run, **button, **slots_context(signed_in(request))}
    return render(request, "sweeps/new.html", context, status=status)


def _best(sweep: Sweep) -> dict[str, Any]:
    best = sweep.trials.exclude(value=None).order_by("value" if sweep.minimize else "-value").first()
    return {"value": words.number(best.value) if best else "", "trial": best}
