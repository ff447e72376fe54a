"""The audit log: of a project for its admins, of everything for administrators of the site."""

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from webapp.accounts.signed_in import signed_in
from webapp.audit import queries
from webapp.audit.forms import FilterForm
from webapp.audit.models import Entry
from webapp.projects import access
from webapp.projects.models import Project, Role


@login_required
@never_cache
@require_safe
def everything(request: HttpRequest) -> HttpResponse:
    """What was done on this server."""
    access.require_site_admin(signed_in(request))
    return _page(request, Entry.objects.all(), None)


@login_required
@never_cache
@require_safe
def of_project(request: HttpRequest, slug: str) -> HttpResponse:
    """What was done in one project."""
    project = get_object_or_404(Project, slug=slug)
    access.require(signed_in(request), project, Role.ADMIN)
    return _page(request, Entry.objects.filter(project=project), project)


def _page(request: HttpRequest, entries: QuerySet[Entry], project: Project | None) -> HttpResponse:
    form = FilterForm(request.GET)
    asked = form.cleaned_data if form.is_valid() else {}
    before = request.GET.get("before", "")
    found = queries.page(entries, asked, int(before) if before.isdecimal() and len(before) < 19 else None)
    query = request.GET.copy()
    query.pop("before", None)
    context = {
        "form": form,
        "page": found,
        "project": project,
        "filtered": any(asked.values()),
        "query": query.urlencode(),
    }
    return render(request, "audit/log.html", context, status=200 if form.is_valid() else 422)
