"""The bytes of artifacts: in the folder or bucket of the settings. Every trouble with it is one error, with a sentence.

StoreFailed       the store cannot do it now; nothing was changed
└── ContentGone   it does not have the content (any more)
"""

import errno
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, cast

from django.core.files import File
from django.core.files.storage import storages
from django.utils.translation import gettext as _

from webapp.byte_range import Part

log = logging.getLogger(__name__)


class StoreFailed(Exception):
    """`status` is that of an answer by HTTP, the message a sentence for people."""

    status = 503


class ContentGone(StoreFailed):
    """Trying again does not help."""

    status = 404


def put(name: str, sent: "File[bytes]") -> str:
    """Write it, whole or not at all. Returns the name under which the store has it."""
    try:
        with _one_error():
            return _store().save(name, sent)
    except StoreFailed:
        forget(name)  # a full disk has kept a part of it
        raise


def opened(content: str, part: Part | None) -> "File[bytes]":
    """To be read from the beginning of the part, or of the whole, in pieces as they come, and closed."""
    with _one_error():
        return _store().open_at(content, part)


def remove(content: str) -> None:
    """One that is not there is no error."""
    with _one_error():
        _store().delete(content)


def forget(content: str) -> None:
    """Remove what nobody asks for any more; it is left behind when the store is away."""
    try:
        remove(content)
    except StoreFailed:
        log.warning("%s stays in the store of artifacts, though no run has it", content)


class _Store(Protocol):
    """Folder and Bucket."""

    def save(self, name: str, content: "File[bytes]") -> str: ...

    def open_at(self, name: str, part: Part | None) -> "File[bytes]": ...

    def delete(self, name: str) -> None: ...


def _store() -> _Store:
    return cast(_Store, storages["artifacts"])


@contextmanager
def _one_error() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        log.warning("an artifact has no content: %s", error)
        raise ContentGone(
            _("The storage no longer has this file. Delete its entry, and add it again if you still have it.")
        ) from error
    except OSError as error:
        log.warning("the store of artifacts failed: %s", error)
        raise StoreFailed(_sentence(error)) from error


def _sentence(error: OSError) -> str:
    if isinstance(error, PermissionError):
        return _(
            "The storage for files refuses this server. Ask an administrator to check its settings ARTIFACT_…; "
            "nothing was changed."
        )
    if error.errno == errno.ENOSPC:
        return _("The storage for files is full. Ask an administrator to make room; nothing was changed.")
    return _("The storage for files does not answer. Nothing was changed: try again in a moment.")
