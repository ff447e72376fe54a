"""Large answers piece by piece, under ASGI and WSGI alike."""

from collections.abc import AsyncIterator, Iterator
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware

_PIECE = 256 * 1024  # bytes of a file that are read at once
_File = TypeVar("_File", bound=FileResponse)


def stream(request: HttpRequest, parts: Iterator[bytes], content_type: str) -> StreamingHttpResponse:
    """Send `parts` as they are made. Django would hold a plain iterator whole in memory under ASGI."""
    if isinstance(request, ASGIRequest):
        return StreamingHttpResponse(_in_thread(parts), content_type=content_type)
    return StreamingHttpResponse(parts, content_type=content_type)


def stream_file(request: HttpRequest, response: _File) -> _File:
    """The same for a file, which is closed with its answer."""
    response.block_size = _PIECE
    if isinstance(request, ASGIRequest):
        response.streaming_content = _in_thread(iter(response.streaming_content))  # type: ignore[arg-type]
    return response


class StaticFiles(WhiteNoiseMiddleware):  # type: ignore[misc]
    """WhiteNoise, which answers with plain iterators."""

    @staticmethod
    def serve(static_file, request):  # type: ignore[no-untyped-def]
        return stream_file(request, WhiteNoiseMiddleware.serve(static_file, request))


async def _in_thread(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    """Each part is made in the request's thread, where its database connection lives."""
    take = sync_to_async(lambda: next(parts, None))
    while (part := await take()) is not None:
        yield part
