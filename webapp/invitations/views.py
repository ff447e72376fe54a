"""Invite into a project or onto the server, take it back, and the page behind the link."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.invitations import lifecycle, mail, pending
from webapp.invitations.forms import InviteForm
from webapp.invitations.models import Invitation
from webapp.projects import access
from webapp.projects.models import Project, Role


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def of_project(request: HttpRequest, slug: str) -> HttpResponse:
    """The project's open invitations, and a new one."""
    project = get_object_or_404(Project, slug=slug)
    access.require(signed_in(request), project, Role.ADMIN)
    return _page(request, project)


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def of_site(request: HttpRequest) -> HttpResponse:
    """Invitations onto the server, without a project."""
    access.require_site_admin(signed_in(request))
    return _page(request, None)


@login_required
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Take an open invitation back."""
    row = get_object_or_404(lifecycle.open_ones(), pk=pk)
    if row.project is None:
        access.require_site_admin(signed_in(request))
    else:
        access.require(signed_in(request), row.project, Role.ADMIN)
    lifecycle.revoke(row)
    note(request, Verb.INVITATION_REVOKED, row, row.project)
    messages.success(request, _("The link for %s opens nothing any more.") % row.email)
    return redirect("invitations:of_project", row.project.slug) if row.project else redirect("invitations:of_site")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest, secret: str) -> HttpResponse:
    """Whoever has the link may accept it once: by signing up, or with the account that is logged in."""
    row = lifecycle.find(secret)
    if row is None:
        return render(request, "invitations/used.html", status=404)
    if not isinstance(request.user, User):
        pending.keep(request, secret)
    elif request.method == "POST" and pending.accept(request, row, request.user):
        return _welcome(request, row)
    return render(request, "invitations/show.html", {"invitation": row})


def _page(request: HttpRequest, project: Project | None) -> HttpResponse:
    form = InviteForm(request.POST or None, with_role=project is not None)
    context: dict[str, object] = {"mail": bool(settings.EMAIL_URL)}
    if request.method == "POST" and form.is_valid():
        row, secret = _invite(request, project, form)
        context |= {"link": mail.link(secret), "invited": row, "sent": mail.send(row, secret)}
        form = InviteForm(with_role=project is not None)
    context |= {"project": project, "form": form, "invitations": lifecycle.open_ones().filter(project=project)}
    return render(request, "invitations/list.html", context, status=422 if form.errors else 200)


def _invite(request: HttpRequest, project: Project | None, form: InviteForm) -> tuple[Invitation, str]:
    asked = form.cleaned_data
    role = Role(asked.get("role", Role.VIEWER))
    made = lifecycle.invite(project, asked["email"], role, signed_in(request))
    note(request, Verb.INVITED, made[0], project, detail=role.value if project else "")
    return made


def _welcome(request: HttpRequest, row: Invitation) -> HttpResponse:
    if row.project is None:
        return redirect("runs:list")
    messages.success(request, _("Welcome to %s.") % row.project.name)
    return redirect("projects:detail", row.project.slug)
