"""Asking what every rank does, on the page and over the API, and reading the answer."""

import msgspec
import pytest

from tests import builders
from tests.api.asking import asker
from tests.control.cluster import say
from tests.incidents.test_who_hangs import behind, rank
from tests.pages.people import team
from webapp.incidents.models import Autopsy
from webapp.runs.models import Attempt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def people():
    return team()


@pytest.fixture
def attempt(people) -> Attempt:
    row = builders.running_attempt(nodes=1, ranks_per_node=2, in_project=people.project)
    for one in row.ranks.all():
        say(row.parts.get(), "rank_started", one.rank, pid=100 + one.rank)
    return row


def test_an_editor_asks_and_the_page_says_who_is_missing_since_when_doing_what(people, attempt):
    editor = people.client("editor")
    asked = editor.post(f"/runs/{attempt.run.uid}/autopsy")
    row = Autopsy.objects.get()
    assert asked.url == f"/autopsies/{row.pk}/"
    waiting = editor.get(asked.url).content.decode()
    assert "Asking every rank" in waiting
    assert 'hx-trigger="load delay:1s"' in waiting
    for number, facts in enumerate((rank(log=["step 40"]), behind(log=["<b>loads</b>"], state="S"))):
        say(attempt.parts.get(), "autopsy", number, asked=row.pk, **msgspec.to_builtins(facts))
    found = people.client("viewer").get(asked.url).content.decode()
    assert "Rank 1 did not come along: in code between the phases for 6 s, at train.py:30 in batches." in found
    assert "2 of 2 ranks answered." in found
    assert "&lt;b&gt;loads&lt;/b&gt;" in found
    assert "hx-trigger" not in found.partition('class="autopsy"')[2].partition(">")[0]
    assert found.index("train.py:30 in batches") < found.index("train.py:70 in main")


def test_viewers_read_only_and_strangers_see_nothing(people, attempt):
    row = Autopsy.objects.create(attempt=attempt)
    assert people.client("viewer").post(f"/runs/{attempt.run.uid}/autopsy").status_code == 403
    assert people.client("stranger").post(f"/runs/{attempt.run.uid}/autopsy").status_code == 404
    assert people.client("stranger").get(f"/autopsies/{row.pk}/").status_code == 404
    assert Autopsy.objects.count() == 1


def test_a_question_under_way_is_not_asked_twice_and_a_run_that_ended_has_nobody_to_ask(people, attempt):
    editor = people.client("editor")
    for _time in range(2):
        editor.post(f"/runs/{attempt.run.uid}/autopsy")
    assert Autopsy.objects.count() == 1
    Attempt.objects.filter(pk=attempt.pk).update(status="ended")
    assert editor.post(f"/runs/{attempt.run.uid}/autopsy").url == f"/runs/{attempt.run.uid}/"
    assert Autopsy.objects.count() == 1


def test_the_api_asks_and_tells_the_same(people, attempt):
    said = asker("editor").post(f"/runs/{attempt.run.uid}/autopsy")
    assert (said.status_code, said.json()["complete"], said.json()["asked_by"]) == (202, False, "editor")
    for number, facts in enumerate((rank(), behind(state="T"))):
        say(attempt.parts.get(), "autopsy", number, asked=said.json()["id"], **msgspec.to_builtins(facts))
    (found,) = asker("viewer").get(f"/runs/{attempt.run.uid}/autopsies").json()
    assert (found["complete"], found["verdict"]["kind"], found["verdict"]["ranks"]) == (True, "stopped", [1])
    assert found["ranks"]["1"]["state"] == "T"
    assert asker("viewer").post(f"/runs/{attempt.run.uid}/autopsy").status_code == 403
    Attempt.objects.filter(pk=attempt.pk).update(status="ended")
    assert asker("editor").post(f"/runs/{attempt.run.uid}/autopsy").status_code == 409
