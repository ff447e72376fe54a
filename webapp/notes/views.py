"""The Notes tab of a run and what is sent from it; each answer is the tab anew. And the list of one's mentions."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.markdown import render as rendered
from webapp.notes import lifecycle, page, queries
from webapp.notes.forms import CommentForm, NoteForm
from webapp.notes.mentions import names
from webapp.notes.models import MentionChoice
from webapp.projects.models import Role
from webapp.runs import queries as runs

_PER_PAGE = 50


@login_required
@never_cache
@require_GET
def part(request: HttpRequest, uid: str) -> HttpResponse:
    """The tab. Whoever opens it has seen the mentions in it."""
    user = signed_in(request)
    run = runs.run_for(user, uid, Role.VIEWER)
    lifecycle.seen(user, timezone.now(), run)
    return render(request, "notes/part.html", page.parts(run, user))


@login_required
@require_POST
def write(request: HttpRequest, uid: str) -> HttpResponse:
    """New notes; refused when somebody else has saved in between, with what was typed."""
    user = signed_in(request)
    run = runs.run_for(user, uid, Role.EDITOR)
    form = NoteForm(request.POST, auto_id="note_%s")
    if form.is_valid():
        try:
            lifecycle.write_note(run, user, form.cleaned_data["text"], base=form.cleaned_data["base"])
        except lifecycle.ChangedMeanwhile:
            form.add_error(
                "text", _("Somebody else has saved in between, as you see above. Save again to write over it.")
            )
            form.data = request.POST.copy()
            form.data["base"] = str(run.note.version)
        else:
            note(request, Verb.CHANGED, run, run.project, detail="notes")
            return render(request, "notes/part.html", page.parts(run, user))
    return render(request, "notes/part.html", page.parts(run, user, note_form=form), status=422)


@login_required
@require_POST
def comment(request: HttpRequest, uid: str) -> HttpResponse:
    """Say something about the run."""
    user = signed_in(request)
    run = runs.run_for(user, uid, Role.EDITOR)
    form = CommentForm(request.POST, auto_id="comment_%s")
    if not form.is_valid():
        return render(request, "notes/part.html", page.parts(run, user, said=form), status=422)
    lifecycle.comment(run, user, form.cleaned_data["text"])
    return render(request, "notes/part.html", page.parts(run, user))


@login_required
@require_POST
def edit(request: HttpRequest, uid: str, pk: int) -> HttpResponse:
    """Change one's own comment."""
    user = signed_in(request)
    run = runs.run_for(user, uid, Role.VIEWER)
    row = queries.own_comment(run, pk, user)
    form = CommentForm(request.POST, auto_id=f"comment{pk}_%s")
    if not form.is_valid():
        return render(request, "notes/part.html", page.parts(run, user, said=form, edited=pk), status=422)
    lifecycle.edit(row, form.cleaned_data["text"])
    return render(request, "notes/part.html", page.parts(run, user))


@login_required
@require_POST
def delete(request: HttpRequest, uid: str, pk: int) -> HttpResponse:
    """One's own comment; an admin any."""
    user = signed_in(request)
    run = runs.run_for(user, uid, Role.VIEWER)
    row = queries.comment_of(run, pk)
    if not queries.may_delete(row, user):
        raise PermissionDenied("only who wrote a comment and admins may delete it")
    lifecycle.delete(row)
    if row.author_id != user.pk:
        note(request, Verb.CHANGED, run, run.project, detail=f"comment of {row.author_name} deleted")
    return render(request, "notes/part.html", page.parts(run, user))


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def mentions(request: HttpRequest) -> HttpResponse:
    """Where others have mentioned the person, and whether that also comes by e-mail."""
    user = signed_in(request)
    if request.method == "POST":
        lifecycle.choose_mail(user, wanted=request.POST.get("mail") == "on")
        messages.success(request, _("Saved."))
        return redirect("notes:mentions")
    found = Paginator(queries.mentions_of(user), _PER_PAGE).get_page(request.GET.get("page"))
    projects = {row.comment.run.project for row in found.object_list}
    people = {project.pk: {name.lower() for name in names(project)} for project in projects}
    rows = [(row, rendered(row.comment.text, people[row.comment.run.project_id])) for row in found.object_list]
    context = {"page": found, "rows": rows, "mail": not MentionChoice.objects.filter(user=user).exists()}
    answer = render(request, "notes/mentions.html", context)
    lifecycle.seen(user, timezone.now())
    return answer
