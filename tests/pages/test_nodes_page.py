"""The Nodes page: state of each node, who holds its slots, join, drain and remove."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tests import builders
from webapp.nodes.models import JoinToken, Node, Slot
from webapp.nodes.queries import node_lines, slot_count
from webapp.nodes.standing import standing, word
from webapp.projects.models import Role

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(redis_client: object) -> Client:
    client = Client()
    client.force_login(builders.user("root", is_superuser=True))
    return client


@pytest.mark.parametrize(
    ("age", "fields", "said"),
    [
        (1, {}, "Ready"),
        (9, {}, "Late"),
        (1, {"draining": True}, "Draining"),
        (1, {"vitals": {"dirty": "pid 7"}}, "Not clean"),
        (60, {"draining": True}, "Unreachable"),
    ],
)
def test_a_node_says_its_state(age: int, fields: dict[str, Any], said: str) -> None:
    now = timezone.now()
    node = builders.node(last_heard=now - timedelta(seconds=age), **fields)
    assert word(standing(node, now, busy=True)) == said


def test_a_node_that_was_never_heard_is_unreachable() -> None:
    assert word(standing(builders.node(last_heard=None), timezone.now(), busy=False)) == "Unreachable"


def test_slots_name_the_run_that_holds_them_only_to_its_project(page: Client) -> None:
    attempt = builders.running_attempt(nodes=1, ranks_per_node=2, in_project=builders.project("demo", ana=Role.VIEWER))
    assert attempt.run.name in page.get("/nodes/").content.decode()
    stranger = Client()
    stranger.force_login(builders.user())
    text = stranger.get("/nodes/").content.decode()
    assert attempt.run.name not in text
    assert "2 held by projects that you are not in" in text


def test_slots_of_a_draining_node_are_not_free() -> None:
    builders.node(slots=2)
    builders.node(slots=3, draining=True)
    builders.running_attempt(nodes=1, ranks_per_node=4)
    count = slot_count()
    assert (count.busy, count.free, count.total) == (4, 2, 9)


def test_a_node_without_any_facts_is_shown_with_dashes(page: Client) -> None:
    builders.node("bare", slots=0)
    text = page.get("/nodes/").content.decode()
    assert "bare" in text
    assert "None" not in text


def test_what_a_node_has_is_shown(page: Client) -> None:
    slots = [{"index": 0, "kind": "gpu", "model": "H100", "memory_total": 80 * 1024**3}]
    inventory = {
        "slots": slots,
        "cpus": 96,
        "cpu_model": "EPYC",
        "memory_total": 1024**4,
        "driver": "550.1",
        "torch": "2.13.0",
        "nccl": "2.27",
    }
    builders.node("gpu-a", slots=1, inventory=inventory, vitals={"cpu": 37.4, "memory_used": 1024**4 / 4},
                  clock_offset=0.0012, clock_error=0.0003, agent_version="0.1.0")  # fmt: skip
    text = page.get("/nodes/").content.decode()
    for fact in (
        "80 GB each",
        "EPYC, 96 cores",
        "37 %",
        "25 %",
        "256 GB / 1.0 TB",
        "550.1",
        "2.13.0",
        "2.27",
        "+1.2 ms ± 0.3",
        "0.1.0",
    ):
        assert fact in text, fact


def test_the_join_command_carries_a_token_that_is_kept_as_a_hash(page: Client) -> None:
    text = page.post("/nodes/join-token").content.decode()
    assert "paceline join http" in text
    token = text.partition("--token ")[2].partition("<")[0]
    assert JoinToken.objects.get().token_hash != token


def test_draining_and_taking_runs_again(page: Client) -> None:
    node = builders.node("gpu-a")
    page.post(f"/nodes/{node.uid}/drain", {"on": "yes"})
    assert Node.objects.get().draining
    assert "Take runs again" in page.get("/nodes/").content.decode()
    page.post(f"/nodes/{node.uid}/drain", {"on": "no"})
    assert not Node.objects.get().draining


def test_a_drained_node_says_that_it_may_be_switched_off_once_nothing_is_left_there(page: Client) -> None:
    attempt = builders.running_attempt(nodes=1, ranks_per_node=1)
    Node.objects.update(draining=True, vitals={"attempts": [{"attempt": attempt.pk}]})
    said = "Drained: nothing runs here, safe to switch off."
    assert said not in page.get("/nodes/").content.decode()
    Slot.objects.update(attempt=None)
    assert said not in page.get("/nodes/").content.decode()  # its last data has not arrived yet
    Node.objects.update(vitals={"attempts": []})
    assert said in page.get("/nodes/").content.decode()


def test_what_holds_a_slot_and_what_troubles_a_node_is_said(page: Client) -> None:
    vitals = {"dirty": "slot 2 is held by python (pid 1234), 11.2 GB", "trouble": "The disk is full."}
    builders.node("gpu-a", vitals=vitals)
    text = page.get("/nodes/").content.decode()
    assert "Nothing new starts here until it is clean: slot 2 is held by python (pid 1234), 11.2 GB." in text
    assert "The disk is full." in text


def test_a_removed_node_is_gone_from_the_page(page: Client) -> None:
    node = builders.node("gpu-a")
    assert page.post(f"/nodes/{node.uid}/remove").status_code == 302
    assert node_lines() == []
    assert page.post(f"/nodes/{node.uid}/remove").status_code == 404


def test_the_live_update_is_the_list_alone(page: Client) -> None:
    builders.node("gpu-a")
    text = page.get("/nodes/", headers={"HX-Request": "true"}).content.decode()
    assert "gpu-a" in text
    assert "<html" not in text


def test_the_empty_page_says_what_to_do_next(page: Client) -> None:
    assert "Show the command" in page.get("/nodes/").content.decode()


def names_on(page: Client, query: str = "", **headers: str) -> list[str]:
    return re.findall(r'<h3 class="mono">(.*?)</h3>', page.get(f"/nodes/{query}", headers=headers).content.decode())


def test_a_hundred_nodes_of_eight_slots_are_a_small_answer(page: Client) -> None:
    for number in range(100):
        builders.node(f"gpu-{number:03d}", slots=8)
    whole, live = page.get("/nodes/"), page.get("/nodes/", headers={"HX-Request": "true"})
    assert len(whole.content) < 80_000
    assert len(live.content) < 60_000
    listed = page.get("/api/v1/nodes")
    assert len(listed.json()) == 100
    assert len(listed.content) < 200_000


def test_many_nodes_come_page_by_page_and_each_page_is_live(page: Client) -> None:
    for number in range(70):
        builders.node(f"gpu-{number:03d}")
    text = page.get("/nodes/?page=2").content.decode()
    assert "30 of 70 nodes" in text
    assert 'rel="prev" href="/nodes/?"' in text
    assert 'rel="next" href="/nodes/?page=3"' in text
    assert 'hx-get="/nodes/?page=2"' in text
    shown = [f"gpu-{number:03d}" for number in range(30, 60)]
    assert names_on(page, "?page=2") == names_on(page, "?page=2", **{"HX-Request": "true"}) == shown
    assert "0 of 140 slots busy" in text


def test_nodes_are_found_by_their_name_and_their_state(page: Client) -> None:
    for number in range(40):
        builders.node(f"gpu-{number:03d}", draining=number % 20 == 3)
    builders.node("cpu-0", last_heard=None)
    assert names_on(page, "?q=PU-01") == [f"gpu-{number:03d}" for number in range(10, 20)]
    assert names_on(page, "?state=drained") == ["gpu-003", "gpu-023"]
    assert names_on(page, "?state=unreachable&q=gpu") == []
    text = page.get("/nodes/?state=unreachable&q=gpu").content.decode()
    assert "No node matches" in text
    assert re.findall(r">(\w+) <span class=\"n\">(\d+)</span>", text) == [
        ("All", "40"), ("Unreachable", "0"), ("Drained", "2"), ("Ready", "38"),
    ]  # fmt: skip
    assert len(names_on(page, "?state=nonsense")) == 30


def test_who_drains_or_removes_a_node_stays_on_its_page(page: Client) -> None:
    node = builders.node("gpu-a")
    for act in ("drain", "remove"):
        answer = page.post(f"/nodes/{node.uid}/{act}?q=gpu&page=2", {"on": "yes"})
        assert (answer.status_code, answer.headers["Location"]) == (302, "/nodes/?q=gpu&page=2")


def test_few_nodes_need_no_search(page: Client) -> None:
    builders.node("gpu-a")
    assert '<div class="filter" role="search" hidden>' in page.get("/nodes/").content.decode()
