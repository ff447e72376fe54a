"""What the runs list asks for and sends: suggestions, names of columns, acts on many runs, saved views."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.history import bulk, completion, keys, listing, saved
from webapp.history.models import SavedView
from webapp.history.search import named
from webapp.history.terms import SearchError
from webapp.projects import access
from webapp.projects.models import Project, Role
from webapp.runs.models import Run

_MOST_CHOSEN = 5_000


@login_required
@require_GET
def complete(request: HttpRequest) -> HttpResponse:
    """`before`: the text up to the cursor. Suggestions from what the person may see."""
    found = completion.suggestions(
        signed_in(request), request.GET.get("before", ""), request.GET.get("project", "").strip()
    )
    return JsonResponse({"found": [{"text": one.text, "about": one.about, "start": one.start} for one in found]})


@login_required
@require_GET
def names(request: HttpRequest) -> HttpResponse:
    """Names for columns with `part` in them: a page of them, and how many there are."""
    user, project = signed_in(request), request.GET.get("project", "").strip()
    found, total = keys.named_like(user, request.GET.get("part", "").strip(), project)
    shown = [{"word": one.word, "title": one.name, "kind": one.kind.value} for one in found]
    return JsonResponse({"found": shown, "total": total})


@login_required
@require_POST
def act(request: HttpRequest) -> HttpResponse:
    """Do something to the chosen runs (`uid`), or to all that the list's state finds (`all`)."""
    user, what = signed_in(request), request.POST.get("do", "")
    asked = _state(request)
    try:
        every = request.POST.get("all")
        found = listing.found(user, asked) if every else named(user, request.POST.getlist("uid")[:_MOST_CHOSEN])
        done = bulk.act(user, found, what, request.POST.get("word", ""))
    except (bulk.Refused, SearchError) as error:
        messages.error(request, str(error))
    else:
        _write_down(request, what, done)
        if what == "delete":
            request.session[bulk.UNDO] = done.uids
        messages.success(request, bulk.sentence(what, done), extra_tags="undo" if what == "delete" else "")
    return redirect(reverse("runs:list") + listing.address(asked))


@login_required
@require_POST
def undo(request: HttpRequest) -> HttpResponse:
    """Bring back what the person has just deleted."""
    user = signed_in(request)
    uids = request.session.pop(bulk.UNDO, [])
    done = bulk.act(user, named(user, uids), "restore")
    _write_down(request, "restore", done)
    messages.success(request, bulk.sentence("restore", done))
    return redirect("runs:list")


@login_required
@require_POST
def save_view(request: HttpRequest, slug: str) -> HttpResponse:
    """Keep the list's state under a name, for everybody in the project."""
    user = signed_in(request)
    project = get_object_or_404(Project, slug=slug)
    access.require(user, project, Role.EDITOR)
    name = " ".join(request.POST.get("name", "").split())
    asked = _state(request)
    if not name or len(name) > 80 or len(saved.as_saved(asked)) > 4000:
        messages.error(request, _("Give the view a name of at most 80 characters."))
        return redirect(reverse("runs:list") + listing.address(asked))
    view = saved.save(project, name, asked, user, is_default="is_default" in request.POST)
    messages.success(request, _("The view “%s” is saved.") % view.name)
    return redirect(saved.view_address(view))


@login_required
@require_POST
def drop_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Remove a saved view; no run changes."""
    view = get_object_or_404(SavedView.objects.select_related("project"), pk=pk)
    access.require(signed_in(request), view.project, Role.EDITOR)
    view.delete()
    messages.success(request, _("The view “%s” is removed.") % view.name)
    return redirect(reverse("runs:list") + listing.address(_state(request)))


def _write_down(request: HttpRequest, what: str, done: bulk.Done) -> None:
    verb = {"stop": Verb.STOPPED, "delete": Verb.DELETED, "restore": Verb.RESTORED}.get(what)
    if verb is not None:
        for run in Run.objects.filter(uid__in=done.uids).select_related("project"):
            note(request, verb, run, run.project)


def _state(request: HttpRequest) -> dict[str, str]:
    return listing.state(QueryDict(request.POST.get("state", "").removeprefix("?")))
