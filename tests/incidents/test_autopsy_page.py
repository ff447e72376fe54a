"""Asking what every rank does, on the page and over the API, and reading the answer."""

import msgspec
import pytest

from tests import builders
from tests.api.asking import asker
from tests.control.cluster import say
from tests.incidents.test_who_hangs import behind, flight, rank
from tests.pages.people import team
from webapp.incidents import autopsy
from webapp.incidents.models import Autopsy, AutopsyRank
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


def frames(number: int) -> list[dict]:
    """A deep stack, as a real one is."""
    return [{"name": f"call_{depth}", "filename": f"/srv/code/part{number}.py", "line": depth} for depth in range(30)]


def test_a_thousand_ranks_keep_what_they_say_alike_once_and_make_a_small_page(people):
    attempt = builders.running_attempt(nodes=1, ranks_per_node=4, in_project=people.project)
    row = Autopsy.objects.create(attempt=attempt)
    part = attempt.parts.get()
    waits = [{"thread": f"Thread-{number}", "frames": frames(number)} for number in range(12)]
    for number in range(4):
        facts = rank(stacks=waits, flight=flight(9)) if number != 2 else behind(flight=flight(8))
        say(part, "autopsy", number, asked=row.pk, **msgspec.to_builtins(facts))
    assert row.pieces.count() == 12 + 1 + 1 + 1 + 1  # stacks, one that is behind, two collectives, the groups
    waiting = AutopsyRank.objects.get(rank=0)
    AutopsyRank.objects.bulk_create(
        AutopsyRank(autopsy=row, rank=number, facts=waiting.facts) for number in range(4, 1000)
    )
    assert [stack["frames"] for stack in autopsy.told(row)[999]["stacks"]] == [frames(number) for number in range(12)]
    viewer = people.client("viewer")
    answer = viewer.get(f"/autopsies/{row.pk}/")
    text = answer.content.decode()
    assert len(answer.content) < 300_000
    assert "Rank 2 did not come along" in text
    assert text.index('<li class="badge badge--crit">2</li>') < text.index('<li class="badge">3–999</li>')
    assert '<li class="badge">3–999</li>' in text
    assert "1 to 100 of 1,000 ranks" in text
    assert text.index(">2</td>") < text.index(">0</td>")
    assert ">999</td>" in viewer.get(f"/autopsies/{row.pk}/?page=10").content.decode()
    (told,) = asker("viewer").get(f"/runs/{attempt.run.uid}/autopsies?first_rank=950").json()
    assert list(told["ranks"]) == [str(number) for number in range(950, 1000)]
    assert told["ranks"]["950"]["stacks"][0]["frames"] == waits[0]["frames"]
