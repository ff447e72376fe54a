"""A project's own tokens: made and revoked by its admins."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects import access, service_tokens
from webapp.projects.forms import ServiceTokenForm
from webapp.projects.models import Project, Role


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def tokens(request: HttpRequest, slug: str) -> HttpResponse:
    """List and create; the secret of a new one is in this answer and nowhere else."""
    project = _project(request, slug)
    form = ServiceTokenForm(request.POST or None)
    secret = ""
    if request.method == "POST" and form.is_valid():
        asked = form.cleaned_data
        token, secret = service_tokens.make(project, asked["name"], Role(asked["role"]), form.expires_at())
        note(request, Verb.TOKEN_MADE, token, project, detail=asked["role"])
        form = ServiceTokenForm()
    rows = [
        (token, service_tokens.role_of(token), reverse("projects:revoke_token", args=[slug, token.pk]))
        for token in service_tokens.of_project(project)
    ]
    context = {"project": project, "form": form, "secret": secret, "rows": rows, "now": timezone.now()}
    return render(request, "projects/tokens.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """At once; what it launched goes on."""
    project = _project(request, slug)
    token = get_object_or_404(service_tokens.of_project(project), pk=pk)
    service_tokens.revoke(token)
    note(request, Verb.TOKEN_REVOKED, token, project)
    messages.success(request, _("“%s” is revoked. What used it is refused from now on.") % token.name)
    return redirect("projects:tokens", slug)


def _project(request: HttpRequest, slug: str) -> Project:
    project = get_object_or_404(Project, slug=slug)
    access.require(signed_in(request), project, Role.ADMIN)
    return project
