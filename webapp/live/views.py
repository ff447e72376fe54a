"""Server-sent events: one run's frames, and what changes in the runs list. Strangers get 404."""

import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing

from asgiref.sync import sync_to_async
from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from trainer_agent.wire import names
from webapp.live import watched
from webapp.live.events import Allowed, events, in_projects
from webapp.live.followers import Follower


@require_GET
async def run(request: HttpRequest, uid: str) -> StreamingHttpResponse:
    """Frames of one run. `Last-Event-ID`, or `?after=`: the cursor that the page noted."""
    follower = await _follower(request)
    if not await follower.may_follow(uid):
        raise Http404(_("There is no such run."))
    return await frames_of(request, uid, lambda: follower.may_follow(uid))


@require_GET
async def runs(request: HttpRequest) -> StreamingHttpResponse:
    """`{kind: "run", run, project}` whenever a row of the person's runs list changed."""
    follower = await _follower(request)
    seen = {"projects": await follower.projects() or frozenset()}

    async def allowed() -> bool:
        projects = await follower.projects()
        seen["projects"] = projects or frozenset()
        return projects is not None

    wanted = in_projects(lambda: seen["projects"])
    return _answer(events(names.live_list(), _after(request), allowed, wanted))


async def frames_of(request: HttpRequest, uid: str, allowed: Allowed) -> StreamingHttpResponse:
    """The stream of one run, for as long as `allowed` says so."""
    await sync_to_async(watched.note)(uid)
    return _answer(_noting(uid, events(names.live(uid), _after(request), allowed)))


async def _noting(uid: str, chunks: AsyncGenerator[bytes]) -> AsyncIterator[bytes]:
    """The same, and as long as they are read somebody looks at the run; a chunk comes at least every KEEP_ALIVE_S."""
    noted = time.monotonic()
    async with aclosing(chunks):
        async for chunk in chunks:
            if time.monotonic() - noted >= watched.EVERY_S:
                noted = time.monotonic()
                await sync_to_async(watched.note)(uid)
            yield chunk


async def _follower(request: HttpRequest) -> Follower:
    user = await request.auser()
    key = request.session.session_key
    if not user.is_authenticated or key is None:
        raise Http404(_("Log in first."))
    return Follower(user.pk, key)


def _after(request: HttpRequest) -> str:
    return request.headers.get("Last-Event-ID") or request.GET.get("after", "")


def _answer(chunks: AsyncIterator[bytes]) -> StreamingHttpResponse:
    response = StreamingHttpResponse(chunks, content_type="text/event-stream")
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response
