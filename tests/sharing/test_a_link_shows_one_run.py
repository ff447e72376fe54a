"""A link shows its run to who has it, nothing else, and nothing any more once it is taken back."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from tests.pages.people import Team, team
from tests.runpage import stored
from tests.sharing import links
from webapp.accounts.models import hash_token
from webapp.audit.models import Entry, Verb
from webapp.runs import lifecycle as runs
from webapp.runs.models import RankState, Run
from webapp.sharing.models import ShareLink

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def us() -> Team:
    return team()


@pytest.fixture
def run(us: Team) -> Run:
    attempt = stored.run_with_steps(us.project)
    stored.log(attempt, 2, b"ValueError: only me\n")
    env = {"DATABASE_PASSWORD": "hunter2", "LR": "0.1"}
    Run.objects.filter(pk=attempt.run_id).update(spec={**attempt.run.spec, "env": env})
    return Run.objects.get(pk=attempt.run_id)


def test_every_address_of_a_link_answers_without_an_account(us: Team, run: Run) -> None:
    path = links.make(us, run, with_logs="on")
    assert links.statuses(path) == dict.fromkeys(links.PARTS, 200)
    assert "only me" in Client().get(path + "logs").content.decode()


@pytest.mark.parametrize("how", ["taken back", "expired", "run deleted", "another secret"])
def test_every_address_is_gone_when_the_link_opens_nothing_any_more(us: Team, run: Run, how: str) -> None:
    path = links.make(us, run, with_logs="on")
    if how == "taken back":
        links.revoke(us, run)
    elif how == "expired":
        ShareLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif how == "run deleted":
        runs.delete(run, actor="editor")
    else:
        path = path[:-2] + ("A/" if path[-2] != "A" else "B/")
    assert links.statuses(path) == dict.fromkeys(links.PARTS, 404)


def test_a_link_without_logs_gives_no_line_and_no_traceback(us: Team, run: Run) -> None:
    RankState.objects.filter(attempt__run=run, rank=2).update(traceback="Traceback: secret line")
    run.attempts.update(status="ended", outcome="failed", reason="exception", detail={"rank": 2})
    without, with_logs = links.make(us, run), links.make(us, run, with_logs="on")
    assert Client().get(without + "logs").status_code == 404
    assert "secret line" not in Client().get(without).content.decode()
    assert "secret line" not in Client().get(without + "header").content.decode()
    assert "secret line" in Client().get(with_logs).content.decode()


def test_no_other_run_can_be_reached_through_a_link(us: Team, run: Run) -> None:
    other = stored.run_with_steps(us.project).run
    path = links.make(us, run, with_logs="on")
    page = Client().get(path).content.decode()
    for part in links.PARTS[1:-1]:
        joint = "&" if "?" in part else "?"
        for query in (f"uid={other.uid}", f"run={other.uid}", f"attempt={other.pk + 1000}"):
            content = Client().get(f"{path}{part}{joint}{query}").content.decode()
            assert other.uid not in content
            assert other.name not in content
    assert Client().get(f"{path}{other.uid}/").status_code == 404
    assert other.name not in page


def test_the_page_says_nothing_of_settings_people_and_other_pages(us: Team, run: Run) -> None:
    path = links.make(us, run, with_logs="on")
    for part in ("", "header"):
        page = us.client("viewer").get(path + part).content.decode()
        for hidden in ("hunter2", "DATABASE_PASSWORD", "/srv/train.py", run.owner.username, us.project.slug, run.uid):
            assert hidden not in page, hidden
        led = set(re.findall(r'(?:href|action|src)="(/[^"]*)"', page))
        assert {one for one in led if not one.startswith(("/static/", path))} == set()
        assert "<form" not in re.sub(r"(?s)<dialog.*?</dialog>|<form class=\"values__find\".*?</form>", "", page)


def test_answers_are_not_kept_not_indexed_and_give_no_referrer(us: Team, run: Run) -> None:
    path = links.make(us, run, with_logs="on")
    links_and_gone = [(path, part) for part in links.PARTS] + [("/s/gone/", part) for part in links.PARTS]
    for base, part in links_and_gone:
        headers = Client().get(base + part).headers
        assert headers["X-Robots-Tag"] == "noindex, nofollow"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert "no-store" in headers["Cache-Control"]


def test_a_link_takes_nothing_from_and_gives_nothing_to_who_is_logged_in(us: Team, run: Run) -> None:
    path = links.make(us, run)
    assert us.client("stranger").get(path).status_code == 200
    assert us.client("stranger").get(f"/runs/{run.uid}/").status_code == 404
    assert us.client("admin").post(path).status_code == 405
    assert us.client("admin").get(path + "logs").status_code == 404


def test_of_the_secret_only_a_hash_is_kept(us: Team, run: Run) -> None:
    secret = links.make(us, run).split("/")[2]
    row = ShareLink.objects.get()
    assert len(secret) == 43
    assert row.token_hash == hash_token(secret)
    assert secret not in us.client("editor").get(f"/runs/{run.uid}/links").content.decode()


def test_the_list_says_who_made_a_link_and_how_often_it_was_opened(us: Team, run: Run) -> None:
    path = links.make(us, run, days=1)
    for _ in range(3):
        Client().get(path)
    Client().get(path + "header")
    listed = us.client("admin").get(f"/runs/{run.uid}/links").content.decode()
    assert "by editor" in listed
    assert "opened 3 times" in listed


def test_a_link_carries_the_view_and_nothing_else_of_an_address(us: Team, run: Run) -> None:
    links.make(us, run, view="?attempt=1&lo=3&hi=9#logs")
    links.make(us, run, view="https://evil.example/x?window=all#<script>")
    views = list(ShareLink.objects.order_by("pk").values_list("view", flat=True))
    assert views == ["?attempt=1&lo=3&hi=9#logs", "?window=all"]


def test_sharing_and_taking_back_are_in_the_audit_log_without_the_secret(us: Team, run: Run) -> None:
    secret = links.make(us, run).split("/")[2]
    links.revoke(us, run)
    links_noted = Entry.objects.filter(project=us.project).order_by("pk")
    assert [one.verb for one in links_noted] == [Verb.SHARED, Verb.UNSHARED]
    assert not [one for one in links_noted if secret in f"{one.target} {one.detail}"]
