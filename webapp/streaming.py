"""Large answers piece by piece, under ASGI and WSGI alike."""

from collections.abc import AsyncIterator, Iterator

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse


def stream(request: HttpRequest, parts: Iterator[bytes], content_type: str) -> StreamingHttpResponse:
    """Send `parts` as they are made. Django would hold a plain iterator whole in memory under ASGI."""
    if isinstance(request, ASGIRequest):
        return StreamingHttpResponse(_in_thread(parts), content_type=content_type)
    return StreamingHttpResponse(parts, content_type=content_type)


async def _in_thread(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Each part is made in the request's thread, where its database connection lives."""
    take = sync_to_async(lambda: next(parts, None))
    while (part := await take()) is not None:
        yield part
