"""What editors do with an incident on its page: acknowledge, confirm its cause, assign, comment, close."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.audit.models import Verb
from webapp.incidents import lifecycle, page, queries
from webapp.incidents.audited import note_act
from webapp.incidents.forms import AssignForm, CauseForm, CommentForm
from webapp.incidents.models import Incident
from webapp.projects.models import Role


@login_required
@require_POST
def acknowledge(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that you have seen it; the first to say so stays."""
    row, user = _of_editor(request, pk)
    if lifecycle.acknowledge(row, user, timezone.now()):
        note_act(request, Verb.INCIDENT_SEEN, row)
    else:
        messages.info(request, _("Somebody has acknowledged it already."))
    return redirect("incidents:detail", pk)


@login_required
@require_POST
def assign(request: HttpRequest, pk: int) -> HttpResponse:
    """Give it to a member of the project, or to nobody."""
    row, user = _of_editor(request, pk)
    form = AssignForm(request.POST)
    name = form.cleaned_data["username"] if form.is_valid() else "?"
    to = row.attempt.run.project.members.filter(username=name, is_active=True).first() if name else None
    if name and to is None:
        messages.error(request, _("Nobody of this name is a member of the project."))
    elif to != row.assignee:
        lifecycle.assign(row, user, to, timezone.now())
        note_act(request, Verb.INCIDENT_ASSIGNED, row, detail=to.username if to else "")
    return redirect("incidents:detail", pk)


@login_required
@require_POST
def confirm(request: HttpRequest, pk: int) -> HttpResponse:
    """Say what the cause is."""
    row, user = _of_editor(request, pk)
    form = CauseForm(request.POST)
    if form.is_valid():
        lifecycle.confirm(row, user, form.cleaned_data["cause"], timezone.now())
        note_act(request, Verb.INCIDENT_CAUSE, row, detail=form.cleaned_data["cause"])
    else:
        messages.error(request, _("Choose a cause of the list."))
    return redirect("incidents:detail", pk)


@login_required
@require_POST
def comment(request: HttpRequest, pk: int) -> HttpResponse:
    """Say something about it."""
    row, user = _of_editor(request, pk)
    form = CommentForm(request.POST)
    if not form.is_valid():
        return render(request, "incidents/detail.html", page.whole(row, user, form), status=422)
    lifecycle.comment(row, user, form.cleaned_data["text"], timezone.now())
    note_act(request, Verb.INCIDENT_COMMENTED, row)
    return redirect("incidents:detail", pk)


@login_required
@require_POST
def close(request: HttpRequest, pk: int) -> HttpResponse:
    """Say that it is over."""
    row, user = _of_editor(request, pk)
    if lifecycle.close(row, user, timezone.now()):
        note_act(request, Verb.INCIDENT_CLOSED, row)
    else:
        messages.info(request, _("It is closed already."))
    return redirect("incidents:detail", pk)


def _of_editor(request: HttpRequest, pk: int) -> tuple[Incident, User]:
    user = signed_in(request)
    return queries.incident_for(user, pk, Role.EDITOR), user
