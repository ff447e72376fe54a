"""Static files and uploads leave an ASGI server piece by piece, not whole from memory."""

from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.conf import settings
from django.http import FileResponse
from django.test import AsyncClient, AsyncRequestFactory, RequestFactory

from webapp import streaming


def test_a_static_file_comes_whole_and_asynchronously() -> None:
    async def fetched() -> bytes:
        answer: Any = await AsyncClient().get("/static/js/copy.js")
        assert answer.is_async
        return b"".join([part async for part in answer])

    assert async_to_sync(fetched)() == (settings.BASE_DIR / "webapp/static/js/copy.js").read_bytes()


def test_a_file_is_read_in_pieces_and_closed_with_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_PIECE", 4)
    (tmp_path / "file").write_bytes(b"0123456789")

    async def pieces() -> list[bytes]:
        file = (tmp_path / "file").open("rb")
        answer = streaming.stream_file(AsyncRequestFactory().get("/"), FileResponse(file))
        found = [part async for part in answer]
        answer.close()
        assert file.closed
        return found

    assert async_to_sync(pieces)() == [b"0123", b"4567", b"89"]
    with (tmp_path / "file").open("rb") as file:
        answer = streaming.stream_file(RequestFactory().get("/"), FileResponse(file))
        assert list(answer) == [b"0123", b"4567", b"89"]
