import gzip
from pathlib import Path

import pytest
from django.test import Client

from webapp.supervisor import packed_static


@pytest.fixture
def vendor(settings, tmp_path: Path) -> Path:
    settings.VENDOR_DIR = tmp_path / "vendor"
    settings.STATICFILES_DIRS = [("vendor", settings.VENDOR_DIR), *settings.STATICFILES_DIRS]
    settings.STATIC_ROOT = tmp_path
    return Path(settings.VENDOR_DIR)


def test_a_browser_that_takes_gzip_gets_the_packed_file_and_others_the_plain_one(vendor: Path):
    packed_static.ensure()
    plain = (vendor / packed_static.NAME).read_bytes()
    reply = Client().get(f"/static/vendor/{packed_static.NAME}", headers={"accept-encoding": "gzip"})
    assert reply.headers["Content-Encoding"] == "gzip"
    packed = reply.getvalue()
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 3


def test_what_is_packed_already_is_left_alone_and_another_library_is_packed_again(vendor: Path):
    packed_static.ensure()
    packed = vendor / f"{packed_static.NAME}.gz"
    first = packed.stat().st_ino
    packed_static.ensure()
    assert packed.stat().st_ino == first
    (vendor / packed_static.NAME).write_bytes(b"an older one")
    packed_static.ensure()
    assert packed.stat().st_ino != first
    assert (vendor / packed_static.NAME).stat().st_size > 1_000_000
