"""Acts on chosen runs, saved views and suggestions: what they do, and for whom."""

from typing import Any

import pytest
from django.test import Client

from tests import builders
from tests.history.made import run
from tests.history.test_what_a_search_says import found
from webapp.accounts.models import User
from webapp.history import completion, keys
from webapp.history.models import SavedView, Tag
from webapp.projects.models import Membership, Project, Role
from webapp.runs.models import Run

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


def browser(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def act(user: User, what: str, *runs: Run, **more: str) -> Any:
    data = {"do": what, "uid": [row.uid for row in runs], **more}
    return browser(user).post("/history/act", data, follow=True)


def test_chosen_runs_are_tagged_grouped_and_archived(project: Project, ana: User) -> None:
    a, b = run(project, "a"), run(project, "b")
    assert "2 runs: tagged" in act(ana, "tag", a, b, word=" base  line ").content.decode()
    act(ana, "tag", a, word="base line")
    act(ana, "untag", b, word="base line")
    act(ana, "group", b, word="sweep 1")
    act(ana, "pin", b)
    assert found(ana, 'tag:"base line"') == {"a"}
    assert found(ana, 'group:"sweep 1" is:pinned') == {"b"}
    assert "Type the tag first" in act(ana, "tag", a).content.decode()
    act(ana, "archive", a, b)
    assert found(ana, "") == set()


def test_all_that_match_are_meant_not_only_those_of_the_page(project: Project, ana: User) -> None:
    for i in range(40):
        run(project, f"gpt-{i}")
    other = run(project, "vit")
    answer = act(ana, "tag", all="1", word="x", state="?q=gpt")
    assert "40 runs: tagged" in answer.content.decode()
    assert not Tag.objects.filter(run=other).exists()


def test_a_deletion_is_undone_from_the_message(project: Project, ana: User) -> None:
    a = run(project, "a", attempt_count=1)
    a.attempts.create(number=1, world_size=2, status="ended")
    client = browser(ana)
    answer = client.post("/history/act", {"do": "delete", "uid": [a.uid]}, follow=True)
    assert "/history/undo" in answer.content.decode()
    assert found(ana, "") == set()
    client.post("/history/undo")
    assert found(ana, "") == {"a"}


def test_who_may_only_look_changes_nothing_but_the_own_favourites(project: Project, ana: User) -> None:
    a = run(project, "a")
    Membership.objects.create(project=project, user=builders.user("vera"), role=Role.VIEWER)
    vera, eve = User.objects.get(username="vera"), builders.user("eve")
    for what in ("tag", "group", "archive", "pin", "delete", "stop"):
        assert "1 was left alone" in act(vera, what, a, word="x").content.decode()
        act(eve, what, a, word="x")
    for who in (vera, eve):
        act(who, "star", a)
    a.refresh_from_db()
    assert (a.archived_at, a.pinned_at, a.group, a.deleted_at, a.tags.count()) == (None, None, "", None, 0)
    assert [star.user for star in a.favourites.all()] == [vera]


def test_a_view_is_saved_for_the_project_and_its_list_opens_with_the_default(project: Project, ana: User) -> None:
    state = {"state": "?project=demo&q=gpt&sort=-loss&page=older.0.1.1", "name": "Mine", "is_default": "on"}
    browser(ana).post("/projects/demo/views", state)
    view = SavedView.objects.get()
    assert (view.query, view.is_default) == ("q=gpt&sort=-loss", True)
    answer = browser(ana).get("/?project=demo")
    assert answer["Location"] == f"/?q=gpt&sort=-loss&project=demo&view={view.pk}"
    assert browser(ana).get("/?project=demo&view=all").status_code == 200
    browser(ana).post("/projects/demo/views", {"state": "?q=vit", "name": "Other", "is_default": "on"})
    assert [v.name for v in SavedView.objects.filter(is_default=True)] == ["Other"]
    eve = builders.user("eve")
    assert browser(eve).post("/projects/demo/views", state).status_code == 404
    assert browser(eve).post(f"/history/views/{view.pk}/remove").status_code == 404
    browser(ana).post(f"/history/views/{view.pk}/remove")
    assert SavedView.objects.count() == 1


def test_suggestions_come_from_what_the_person_may_see(project: Project, ana: User) -> None:
    a = run(project, "a", "--lr", "1", metrics={"val/loss": 1.0, "loss": 1.0})
    Tag.objects.create(run=a, name="base line")

    def texts(before: str, who: User = ana) -> list[str]:
        return [one.text for one in completion.suggestions(who, before)]

    assert texts("sta")[0] == "status:"
    assert texts("gpt -status:fa") == ["-status:failed "]
    assert texts("tag:ba") == ['tag:"base line" ']
    assert texts("status:failed,st")[0] == "status:failed,stopped "
    assert texts("val") == ["val/loss<"]
    assert "config.lr:" in texts("lr")
    assert texts("config.l") == ["config.lr:"]
    assert texts("owner:") == ["owner:me ", "owner:ana "]
    assert texts("tag:ba", builders.user("eve")) == []


def test_of_many_names_only_a_page_is_sent(project: Project, ana: User) -> None:
    run(project, "a", metrics={f"layer/{i}": 1.0 for i in range(300)})
    names, total = keys.named_like(ana, "layer")
    assert (len(names), total) == (keys.MOST, 300)
    text = browser(ana).get("/").content.decode()
    assert "layer/7" not in text


def test_chosen_columns_show_values_and_an_error_keeps_the_page(project: Project, ana: User) -> None:
    run(project, "a", "--lr", "0.25", metrics={"acc": 0.5})
    run(project, "b", metrics={"acc": 0.75})
    text = browser(ana).get("/?cols=metric.acc,config.lr&sort=-metric.acc").content.decode()
    assert "0.750" in text
    assert "0.25" in text
    assert 'aria-sort="descending"' in text
    answer = browser(ana).get("/", {"q": "staus:failed"})
    assert answer.status_code == 200
    assert "did you mean “status”" in answer.content.decode()


def test_the_api_takes_the_same_search_and_says_what_is_wrong(project: Project, ana: User) -> None:
    run(project, "a", metrics={"acc": 0.5})
    run(project, "b", metrics={"acc": 0.75})
    client = browser(ana)
    answer = client.get("/api/v1/runs", {"q": "acc>0", "sort": "-metric.acc"})
    assert [row["name"] for row in answer.json()] == ["b", "a"]
    wrong = client.get("/api/v1/runs", {"q": "staus:x"})
    assert (wrong.status_code, "did you mean" in wrong.json()["fields"]["q"]) == (422, True)
    assert client.get("/api/v1/runs", {"sort": "nonsense"}).status_code == 422
