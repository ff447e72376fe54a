"""Files that people add to a run, over HTTP and on its page."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import storages
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from tests import builders
from tests.agent.small_disk import mounted
from tests.api.asking import asker, body
from webapp.accounts.models import ApiToken, User
from webapp.artifacts import lifecycle
from webapp.artifacts.models import Artifact
from webapp.projects.models import Role
from webapp.runs.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
SHA = hashlib.sha256(b"weights").hexdigest()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, settings: Settings) -> Path:
    kept = {"BACKEND": "webapp.artifacts.folder.Folder", "OPTIONS": {"location": tmp_path / "kept"}}
    settings.STORAGES = {**settings.STORAGES, "artifacts": kept}
    return tmp_path / "kept"


@pytest.fixture
def run() -> Run:
    return builders.running_attempt(in_project=builders.project("demo", ed=Role.EDITOR, vera=Role.VIEWER)).run


def upload(run: Run, name: str, content: bytes = b"weights", who: str = "ed", **query: Any) -> Any:
    client = Client(headers={"Authorization": f"Bearer {ApiToken.issue(User.objects.get(username=who), 't')[1]}"})
    file = SimpleUploadedFile("best.pt", content)
    return client.post(f"/api/v1/runs/{run.uid}/artifacts", {"file": file}, query_params={"name": name, **query})


def contents(folder: Path) -> list[bytes]:
    return sorted(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_a_file_is_kept_listed_downloaded_and_deleted(run: Run, folder: Path) -> None:
    made = upload(run, "checkpoints/best é.pt")
    assert made.status_code == 201, made.content
    assert (made.json()["sha256"], made.json()["size"], made.json()["added_by"]) == (SHA, 7, "ed")
    ed = asker("ed")
    assert [one["name"] for one in ed.get(f"/runs/{run.uid}/artifacts").json()] == ["checkpoints/best é.pt"]
    sent = asker("vera").get(f"/runs/{run.uid}/artifacts/checkpoints/best é.pt")
    assert body(sent) == b"weights"
    assert ed.delete(f"/runs/{run.uid}/artifacts/checkpoints/best é.pt").status_code == 204
    assert contents(folder) == []


def test_a_download_is_a_file_to_save_even_when_it_is_a_page(run: Run) -> None:
    upload(run, "x.html", b"<script>alert(1)</script>")
    client = Client()
    client.force_login(User.objects.get(username="vera"))
    answer = client.get(f"/runs/{run.uid}/artifacts/{Artifact.objects.get().pk}")
    assert answer["Content-Disposition"] == 'attachment; filename="x.html"'
    assert (answer["Content-Type"], answer["X-Content-Type-Options"]) == ("application/octet-stream", "nosniff")
    assert body(answer) == b"<script>alert(1)</script>"


@pytest.mark.parametrize("name", ["../x", "/etc/passwd", "a//b", "a/../b", "a\\b", "x\n", "n" * 256, "."])
def test_a_name_that_leads_out_of_its_folder_is_refused(run: Run, folder: Path, name: str) -> None:
    refused = upload(run, name)
    # Spaces around a name are taken away, so that a line's end alone is no harm.
    assert refused.status_code == (201 if name == "x\n" else 422)


def test_a_name_is_taken_once_unless_it_is_to_be_replaced(run: Run, folder: Path) -> None:
    upload(run, "a")
    again = upload(run, "a", b"newer")
    assert (again.status_code, list(again.json()["fields"])) == (422, ["name"])
    assert upload(run, "a", b"newer", replace=True).status_code == 201
    assert contents(folder) == [b"newer"]


def test_what_is_too_large_is_refused_with_the_limit(run: Run, folder: Path, settings: Settings) -> None:
    settings.ARTIFACT_LIMIT_MB = 0
    refused = upload(run, "a")
    assert (refused.status_code, list(refused.json()["fields"])) == (422, ["file"])
    assert contents(folder) == []


def test_a_full_disk_is_told_and_keeps_no_part(run: Run, folder: Path) -> None:
    with mounted(folder, "1m"):
        refused = upload(run, "a", bytes(2 * 1024 * 1024))
        assert (refused.status_code, "is full" in refused.json()["message"]) == (503, True)
        assert (contents(folder), Artifact.objects.count()) == ([], 0)


def test_a_file_that_stays_is_only_noted(run: Run, folder: Path) -> None:
    told = {"name": "ckpt", "path": "/scratch/ckpt.pt", "node": "gpu-a", "size": 9_000_000_000, "sha256": SHA}
    made = asker("ed").post(f"/runs/{run.uid}/artifacts/paths", told)
    assert (made.status_code, made.json()["kind"], made.json()["path"]) == (201, "path", "/scratch/ckpt.pt")
    assert asker("ed").get(f"/runs/{run.uid}/artifacts/ckpt").status_code == 404
    wrong = asker("ed").post(f"/runs/{run.uid}/artifacts/paths", {**told, "name": "other", "path": "ckpt.pt"})
    assert (wrong.status_code, list(wrong.json()["fields"])) == (422, ["path"])


def test_the_page_adds_shows_and_deletes_and_viewers_only_see(run: Run) -> None:
    client = Client()
    client.force_login(User.objects.get(username="ed"))
    sent = client.post(f"/runs/{run.uid}/artifacts/add", {"file": SimpleUploadedFile("a.pt", b"weights")})
    assert sent["Location"] == f"/runs/{run.uid}/#artifacts"
    row = Artifact.objects.get()
    assert SHA[:10] in client.get(f"/runs/{run.uid}/artifacts").content.decode()
    viewer = Client()
    viewer.force_login(User.objects.get(username="vera"))
    assert "Delete" not in viewer.get(f"/runs/{run.uid}/artifacts").content.decode()
    assert viewer.post(f"/runs/{run.uid}/artifacts/{row.pk}/delete").status_code == 403
    client.post(f"/runs/{run.uid}/artifacts/{row.pk}/delete")
    assert not Artifact.objects.exists()


def test_files_go_with_their_run_some_at_a_time(run: Run, folder: Path) -> None:
    ed = User.objects.get(username="ed")
    for number in range(25):
        lifecycle.keep(run, f"f{number}", SimpleUploadedFile("f", b"x"), ed)
    assert lifecycle.remove_some(run) is False
    assert lifecycle.remove_some(run) is True
    assert (contents(folder), Artifact.objects.count()) == ([], 0)


def test_a_bucket_can_take_the_place_of_the_folder(settings: Settings) -> None:
    options = {"bucket_name": "runs", "endpoint_url": "http://127.0.0.1:9", "access_key": "a", "secret_key": "s"}
    bucket = {"BACKEND": "webapp.artifacts.bucket.Bucket", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "artifacts": bucket}
    assert getattr(storages["artifacts"], "bucket").name == "runs"  # noqa: B009
