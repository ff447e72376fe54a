"""A download of an artifact or an export that broke off goes on where it broke, for who may have the file."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from pytest_django import Settings

from tests import builders
from tests.api.asking import body
from webapp.accounts.models import ApiToken, User
from webapp.artifacts import lifecycle
from webapp.audit.models import Entry, Verb
from webapp.exports.models import Export, State
from webapp.projects.models import Role
from webapp.runs.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
CONTENT = bytes(range(256)) * 40
Ask = Callable[..., Any]


@pytest.fixture(autouse=True)
def in_a_folder(settings: Settings, tmp_path: Path) -> None:
    folder = {"BACKEND": "webapp.artifacts.folder.Folder", "OPTIONS": {"location": tmp_path / "kept"}}
    settings.STORAGES = {**settings.STORAGES, "artifacts": folder}
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def run() -> Run:
    builders.user("stranger")
    return builders.running_attempt(in_project=builders.project("demo", ed=Role.EDITOR, vera=Role.VIEWER)).run


@pytest.fixture(params=["artifact page", "artifact API", "export page", "export API"])
def ask(request: pytest.FixtureRequest, run: Run) -> Ask:
    """`ask("vera", Range="bytes=1-")`: one of the four addresses of a file of `CONTENT`."""
    what, _, by = request.param.partition(" ")
    if what == "artifact":
        made = keep(run, CONTENT)
        address = f"/runs/{run.uid}/artifacts/{made.pk if by == 'page' else made.name}"
    else:
        name = default_storage.save("exports/x.zip", ContentFile(CONTENT))
        row = Export.objects.create(
            run=run, owner=run.owner, kinds=["logs"], state=State.DONE, file=name, size=len(CONTENT)
        )
        address = f"/exports/{row.uid}/file"

    def asked(who: str, method: str = "GET", **headers: str) -> Any:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if by == "API":
            token = ApiToken.issue(User.objects.get(username=who), "t")[1] if who else "nobody"
            return Client().generic(method, f"/api/v1{address}", headers={**named, "Authorization": f"Bearer {token}"})
        client = Client()
        if who:
            client.force_login(User.objects.get(username=who))
        return client.generic(method, address, headers=named)

    return asked


def keep(run: Run, content: bytes) -> Any:
    ed = User.objects.get(username="ed")
    return lifecycle.keep(run, "best.pt", SimpleUploadedFile("f", content), ed, replace=True)


def others(answer: Any, *changing: str) -> dict[str, str]:
    return {name: value for name, value in answer.headers.items() if name not in changing}


def test_what_came_and_the_rest_are_the_file(ask: Ask) -> None:
    whole = ask("vera")
    assert (whole.status_code, whole["Accept-Ranges"], body(whole)) == (200, "bytes", CONTENT)
    rest = ask("vera", Range="bytes=1000-", If_Range=whole["ETag"])
    assert (rest.status_code, rest["Content-Range"]) == (206, f"bytes 1000-{len(CONTENT) - 1}/{len(CONTENT)}")
    assert rest["Content-Length"] == str(len(CONTENT) - 1000)
    assert CONTENT[:1000] + body(rest) == CONTENT
    middle = ask("vera", Range="bytes=255-257")
    assert (middle["Content-Length"], body(middle)) == ("3", CONTENT[255:258])
    assert body(ask("vera", Range="bytes=-1")) == CONTENT[-1:]


def test_a_part_is_as_safe_as_the_whole(ask: Ask) -> None:
    whole, part = ask("vera"), ask("vera", Range="bytes=1-")
    assert (body(whole)[1:], whole["X-Content-Type-Options"]) == (body(part), "nosniff")
    assert whole["Content-Disposition"].startswith("attachment; filename=")
    assert {"private", "no-cache"} <= set(whole["Cache-Control"].split(", "))
    changing = ("Content-Length", "Content-Range", "Expires")
    assert others(part, *changing) == others(whole, *changing)


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("who", ["stranger", ""])
def test_who_may_not_have_the_file_gets_no_part_of_it(ask: Ask, who: str, method: str) -> None:
    answer = ask(who, method, Range="bytes=0-9")
    assert answer.status_code in ({404} if who else {302, 401})
    assert "ETag" not in answer
    assert "Content-Range" not in answer


def test_what_lies_outside_is_refused_with_the_size(ask: Ask) -> None:
    answer = ask("vera", Range=f"bytes={len(CONTENT)}-")
    assert (answer.status_code, answer["Content-Range"]) == (416, f"bytes */{len(CONTENT)}")
    if answer["Content-Type"] == "application/json":
        assert (answer.json()["code"], answer.json()["message"][-1]) == ("range_not_satisfiable", ".")
    else:
        assert answer.content == b""


def test_head_tells_about_the_whole_and_sends_none_of_it(ask: Ask) -> None:
    head, whole = ask("vera", "HEAD", Range="bytes=5-"), ask("vera")
    assert (head.status_code, head.content) == (200, b"")
    assert body(whole) == CONTENT
    assert others(head, "Expires") == others(whole, "Expires")


def test_what_the_browser_has_already_is_not_sent_again(ask: Ask) -> None:
    whole = ask("vera")
    assert body(whole) == CONTENT
    same = ask("vera", If_None_Match=whole["ETag"], Range="bytes=5-")
    assert (same.status_code, same.content, same["ETag"]) == (304, b"", whole["ETag"])


def test_several_ranges_and_ranges_of_another_file_get_the_whole(ask: Ask) -> None:
    for headers in (
        {"Range": "bytes=0-1,5-6"},
        {"Range": "bytes=5-", "If_Range": '"another"'},
        {"Range": "bytes=5-", "If_Range": "Wed, 21 Oct 2015 07:28:00 GMT"},
    ):
        answer = ask("vera", **headers)
        assert (answer.status_code, body(answer)) == (200, CONTENT)
    other = ask("vera", If_Match='"another"')
    assert (other.status_code, b"0123" in other.content) == (412, False)


def test_a_file_that_took_the_place_of_another_begins_anew(run: Run) -> None:
    token = ApiToken.issue(User.objects.get(username="vera"), "t")[1]
    client, address = Client(headers={"Authorization": f"Bearer {token}"}), f"/api/v1/runs/{run.uid}/artifacts/best.pt"
    keep(run, CONTENT)
    first = client.get(address)
    assert body(first) == CONTENT
    keep(run, CONTENT[::-1])
    again = client.get(address, headers={"Range": "bytes=10-", "If-Range": first["ETag"]})
    assert (again.status_code, body(again)) == (200, CONTENT[::-1])
    assert again["X-Content-SHA256"] == hashlib.sha256(CONTENT[::-1]).hexdigest()


def test_each_part_of_an_export_that_somebody_fetched_is_in_the_audit_log(run: Run) -> None:
    name = default_storage.save("exports/x.zip", ContentFile(CONTENT))
    row = Export.objects.create(run=run, owner=run.owner, kinds=[], state=State.DONE, file=name, size=len(CONTENT))
    client = Client()
    client.force_login(User.objects.get(username="vera"))
    address = f"/exports/{row.uid}/file"
    client.head(address)
    client.get(address, headers={"Range": "bytes=999999-"})
    assert not Entry.objects.filter(verb=Verb.FETCHED).exists()
    assert body(client.get(address, headers={"Range": "bytes=1-2"})) == CONTENT[1:3]
    assert Entry.objects.get(verb=Verb.FETCHED).detail == row.uid
