"""The launch page: the form, the command that it becomes, and the slots beside it."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from pydantic import ValidationError

from webapp.accounts.models import User
from webapp.accounts.signed_in import signed_in
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.nodes.queries import node_lines, node_rows, slot_count
from webapp.projects.models import Role
from webapp.runs import lifecycle, queries, uploads
from webapp.runs.command_line import shown_command
from webapp.runs.command_text import split
from webapp.runs.forms import LaunchForm
from webapp.runs.models import Run
from webapp.runs.secrets import SecretUnreadable
from webapp.runs.spec import RunSpec

SHOWN_NODES = 12


@login_required
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest) -> HttpResponse:
    """A refused form comes back with what was typed, and status 422."""
    user = signed_in(request)
    source_run = _source_run(request, user)
    if request.method == "POST":
        form = LaunchForm(user, source_run, request.POST, request.FILES)
        run = _create(form, user) if form.is_valid() else None
        if run is None:
            return _page(request, form, 422)
        note(request, Verb.LAUNCHED, run, run.project)
        return redirect("runs:detail", run.uid)
    project = request.GET.get("project")
    return _page(request, LaunchForm(user, source_run, **({"project": project} if project else {})), 200)


@login_required
@require_POST
def preview(request: HttpRequest) -> HttpResponse:
    """The exact command of what is typed so far, or what is missing."""
    context: dict[str, object] = {}
    try:
        context["words"] = shown_command(_typed(request)).split(" ")
    except ValidationError as error:
        context["missing"] = error.errors()[0]["msg"].removeprefix("Value error, ")
    except ValueError as error:
        context["missing"] = str(error)
    return render(request, "runs/launch_preview.html", context)


@login_required
@never_cache
@require_safe
def slots(request: HttpRequest) -> HttpResponse:
    """What is free now, node by node."""
    return render(request, "runs/launch_slots.html", slots_context(signed_in(request)))


def code_and_secrets(form: LaunchForm) -> tuple[RunSpec, dict[str, str]] | None:
    """The spec with its code stored, and the secrets; None with an error on the form where they cannot be taken."""
    data, spec = form.cleaned_data, form.spec
    try:
        values = form.secret_values()
        if data["source"] == "upload" and data["folder"]:
            upload = _store(form)
            spec = spec.model_copy(update={"upload_sha256": upload})
    except SecretUnreadable as error:
        form.add_error(None, str(error))
        return None
    except ValueError as error:
        form.add_error("folder", str(error))
        return None
    return spec, values


def slots_context(user: User) -> dict[str, object]:
    """What the card of free slots shows: some nodes, those with most free slots first."""
    lines = node_lines()
    best = sorted(lines, key=lambda line: -line.free if line.usable else 1)[:SHOWN_NODES]
    return {"node_rows": node_rows(user, best), "all_nodes": len(lines), "slots": slot_count(lines)}


def _create(form: LaunchForm, user: User) -> Run | None:
    found = code_and_secrets(form)
    if found is None:
        return None
    spec, values = found
    data = form.cleaned_data
    return lifecycle.create(project=data["project"], owner=user, name=data["name"], spec=spec, secrets=values)


def _store(form: LaunchForm) -> str:
    data = form.cleaned_data
    names = data["paths"] if len(data["paths"]) == len(data["folder"]) else [str(f.name) for f in data["folder"]]
    return uploads.store(data["project"], zip(names, data["folder"], strict=True)).sha256


def _source_run(request: HttpRequest, user: User) -> Run | None:
    """Run again: only an editor of its project may, because its secrets come along."""
    uid = request.POST.get("from") or request.GET.get("from")
    return queries.run_for(user, uid, Role.EDITOR) if uid else None


def _typed(request: HttpRequest) -> RunSpec:
    argv = split(request.POST.get("command", ""))
    if not argv:
        raise ValueError(_("Type a command to see what runs on each node."))
    sizes = {key: request.POST.get(key) or 1 for key in ("nodes", "ranks_per_node")}
    return RunSpec.model_validate({"argv": argv, **sizes})


def _page(request: HttpRequest, form: LaunchForm, status: int) -> HttpResponse:
    button = {"send": _("Launch"), "sending": _("Launching…")}
    context = {"form": form, "source_run": form.source_run, **button, **slots_context(signed_in(request))}
    return render(request, "runs/launch.html", context, status=status)
