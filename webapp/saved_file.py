"""A file that is sent to be saved, never shown: whole, or on from where an earlier download broke off."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.core.files import File
from django.http import FileResponse, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import content_disposition_header, quote_etag

from webapp.byte_range import Outside, Part, part_asked
from webapp.streaming import stream_file

Opened = Callable[[Part | None], "File[bytes]"]
_Response = TypeVar("_Response", HttpResponse, FileResponse)


@dataclass(frozen=True)
class Saved:
    """`size` in bytes. `tag` is another one as soon as a byte is."""

    name: str
    size: int
    tag: str
    content_type: str = "application/octet-stream"  # a browser must not guess a page in it


def sent(request: HttpRequest, file: Saved, opened: Opened) -> HttpResponse | FileResponse:
    """A FileResponse has bytes of it, others have none. `opened` is called for those alone.

    It gives an open file whose next byte is the first of the part, or of the whole if that is None.
    """
    tag = quote_etag(file.tag)
    response = get_conditional_response(request, tag) or _asked(request, file, tag, opened)
    response["ETag"] = tag
    response["Accept-Ranges"] = "bytes"
    patch_cache_control(response, private=True, no_cache=True)
    return response


def _asked(request: HttpRequest, file: Saved, tag: str, opened: Opened) -> HttpResponse | FileResponse:
    if request.method == "HEAD":
        return _described(HttpResponse(), file, file.size)
    changed = request.headers.get("If-Range", tag) != tag
    try:
        part = None if changed else part_asked(request.headers.get("Range", ""), file.size)
    except Outside:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{file.size}"})
    if part is None:
        return stream_file(request, _described(FileResponse(opened(None)), file, file.size))
    response = _described(FileResponse(_Beginning(opened(part), part.length), status=206), file, part.length)
    response["Content-Range"] = f"bytes {part.first}-{part.last}/{file.size}"
    return stream_file(request, response)


def _described(response: _Response, file: Saved, length: int) -> _Response:
    response["Content-Type"] = file.content_type
    response["Content-Length"] = str(length)
    response["Content-Disposition"] = content_disposition_header(as_attachment=True, filename=file.name)
    response["X-Content-Type-Options"] = "nosniff"
    return response


class _Beginning:
    """The next `length` bytes of an open file, as a file of their own."""

    def __init__(self, file: "File[bytes]", length: int) -> None:
        self._file, self._left = file, length

    def read(self, size: int) -> bytes:
        data: bytes = self._file.read(min(size, self._left))
        self._left -= len(data)
        return data

    def close(self) -> None:
        self._file.close()
