"""Folders of code that people upload: made into one .tar.gz, the same bytes for the same files, kept by its hash."""

import gzip
import hashlib
import os
import stat
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from django.conf import settings
from django.utils.translation import gettext as _

from webapp.projects.models import Project
from webapp.runs.models import Upload

_LEFT_OUT = frozenset({".git", "__pycache__", ".DS_Store"})
_PIECE = 1024 * 1024


class UploadRefused(ValueError):
    """The files cannot be taken; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class _File:
    name: str
    body: IO[bytes]
    size: int
    executable: bool


def store(project: Project, files: Iterable[tuple[str, IO[bytes]]]) -> Upload:
    """Keep (path inside the folder, open file) pairs."""
    named = sorted(((_safe_name(name), body) for name, body in files), key=_by_name)
    return _keep(project, (_File(name, body, _size_of(body), False) for name, body in named))


def store_tar(project: Project, stream: IO[bytes]) -> Upload:
    """Keep the regular files of a .tar or .tar.gz, paths as they are."""
    with tempfile.TemporaryFile() as spooled:
        _copy(stream, spooled, settings.UPLOAD_LIMIT_MB * _PIECE)
        spooled.seek(0)
        try:
            with tarfile.open(fileobj=spooled, mode="r:*") as tar:
                return _keep(project, _members(tar))
        except (tarfile.TarError, EOFError, gzip.BadGzipFile, OSError) as error:
            raise UploadRefused(_("This is no readable .tar.gz: %(error)s") % {"error": error}) from error


def path(upload: Upload) -> Path:
    """Where the bytes lie."""
    return _folder() / upload.sha256


def _members(tar: tarfile.TarFile) -> Iterator[_File]:
    for member in sorted(tar.getmembers(), key=lambda member: member.name):
        name = _safe_name(member.name)
        if member.isdir():
            continue
        if not member.isreg():
            raise UploadRefused(
                _("“%(name)s” is a link or device; only files and folders can be uploaded.") % {"name": name}
            )
        body = tar.extractfile(member)
        assert body is not None
        yield _File(name, body, member.size, bool(member.mode & stat.S_IXUSR))


def _keep(project: Project, files: Iterable[_File]) -> Upload:
    _folder().mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=_folder(), prefix=".new-", delete=False) as out:
        try:
            count = _pack([file for file in files if not _LEFT_OUT & set(file.name.split("/"))], out)
            out.flush()
            sha256 = _hash_of(out.name)
            os.replace(out.name, _folder() / sha256)
        except BaseException:
            os.unlink(out.name)
            raise
    size = (_folder() / sha256).stat().st_size
    upload, _new = Upload.objects.get_or_create(project=project, sha256=sha256, defaults={"size": size, "files": count})
    return upload


def _pack(files: list[_File], out: IO[bytes]) -> int:
    if not files:
        raise UploadRefused(_("The folder is empty. Choose one that holds your script."))
    left = settings.UPLOAD_LIMIT_MB * _PIECE
    seen: set[str] = set()
    # No time, no owner, no name of ours: the same files give the same bytes, so the same hash.
    with (
        gzip.GzipFile(filename="", fileobj=out, mode="wb", mtime=0, compresslevel=6) as zipped,
        tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for file in files:
            left -= file.size
            if left < 0:
                raise UploadRefused(_too_large())
            if file.name in seen:
                raise UploadRefused(_("“%(name)s” is there twice.") % {"name": file.name})
            seen.add(file.name)
            entry = tarfile.TarInfo(file.name)
            entry.size, entry.mode = file.size, 0o755 if file.executable else 0o644
            tar.addfile(entry, file.body)
    return len(files)


def _safe_name(name: str) -> str:
    """The path with `.` parts cut; UploadRefused when it leads out of the folder."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    if not parts and name in (".", "./"):
        return "."
    if not parts or parts[0].startswith("/") or ".." in parts or "\0" in name or ":" in parts[0]:
        raise UploadRefused(_("“%(name)s” is no path inside the folder.") % {"name": name})
    return "/".join(parts)


def _copy(source: IO[bytes], target: IO[bytes], limit: int) -> None:
    while piece := source.read(_PIECE):
        limit -= len(piece)
        if limit < 0:
            raise UploadRefused(_too_large())
        target.write(piece)


def _too_large() -> str:
    return _("The folder is larger than %(limit)d MB. Leave data out, or use a path on the nodes or git.") % {
        "limit": settings.UPLOAD_LIMIT_MB
    }


def _size_of(body: IO[bytes]) -> int:
    size = body.seek(0, os.SEEK_END)
    body.seek(0)
    return size


def _by_name(pair: tuple[str, IO[bytes]]) -> str:
    return pair[0]


def _hash_of(name: str) -> str:
    with open(name, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _folder() -> Path:
    return Path(settings.MEDIA_ROOT) / "uploads"
