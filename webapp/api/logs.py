"""`/runs/{id}/logs`: one rank's bytes as they were, or the lines of all ranks."""

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from ninja import Router
from ninja.params.functions import Query

from webapp.api import log_bytes
from webapp.api.errors import ApiError
from webapp.api.lookup import attempt_named
from webapp.api.schemas import Failure
from webapp.runs.models import Status
from webapp.streaming import stream

router = Router(tags=["runs"])


@router.get(
    "/{run_id}/logs",
    response={200: str, 404: Failure},
    summary="Logs of a run",
    openapi_extra={"responses": {200: {"content": {"text/plain": {}, "application/x-ndjson": {}}}}},
)
def logs(
    request: HttpRequest,
    run_id: str,
    rank: int | None = Query(None, ge=-1024),
    after: int = Query(0, ge=0),
    attempt: int | None = Query(None, ge=1),
) -> HttpResponseBase:
    """With `rank` (-1: the first node's launcher, -2: the second's, …): text/plain, that rank's bytes from offset
    `after` on; the header `X-Log-End` says where to go on. Without: one JSON object a line, `{rank, at, text, cursor}`,
    in the order of arrival; `after` is the last `cursor` that you have. While the attempt lives, a line comes when its
    end was printed.
    """
    found = attempt_named(request, run_id, attempt)
    if rank is None:
        whole = found.status == Status.ENDED
        return stream(request, log_bytes.json_lines(found, after, whole), "application/x-ndjson")
    if rank >= found.world_size:
        raise ApiError(404, _("Attempt %(number)s has no rank %(rank)s.") % {"number": found.number, "rank": rank})
    end = log_bytes.end_of(found, rank)
    response = stream(request, log_bytes.raw(found, rank, after, end), "text/plain")
    response["X-Log-End"] = str(max(after, end))
    return response
