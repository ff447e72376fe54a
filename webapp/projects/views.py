"""Pages of projects: mine, one with its members, and a new one."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects import access, members
from webapp.projects.forms import LostNodeForm, MemberForm, PriceForm, ProjectForm, RoleForm
from webapp.projects.models import Membership, Project, Role


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def index(request: HttpRequest) -> HttpResponse:
    """The person's projects, and a form for a new one, of which its creator is the admin."""
    user = signed_in(request)
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        project = members.create_project(user, form.cleaned_data["slug"], form.cleaned_data["name"])
        note(request, Verb.PROJECT_MADE, project, project)
        messages.success(request, _("Project “%s” is ready. Add your team, then launch a run.") % project.name)
        return redirect("projects:detail", project.slug)
    living = Q(runs__deleted_at=None)
    rows = access.visible(Project.objects.all(), user, "pk").annotate(
        run_count=Count("runs", filter=living, distinct=True),
        member_count=Count("memberships", filter=Q(memberships__user__is_service=False), distinct=True),
    )
    roles = dict(Membership.objects.filter(user=user).values_list("project", "role"))
    listed = [(row, Role(roles.get(row.pk, Role.ADMIN)).label) for row in rows]
    return render(request, "projects/list.html", {"projects": listed, "form": form}, status=_status(form))


@login_required
@require_safe
def detail(request: HttpRequest, slug: str) -> HttpResponse:
    """Members and their roles; only an admin gets the forms that change them."""
    project = _project(request, slug, Role.VIEWER)
    return _page(request, project, MemberForm())


@login_required
@require_POST
def add_member(request: HttpRequest, slug: str) -> HttpResponse:
    """Add a person by user name."""
    project = _project(request, slug, Role.ADMIN)
    form = MemberForm(request.POST)
    if form.is_valid():
        try:
            added = members.add(project, form.cleaned_data["username"], Role(form.cleaned_data["role"]))
            note(request, Verb.MEMBER_ADDED, added.user, project, detail=added.role)
            return redirect("projects:detail", slug)
        except members.Refused as refused:
            form.add_error("username", str(refused))
    return _page(request, project, form)


@login_required
@require_POST
def set_lost_node_limit(request: HttpRequest, slug: str) -> HttpResponse:
    """How long a silent node's part of this project's runs is waited for; empty: as the server has it."""
    project = _project(request, slug, Role.ADMIN)
    form = LostNodeForm(request.POST, instance=project)
    if not form.is_valid():
        return _page(request, project, MemberForm(), form)
    form.save()
    note(request, Verb.PROJECT_SET, "lost_node_limit_s", project, detail=str(project.lost_node_limit_s or ""))
    messages.success(request, _("Saved. It holds for runs that are under way, too."))
    return redirect("projects:detail", slug)


@login_required
@require_POST
def set_price(request: HttpRequest, slug: str) -> HttpResponse:
    """What a slot costs for an hour; empty: money is not shown."""
    project = _project(request, slug, Role.ADMIN)
    form = PriceForm(request.POST, instance=project)
    if not form.is_valid():
        return _page(request, _project(request, slug, Role.ADMIN), MemberForm(), price=form)
    form.save()
    note(request, Verb.PROJECT_SET, "slot_hour_price", project, detail=str(project.slot_hour_price or ""))
    messages.success(
        request,
        _("Saved. Incidents say what they cost in money.")
        if project.slot_hour_price is not None
        else _("Saved. Incidents do not speak of money."),
    )
    return redirect("projects:detail", slug)


@login_required
@require_POST
def change_role(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Give a member another role."""
    membership = _membership(request, slug, pk)
    form = RoleForm(request.POST)
    if not form.is_valid():
        raise Http404
    before = membership.role
    try:
        members.change_role(membership, Role(form.cleaned_data["role"]))
        note(request, Verb.MEMBER_ROLE, membership.user, membership.project, detail=f"{before} → {membership.role}")
    except members.Refused as refused:
        messages.error(request, str(refused))
    return redirect("projects:detail", slug)


@login_required
@require_POST
def remove_member(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Take a person out; an admin who leaves goes back to the list."""
    membership = _membership(request, slug, pk)
    try:
        members.remove(membership)
        note(request, Verb.MEMBER_REMOVED, membership.user, membership.project)
    except members.Refused as refused:
        messages.error(request, str(refused))
    still_in = access.role_in(signed_in(request), membership.project)
    return redirect("projects:detail", slug) if still_in else redirect("projects:list")


def _project(request: HttpRequest, slug: str, role: Role) -> Project:
    project = get_object_or_404(Project, slug=slug)
    access.require(signed_in(request), project, role)
    return project


def _membership(request: HttpRequest, slug: str, pk: int) -> Membership:
    rows = Membership.objects.filter(user__is_service=False)  # a service account goes with its token
    return get_object_or_404(rows, pk=pk, project=_project(request, slug, Role.ADMIN))


def _page(
    request: HttpRequest,
    project: Project,
    form: MemberForm,
    lost_nodes: LostNodeForm | None = None,
    price: PriceForm | None = None,
) -> HttpResponse:
    failed = lost_nodes or price or form
    context = {
        "project": project,
        "form": form,
        "lost_nodes": lost_nodes or LostNodeForm(instance=project),
        "price": price or PriceForm(instance=project),
        "members": project.memberships.filter(user__is_service=False).select_related("user").order_by("user__username"),
        "roles": Role.choices,
        "may_change": access.allows(signed_in(request), project, Role.ADMIN),
        "run_count": project.runs.filter(deleted_at=None).count(),
    }
    return render(request, "projects/detail.html", context, status=_status(failed))


def _status(form: BaseForm) -> int:
    return 422 if form.errors else 200
