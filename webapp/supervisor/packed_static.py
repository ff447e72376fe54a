"""The one big static file, compressed once when the product starts: the charts' library is 1.5 MB, 0.5 MB packed.

WhiteNoise sends `FILE.gz` that lies beside FILE to browsers that take it; the code's own folder is not
to be written in.
"""

import gzip
import shutil
from pathlib import Path

from django.conf import settings

NAME = "plotly-cartesian.min.js"


def ensure() -> None:
    """Copy and packed copy in settings.VENDOR_DIR, made anew when there is another one."""
    source, target = settings.LIBRARY_DIR / NAME, settings.VENDOR_DIR / NAME
    packed = target.with_name(f"{NAME}.gz")
    if packed.exists() and _is_the_same(source, target):
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with source.open("rb") as plain, gzip.open(_part(packed), "wb", compresslevel=6) as made:
        shutil.copyfileobj(plain, made)
    shutil.copy2(source, _part(target))
    _part(packed).replace(packed)
    _part(target).replace(target)


def _is_the_same(source: Path, target: Path) -> bool:
    if not target.exists():
        return False
    a, b = source.stat(), target.stat()
    return (a.st_size, int(a.st_mtime)) == (b.st_size, int(b.st_mtime))


def _part(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")
