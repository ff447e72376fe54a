"""The .zip while it grows, a slice at a time, in HOME_DIR/exports.

After each slice it is a whole archive. A slice that is cut off has written over the archive's directory, which stands
at the end: `closed` keeps a copy beside it, and `opened` goes back to that.
"""

import shutil
import zipfile
from pathlib import Path

from django.conf import settings
from django.core.files.base import File

from trainer_agent.wire.whole_file import write_whole

_LEVEL = 1  # of deflate: higher ones cost many times more for a few per cent
_OFFSET = 8  # bytes that say where the directory begins


class Whole(File):  # type: ignore[type-arg]
    """A file that a storage in a folder may move instead of copying."""

    def temporary_file_path(self) -> str:
        """Its place on this machine."""
        return str(self.name)


def opened(uid: str, units_done: int) -> zipfile.ZipFile | None:
    """The archive with so many units in it; None when this machine has not got it."""
    path, end = _path(uid), _end(uid, units_done)
    if not units_done:
        remove(uid)
        path.parent.mkdir(parents=True, exist_ok=True)
        return zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)
    if not (path.exists() and end.exists()):
        return None
    kept = end.read_bytes()
    with path.open("r+b") as file:
        file.truncate(int.from_bytes(kept[:_OFFSET], "little"))
        file.seek(0, 2)
        file.write(kept[_OFFSET:])
    return zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED, compresslevel=_LEVEL)


def closed(uid: str, archive: zipfile.ZipFile, units_done: int) -> int:
    """Close it with so many units in it, so that `opened` can go on from here. Returns its size in bytes."""
    archive.close()
    with _path(uid).open("rb") as file:
        file.seek(archive.start_dir)
        directory = file.read()
    kept = archive.start_dir.to_bytes(_OFFSET, "little") + directory
    write_whole(str(_end(uid, units_done)), kept, 0o600, sync=True)
    for old in _path(uid).parent.glob(f"{uid}.*.end"):
        if old != _end(uid, units_done):
            old.unlink(missing_ok=True)
    return _path(uid).stat().st_size


def whole(uid: str) -> Whole:
    """To be handed to a storage."""
    return Whole(_path(uid).open("rb"), name=str(_path(uid)))


def free_bytes() -> int:
    """What the disk has left where archives grow."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(folder).free


def remove(uid: str) -> None:
    """Whatever this machine has of it."""
    for path in _folder().glob(f"{uid}.*"):
        path.unlink(missing_ok=True)


def remove_others(uids: set[str]) -> None:
    """All but these."""
    for path in _folder().glob("x-*.*"):
        if path.name.partition(".")[0] not in uids:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return Path(settings.HOME_DIR) / "exports"


def _path(uid: str) -> Path:
    return _folder() / f"{uid}.zip"


def _end(uid: str, units_done: int) -> Path:
    return _folder() / f"{uid}.{units_done}.end"
