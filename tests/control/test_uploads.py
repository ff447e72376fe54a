"""Uploaded folders: the same files give the same bytes, and nothing leads out of the folder."""

import io
import tarfile

import pytest

from tests import builders
from webapp.runs import uploads
from webapp.runs.models import Upload

pytestmark = pytest.mark.django_db
FILES = [
    ("train.py", b"print(1)"),
    ("lib/model.py", b"x = 1"),
    (".git/config", b"secret"),
    ("lib/__pycache__/m.pyc", b""),
]


@pytest.fixture(autouse=True)
def _own_media(settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path


def opened(files):
    return [(name, io.BytesIO(body)) for name, body in files]


def packed(*members: tarfile.TarInfo, body: bytes = b"print(1)") -> io.BytesIO:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for member in members:
            member.size = len(body) if member.isreg() else 0
            tar.addfile(member, io.BytesIO(body))
    out.seek(0)
    return out


def entry(name: str, **fields) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    for field, value in fields.items():
        setattr(member, field, value)
    return member


def test_the_same_files_in_any_order_are_one_upload_without_history_and_caches():
    project = builders.project()
    one = uploads.store(project, opened(FILES))
    two = uploads.store(project, opened(reversed(FILES)))
    assert one == two
    assert (one.files, one.size) == (2, uploads.path(one).stat().st_size)
    with tarfile.open(uploads.path(one)) as tar:
        assert tar.getnames() == ["lib/model.py", "train.py"]
        assert {(m.mtime, m.uid, m.uname) for m in tar.getmembers()} == {(0, 0, "")}


def test_a_tar_and_a_folder_of_the_same_files_are_the_same_upload():
    project = builders.project()
    folder = uploads.store(project, opened([("train.py", b"print(1)")]))
    tar = uploads.store_tar(project, packed(entry("./train.py", mtime=77, uid=5), entry("lib", type=tarfile.DIRTYPE)))
    assert tar == folder


def test_a_file_that_may_be_run_stays_so():
    kept = uploads.store_tar(builders.project(), packed(entry("go.sh", mode=0o700), entry("train.py", mode=0o600)))
    with tarfile.open(uploads.path(kept)) as tar:
        assert [member.mode for member in tar.getmembers()] == [0o755, 0o644]


@pytest.mark.parametrize("name", ["../out.py", "a/../../out.py", "/etc/passwd", "..\\out.py", "C:\\out.py", "a\0b", ""])
def test_a_path_that_leads_out_is_refused(name):
    with pytest.raises(uploads.UploadRefused, match="no path inside"):
        uploads.store(builders.project(), opened([(name, b"x")]))
    assert not Upload.objects.exists()


def test_links_out_of_the_folder_and_broken_archives_are_refused(tmp_path):
    project = builders.project()
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE):
        with pytest.raises(uploads.UploadRefused, match="link or device"):
            uploads.store_tar(project, packed(entry("l", type=kind, linkname="/etc/passwd")))
    with pytest.raises(uploads.UploadRefused, match="no path inside"):
        uploads.store_tar(project, packed(entry("../x.py")))
    whole = packed(entry("train.py"), body=b"x" * 100_000).getvalue()
    for broken in (b"no tar", whole[: len(whole) // 2]):
        with pytest.raises(uploads.UploadRefused, match=r"no readable .tar.gz"):
            uploads.store_tar(project, io.BytesIO(broken))
    assert list((tmp_path / "uploads").iterdir()) == []


def test_what_is_too_large_packed_or_unpacked_or_empty_is_refused(settings):
    settings.UPLOAD_LIMIT_MB = 1
    project = builders.project()
    bomb = packed(entry("zeros.bin"), body=bytes(2_000_000))
    for refused in (
        lambda: uploads.store_tar(project, bomb),
        lambda: uploads.store(project, opened([("a", bytes(2**21))])),
    ):
        with pytest.raises(uploads.UploadRefused, match="larger than 1 MB"):
            refused()
    with pytest.raises(uploads.UploadRefused, match="empty"):
        uploads.store(project, [])
