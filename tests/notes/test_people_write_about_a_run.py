"""Notes and comments of a run: written, kept, found, and told to whom they mention."""

import re

import pytest
from django.core import mail as outbox
from django.test import Client
from django.utils import timezone

from tests import builders
from tests.pages.people import Team, team
from webapp.accounts.models import ApiToken, User
from webapp.history.search import search
from webapp.notes import lifecycle, mail
from webapp.notes.mentions import named_in
from webapp.notes.models import Comment, Mention, Note
from webapp.projects.models import Membership
from webapp.runs.models import Run
from workers import mentions

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def us() -> Team:
    found = team()
    User.objects.filter(username="viewer").update(email="viewer@example.org")
    return found


@pytest.fixture
def run(us: Team) -> Run:
    return builders.running_attempt(in_project=us.project).run


def person(name: str) -> User:
    return User.objects.get(username=name)


def api(name: str) -> Client:
    return Client(headers={"Authorization": f"Bearer {ApiToken.issue(person(name), 't', scope='write')[1]}"})


def test_notes_are_drawn_safe_and_earlier_versions_are_kept(us: Team, run: Run) -> None:
    editor = us.client("editor")
    editor.post(f"/runs/{run.uid}/notes/write", {"text": "first **try**", "base": 0})
    shown = editor.post(
        f"/runs/{run.uid}/notes/write", {"text": "second <script>x</script>", "base": 1}
    ).content.decode()
    assert "<script>x" not in shown
    assert [old.text for old in run.note.versions.all()] == ["first **try**"]
    assert "first **try**" in us.client("viewer").get(f"/runs/{run.uid}/notes").content.decode()


def test_who_saves_over_a_newer_version_is_told_and_loses_nothing(us: Team, run: Run) -> None:
    lifecycle.write_note(run, person("admin"), "theirs")
    answer = us.client("editor").post(f"/runs/{run.uid}/notes/write", {"text": "mine", "base": 0})
    assert answer.status_code == 422
    assert "Somebody else has saved" in answer.content.decode()
    assert ">\nmine</textarea>" in answer.content.decode()
    assert us.client("editor").post(f"/runs/{run.uid}/notes/write", {"text": "both", "base": 1}).status_code == 200
    assert Note.objects.get().text == "both"


def test_the_search_finds_words_of_the_notes(us: Team, run: Run) -> None:
    builders.running_attempt(in_project=us.project)
    lifecycle.write_note(run, person("editor"), "The learning rate was too high; it *overfits* quickly.")
    for text in ("overfits", "LEARNING", '"too high"', "note:overfit"):
        assert list(search(person("viewer"), text)) == [run], text
    assert list(search(person("viewer"), "-overfits note:overfits")) == []


def test_names_in_a_text_are_found_and_code_and_addresses_name_nobody() -> None:
    assert {"ana", "bo.b", "cy"} <= named_in("@ana, (@Bo.b) look.\n@cy.")
    assert named_in("mail ana@example.org, `@bo`, ```\n@cy\n``` https://x.example/@dee") == set()


def test_the_names_of_those_who_can_see_the_run_stand_out(us: Team, run: Run) -> None:
    text = "@Viewer, look. @stranger and `@viewer` and [@viewer](https://a.example) and x@viewer do not."
    lifecycle.comment(run, person("editor"), text)
    page = us.client("viewer").get(f"/runs/{run.uid}/notes").content.decode()
    assert re.findall('<span class="mention">([^<]*)</span>', page) == ["@Viewer"]
    mine = us.client("viewer").get("/mentions/").content.decode()
    assert '<span class="mention">@Viewer</span>, look.' in mine


def test_a_mention_is_mailed_once_to_who_can_see_the_run(us: Team, run: Run, settings: object) -> None:
    settings.EMAIL_URL = "memorymail://"  # type: ignore[attr-defined]
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"  # type: ignore[attr-defined]
    User.objects.filter(username="stranger").update(email="stranger@example.org")
    row = lifecycle.comment(run, person("editor"), "@viewer and @stranger and @editor: look at rank 3")
    assert [one.user.username for one in row.mentions.all()] == ["viewer"]
    mentions.send_due()
    mentions.send_due()
    lifecycle.edit(row, "@viewer: look at rank 4")
    mentions.send_due()
    (letter,) = outbox.outbox
    assert letter.to == ["viewer@example.org"]
    assert "look at rank 3" in letter.body
    assert f"/runs/{run.uid}/#notes" in letter.body
    assert Mention.objects.get().mail == Mention.Mail.SENT


@pytest.mark.parametrize("why", ["no e-mail wanted", "not a member any more", "run deleted"])
def test_no_mail_goes_out_that_is_not_to_be_read(us: Team, run: Run, settings: object, why: str) -> None:
    settings.EMAIL_URL = "memorymail://"  # type: ignore[attr-defined]
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"  # type: ignore[attr-defined]
    lifecycle.comment(run, person("editor"), "@viewer")
    if why == "no e-mail wanted":
        us.client("viewer").post("/mentions/", {})
    elif why == "run deleted":
        Run.objects.update(deleted_at=timezone.now())
    else:
        Membership.objects.filter(user=person("viewer")).delete()
    mentions.send_due()
    assert outbox.outbox == []
    assert Mention.objects.get().mail == Mention.Mail.NONE


def test_a_mail_that_fails_is_tried_again_later(us: Team, run: Run, settings: object) -> None:
    settings.EMAIL_URL, settings.EMAIL_HOST, settings.EMAIL_PORT = "smtp://127.0.0.1:9", "127.0.0.1", 9  # type: ignore[attr-defined]
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"  # type: ignore[attr-defined]
    lifecycle.comment(run, person("editor"), "@viewer")
    mentions.send_due()
    row = Mention.objects.get()
    assert (row.mail, row.tries) == (Mention.Mail.WAITING, 1)
    assert not mail.due(timezone.now())
    assert mail.due(row.next_at)


def test_mentions_are_counted_until_somebody_looks(us: Team, run: Run) -> None:
    lifecycle.comment(run, person("editor"), "Hello @viewer")
    viewer = us.client("viewer")
    assert "1 new mention" in viewer.get("/projects/").content.decode()
    assert run.name in viewer.get("/mentions/").content.decode()
    assert "new mention" not in viewer.get("/projects/").content.decode()


def test_a_comment_is_changed_by_its_author_alone_and_deleted_by_them_or_an_admin(us: Team, run: Run) -> None:
    builders.user("other")
    row = lifecycle.comment(run, person("editor"), "said")
    at = f"/runs/{run.uid}/comments/{row.pk}"
    assert us.client("admin").post(f"{at}/edit", {"text": "x"}).status_code == 404
    assert us.client("viewer").post(f"{at}/delete").status_code == 403
    assert us.client("editor").post(f"{at}/edit", {"text": ""}).status_code == 422
    assert "better" in us.client("editor").post(f"{at}/edit", {"text": "better"}).content.decode()
    assert us.client("admin").post(f"{at}/delete").status_code == 200
    assert not Comment.objects.exists()


def test_the_api_reads_and_writes_notes_and_comments(us: Team, run: Run) -> None:
    editor, base = api("editor"), f"/api/v1/runs/{run.uid}"
    put = editor.put(f"{base}/notes", {"text": "over http"}, content_type="application/json")
    assert (put.json()["version"], put.json()["changed_by"]) == (1, "editor")
    stale = editor.put(f"{base}/notes", {"text": "x", "version": 0}, content_type="application/json")
    assert stale.status_code == 409
    made = editor.post(f"{base}/comments", {"text": "@viewer hi"}, content_type="application/json")
    assert (made.status_code, made.json()["mentions"]) == (201, ["viewer"])
    assert [one["text"] for one in api("viewer").get(f"{base}/comments").json()] == ["@viewer hi"]
    assert editor.delete(f"{base}/comments/{made.json()['id']}").status_code == 204
