"""Code sent over HTTP."""

import io
import tarfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from tests import builders
from tests.api.asking import asker
from webapp.accounts.models import ApiToken, User
from webapp.projects.models import Role

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture(autouse=True)
def project(tmp_path, settings: Settings) -> None:
    settings.MEDIA_ROOT = tmp_path
    builders.project("demo", ed=Role.EDITOR, vera=Role.VIEWER)
    builders.node(slots=1)


def packed(**files: bytes) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(f"{name}.py")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return out.getvalue()


def test_an_upload_can_be_run_by_its_hash() -> None:
    ed = asker("ed")
    made = ed.send("/uploads?project=demo", packed(train=b"print(1)"), "application/gzip")
    assert made.status_code == 201, made.content
    assert made.json()["files"] == 1
    sha = made.json()["sha256"]
    run = ed.post("/runs", {"project": "demo", "name": "up", "argv": ["train.py"], "upload_sha256": sha})
    assert run.json()["spec"]["upload_sha256"] == sha


def test_a_form_is_read_too() -> None:
    token = ApiToken.issue(User.objects.get(username="ed"), "t")[1]
    file = SimpleUploadedFile("code.tar.gz", packed(train=b"x = 1"))
    client = Client(headers={"Authorization": f"Bearer {token}"})
    assert client.post("/api/v1/uploads?project=demo", {"file": file}).status_code == 201
    refused = client.post("/api/v1/uploads?project=demo", {"other": "x"})
    assert (refused.status_code, list(refused.json()["fields"])) == (422, ["file"])


def test_a_viewer_may_not_upload_and_rubbish_is_named() -> None:
    assert asker("vera").send("/uploads?project=demo", packed(a=b""), "application/gzip").status_code == 403
    refused = asker("ed").send("/uploads?project=demo", b"rubbish", "application/gzip")
    assert (refused.status_code, list(refused.json()["fields"])) == (422, ["file"])


def test_too_much_is_refused(settings: Settings) -> None:
    settings.UPLOAD_LIMIT_MB = 1
    refused = asker("ed").send("/uploads?project=demo", packed(a=bytes(2 << 20)), "application/gzip")
    assert refused.status_code == 422
    assert "1 MB" in refused.json()["fields"]["file"]
