"""`/runs`: list, start, read, change, stop, restart and delete runs."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import Router, Status
from ninja.params.functions import Query

from webapp.api.auth import person
from webapp.api.create import create_run
from webapp.api.errors import ApiError
from webapp.api.lookup import run_named
from webapp.api.schemas import Failure, RunChange, RunIn, RunOut
from webapp.api.shapes import show, show_all
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.history import orders, paging
from webapp.history.search import named, search
from webapp.history.terms import SearchError
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs import lifecycle
from webapp.runs.models import Run
from webapp.runs.models import Status as RunStatus

router = Router(tags=["runs"])


@router.get("", response={200: list[RunOut], 422: Failure}, summary="Runs, newest first")
def list_runs(
    request: HttpRequest,
    response: HttpResponse,
    *,
    q: str = "",
    status: str = "",
    project: str = "",
    owner: str = "",
    sort: str = "",
    limit: int = Query(50, ge=1, le=200),
    cursor: str = "",
) -> list[dict[str, Any]]:
    """`q` and `sort` are those of the page; see docs/search.md. The next page's address is in the header `Link`."""
    try:
        found = search(person(request), text=q, status=status, project=project, owner=owner)
    except SearchError as error:
        raise ApiError(422, str(error), fields={"q": str(error)}) from None
    if sort and not orders.known(sort):
        sentence = _("Runs cannot be sorted by “%s”.") % sort
        raise ApiError(422, sentence, fields={"sort": sentence})
    page = paging.page(found, cursor, limit, sort)
    if page.older:
        query = request.GET.copy()
        query["cursor"] = page.older
        response["Link"] = f'<{request.build_absolute_uri(request.path)}?{query.urlencode()}>; rel="next"'
    return show_all(page.rows)


@router.post("", response={201: RunOut, 403: Failure, 404: Failure, 422: Failure}, summary="Start a run")
def create(request: HttpRequest, asked: RunIn) -> Status[dict[str, Any]]:
    run = create_run(person(request), asked)
    note(request, Verb.LAUNCHED, run, run.project)
    return Status(201, show(run))


@router.get("/{run_id}", response={200: RunOut, 404: Failure}, summary="Read a run")
def read(request: HttpRequest, run_id: str) -> dict[str, Any]:
    return show(run_named(request, run_id))


@router.patch("/{run_id}", response={200: RunOut, 403: Failure, 404: Failure, 422: Failure}, summary="Change a run")
def change(request: HttpRequest, run_id: str, asked: RunChange) -> dict[str, Any]:
    run = run_named(request, run_id, Role.EDITOR)
    if asked.name is not None:
        run.name = asked.name
    if asked.retries is not None:
        run.spec = {**run.spec, "retries": asked.retries}
    run.save(update_fields=["name", "spec"])
    note(request, Verb.CHANGED, run, run.project)
    return show(run)


@router.post("/{run_id}/stop", response={200: RunOut, 403: Failure, 404: Failure, 409: Failure}, summary="Stop a run")
def stop(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """Answers at once; the run is `stopping` until every node proved that its processes are gone."""
    run = run_named(request, run_id, Role.EDITOR)
    if lifecycle.request_stop(run, person(request).username):
        note(request, Verb.STOPPED, run, run.project)
    run.refresh_from_db()
    return show(run)


@router.post(
    "/{run_id}/restart", response={200: RunOut, 403: Failure, 404: Failure, 409: Failure}, summary="Start it again"
)
def restart(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """A new attempt of a run that has ended."""
    run = run_named(request, run_id, Role.EDITOR)
    _refuse_unless_ended(run)
    lifecycle.restart(run, person(request).username)
    note(request, Verb.RESTARTED, run, run.project)
    run.refresh_from_db()
    return show(run)


@router.post("/{run_id}/restore", response={200: RunOut, 403: Failure, 404: Failure}, summary="Undo a deletion")
def restore(request: HttpRequest, run_id: str) -> dict[str, Any]:
    """Within 24 hours. What was stopped stays stopped."""
    run = named(person(request), [run_id]).select_related("project", "owner").first()
    if run is None:
        raise Http404
    access.require(person(request), run.project, Role.EDITOR)
    if lifecycle.restore(run, person(request).username):
        note(request, Verb.RESTORED, run, run.project)
    run.refresh_from_db()
    return show(run)


@router.delete("/{run_id}", response={204: None, 403: Failure, 404: Failure}, summary="Delete a run and its data")
def delete(request: HttpRequest, run_id: str) -> Status[None]:
    """A run that lives is stopped first. It can be restored for 24 hours."""
    run = run_named(request, run_id, Role.EDITOR)
    lifecycle.delete(run, person(request).username)
    note(request, Verb.DELETED, run, run.project)
    return Status(204, None)


def _refuse_unless_ended(run: Run) -> None:
    if run.status != RunStatus.ENDED:
        raise ApiError(409, _("Run %(run)s has not ended: stop it first.") % {"run": run.uid})
