"""Files of a run in a bucket: the product's server and a service that speaks S3, each in a process of its own."""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.conf import settings as configured
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from tests import builders
from tests.api.asking import asker, body
from tests.artifacts.s3_service import BUCKET, NO_BUCKET, REGION, Service, s3_service
from tests.server import web_server
from tests.settings import free_port
from tests.way import way_to
from webapp.accounts.models import ApiToken, User
from webapp.artifacts.models import Artifact
from webapp.audit.models import Entry
from webapp.projects.models import Role
from webapp.runs.models import Run
from workers.removal import remove_deleted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]
PART = 8 * 1024 * 1024  # what is larger is sent in parts


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with s3_service() as found:
        yield found


@pytest.fixture(scope="module")
def server_url(django_db_setup: None, service: Service) -> Iterator[str]:
    """A server whose environment says what docs/settings.md says of a bucket."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in _options(service).items():
            patch.setenv(f"ARTIFACT_{name}", value)
        with web_server() as url:
            yield url


@pytest.fixture
def run() -> Run:
    project = builders.project("demo", ed=Role.EDITOR, vera=Role.VIEWER)
    builders.user("stranger")
    return builders.running_attempt(in_project=project).run


@pytest.fixture
def here(service: Service, settings: Settings) -> Callable[..., None]:
    """Keeps this process's artifacts in the bucket; settings by their name say what is different."""

    def chosen(**other: str) -> None:
        options = {**_options(service), **other}
        names = {"bucket_name": "BUCKET", "location": "PREFIX", "endpoint_url": "ENDPOINT", "region_name": "REGION"}
        names |= {"access_key": "ACCESS_KEY", "secret_key": "SECRET_KEY"}
        bucket = {
            "BACKEND": "webapp.artifacts.bucket.Bucket",
            "OPTIONS": {option: options[name] for option, name in names.items()},
        }
        settings.STORAGES = {**settings.STORAGES, "artifacts": bucket}

    return chosen


def _options(service: Service) -> dict[str, str]:
    return {
        "BUCKET": BUCKET,
        "PREFIX": "team/files",
        "ENDPOINT": service.url,
        "REGION": REGION,
        "ACCESS_KEY": service.key,
        "SECRET_KEY": service.secret,
    }


def by_token(url: str, name: str) -> httpx.Client:
    token = ApiToken.issue(User.objects.get(username=name), "t")[1]
    return httpx.Client(base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60)


@contextmanager
def in_browser(url: str, name: str) -> Iterator[httpx.Client]:
    """As a browser that is logged in and sends the proof of its forms."""
    client = Client()
    client.force_login(User.objects.get(username=name))
    session = {configured.SESSION_COOKIE_NAME: client.cookies[configured.SESSION_COOKIE_NAME].value}
    with httpx.Client(base_url=url, cookies=session, timeout=60, follow_redirects=True) as browser:
        browser.get("/launch/")
        browser.headers["X-CSRFToken"] = browser.cookies[configured.CSRF_COOKIE_NAME]
        yield browser


def test_added_by_the_form_and_over_http_listed_fetched_and_deleted(
    run: Run, service: Service, server_url: str
) -> None:
    with in_browser(server_url, "ed") as ed, by_token(server_url, "vera") as vera, by_token(server_url, "ed") as script:
        ed.post(f"/runs/{run.uid}/artifacts/add", files={"file": ("best é.pt", b"weights")})
        made = script.post(f"/runs/{run.uid}/artifacts", params={"name": "empty"}, files={"file": ("e", b"")})
        assert made.status_code == 201
        assert [row["name"] for row in vera.get(f"/runs/{run.uid}/artifacts").json()] == ["best é.pt", "empty"]
        row = Artifact.objects.get(name="best é.pt")
        assert sorted(service.keys()) == sorted(f"team/files/{one.content}" for one in Artifact.objects.all())

        sent = vera.get(f"/runs/{run.uid}/artifacts/best é.pt")
        assert (sent.content, sent.headers["Content-Length"]) == (b"weights", "7")
        assert sent.headers["Content-Type"] == "application/octet-stream"
        assert sent.headers["Content-Disposition"] == "attachment; filename*=utf-8''best%20%C3%A9.pt"
        assert sent.headers["X-Content-SHA256"] == hashlib.sha256(b"weights").hexdigest()
        assert vera.get(f"/runs/{run.uid}/artifacts/empty").content == b""
        assert ed.get(f"/runs/{run.uid}/artifacts/{row.pk}").content == b"weights"

        assert vera.delete(f"/runs/{run.uid}/artifacts/best é.pt").status_code == 403
        with by_token(server_url, "stranger") as stranger:
            assert stranger.get(f"/runs/{run.uid}/artifacts/best é.pt").status_code == 404
        assert "is deleted" in ed.post(f"/runs/{run.uid}/artifacts/{row.pk}/delete").text
        assert script.delete(f"/runs/{run.uid}/artifacts/empty").status_code == 204
    assert service.keys() == []


def test_a_large_file_goes_in_parts_and_comes_back_whole(run: Run, service: Service, server_url: str) -> None:
    content = b"".join(number.to_bytes(8, "little") for number in range((2 * PART + 5_000) // 8))
    with by_token(server_url, "ed") as ed:
        made = ed.post(f"/runs/{run.uid}/artifacts", params={"name": "large"}, files={"file": ("l", content)})
        assert made.json()["sha256"] == hashlib.sha256(content).hexdigest()
        (key,) = service.keys()
        assert service.root.head_object(Bucket=BUCKET, Key=key)["ETag"].strip('"').endswith("-3")
        assert service.unfinished() == []
        assert ed.get(f"/runs/{run.uid}/artifacts/large").content == content
        assert ed.delete(f"/runs/{run.uid}/artifacts/large").status_code == 204


def test_a_download_goes_on_without_what_came_before(
    run: Run, service: Service, server_url: str, here: Callable[..., None]
) -> None:
    content = b"".join(number.to_bytes(8, "little") for number in range(500_000))
    with by_token(server_url, "ed") as ed:
        ed.post(f"/runs/{run.uid}/artifacts", params={"name": "a"}, files={"file": ("a", content)})
        whole = ed.head(f"/runs/{run.uid}/artifacts/a")
        assert (whole.status_code, whole.headers["Content-Length"]) == (200, str(len(content)))
        asked = {"Range": "bytes=1000000-", "If-Range": whole.headers["ETag"]}
        rest = ed.get(f"/runs/{run.uid}/artifacts/a", headers=asked)
        assert (rest.status_code, rest.content) == (206, content[1_000_000:])
        assert rest.headers["X-Content-SHA256"] == hashlib.sha256(content).hexdigest()
        outside = ed.get(f"/runs/{run.uid}/artifacts/a", headers={"Range": "bytes=4000000-"})
        assert (outside.status_code, outside.headers["Content-Range"]) == (416, "bytes */4000000")
    with way_to(service.url) as way:
        here(ENDPOINT=way.url)
        part = Client(headers={"Authorization": f"Bearer {ApiToken.issue(User.objects.get(username='ed'), 't')[1]}"})
        answer = part.get(f"/api/v1/runs/{run.uid}/artifacts/a", headers={"Range": "bytes=2000000-2000007"})
        assert (answer.status_code, body(answer)) == (206, content[2_000_000:2_000_008])
        assert way.came < 10_000  # out of the bucket
    with by_token(server_url, "ed") as ed:
        ed.delete(f"/runs/{run.uid}/artifacts/a")


def test_what_takes_the_place_of_another_leaves_one_object(run: Run, service: Service, server_url: str) -> None:
    with by_token(server_url, "ed") as ed:
        for content in (b"older", b"newer"):
            asked = {"name": "a", "replace": "true"}
            assert ed.post(f"/runs/{run.uid}/artifacts", params=asked, files={"file": ("a", content)}).is_success
        assert len(service.keys()) == 1
        assert ed.get(f"/runs/{run.uid}/artifacts/a").content == b"newer"
        ed.delete(f"/runs/{run.uid}/artifacts/a")


def test_files_go_with_their_run_once_the_store_answers(
    run: Run, service: Service, here: Callable[..., None], redis_client: Any
) -> None:
    here()
    add(run, "a")
    run.attempts.get().parts.update(finished_at=timezone.now())
    Run.objects.update(deleted_at=timezone.now() - timedelta(days=30))
    here(ENDPOINT=f"http://127.0.0.1:{free_port()}")
    remove_deleted()
    assert Artifact.objects.count() == Run.objects.count() == len(service.keys()) == 1
    here()
    remove_deleted()
    assert Artifact.objects.count() == Run.objects.count() == len(service.keys()) == 0


WRONG = {
    "nobody there": ("does not answer", {"ENDPOINT": ""}),
    "a secret that is wrong": ("refuses this server", {"SECRET_KEY": "wrong"}),
    "a key that nobody has": ("refuses this server", {"ACCESS_KEY": "AKIAIOSFODNN7EXAMPLE"}),
    "a bucket that is not there": ("refuses this server", {"BUCKET": NO_BUCKET}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_store_that_cannot_be_used_says_so_and_costs_nothing(
    run: Run, service: Service, here: Callable[..., None], wrong: str
) -> None:
    said, other = WRONG[wrong]
    here()
    row = add(run, "a")
    here(**{name: value or f"http://127.0.0.1:{free_port()}" for name, value in other.items()})
    script, browser = asker("ed"), Client()
    browser.force_login(User.objects.get(username="ed"))
    noted = Entry.objects.count()

    answers = [
        script.get(f"/runs/{run.uid}/artifacts/a"),
        script.delete(f"/runs/{run.uid}/artifacts/a"),
        upload(run, "b"),
        upload(run, "a", replace=True),
    ]
    assert [one.status_code for one in answers] == [503] * 4
    assert all(said in one.json()["message"] for one in answers)
    page = browser.get(f"/runs/{run.uid}/artifacts/{row.pk}")
    assert (page.status_code, said in page.content.decode()) == (503, True)
    for act, fields in ((f"{row.pk}/delete", {}), ("add", {"file": SimpleUploadedFile("b", b"x")})):
        shown = browser.post(f"/runs/{run.uid}/artifacts/{act}", fields, follow=True)
        assert said in shown.content.decode()
    assert list(Artifact.objects.all()) == [row]
    assert Entry.objects.count() == noted

    here()
    assert body(script.get(f"/runs/{run.uid}/artifacts/a")) == b"weights"
    assert script.delete(f"/runs/{run.uid}/artifacts/a").status_code == 204
    assert service.keys() == service.unfinished() == []


def test_a_content_that_somebody_else_removed_is_told_and_its_row_can_go(
    run: Run, service: Service, here: Callable[..., None]
) -> None:
    here()
    add(run, "a")
    service.root.delete_object(Bucket=BUCKET, Key=service.keys()[0])
    answer = asker("vera").get(f"/runs/{run.uid}/artifacts/a")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert "no longer has" in answer.json()["message"]
    assert asker("ed").delete(f"/runs/{run.uid}/artifacts/a").status_code == 204


def upload(run: Run, name: str, **query: Any) -> Any:
    client = Client(headers={"Authorization": f"Bearer {ApiToken.issue(User.objects.get(username='ed'), 't')[1]}"})
    file = {"file": SimpleUploadedFile(name, b"weights")}
    return client.post(f"/api/v1/runs/{run.uid}/artifacts", file, query_params={"name": name, **query})


def add(run: Run, name: str) -> Artifact:
    assert upload(run, name).status_code == 201
    return Artifact.objects.get(name=name)
