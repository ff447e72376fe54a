"""The pages, the API and the command line: who may look, who may start, and what they see."""

import json

import pytest

from tests import builders
from tests.api.asking import asker
from tests.pages.people import team
from webapp.preflight import lifecycle
from webapp.preflight.models import Check, CheckedNode
from webapp.runs.models import Attempt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def people():
    return team()


def made(count: int, *, attempt: Attempt | None = None, slow: tuple[int, int] | None = None) -> Check:
    """A check that is done, all links measured."""
    check = lifecycle.begin([builders.node(f"node-{k:03}") for k in range(count)], by="editor", attempt=attempt)
    Check.objects.filter(pk=check.pk).update(stage="repeating")
    rows = list(check.nodes.all())
    for row in rows:
        row.links = {
            other.node_uid: {"mb_s": 9.0 if (other.place, row.place) == slow else 1080.0, "rtt_ms": 0.12}
            for other in rows
            if other is not row
        }
        row.facts, row.presence = {"disk": {"path": "/srv", "free": 2**40, "writable": True}}, "measured"
    CheckedNode.objects.bulk_update(rows, ["links", "facts", "presence"])
    return lifecycle.advance(check)


def test_an_editor_chooses_nodes_and_gets_the_live_page_of_their_check(people):
    node = builders.node("gpu-a", inventory={"knows": ["check"]})
    builders.node("gpu-b")
    editor = people.client("editor")
    form = editor.get("/nodes/checks/").content.decode()
    assert "gpu-a" in form
    assert "gpu-b" in form
    asked = editor.post("/nodes/checks/", {"node": [node.uid]})
    check = Check.objects.get()
    assert asked.url == f"/nodes/checks/{check.pk}/"
    assert list(check.nodes.values_list("node_name", flat=True)) == ["gpu-a"]
    page = editor.get(asked.url).content.decode()
    assert "The nodes look at themselves" in page
    assert 'hx-trigger="load delay:1s"' in page
    live = editor.get(asked.url, headers={"HX-Request": "true"}).content.decode()
    assert "<html" not in live
    assert editor.post("/nodes/checks/").status_code == 422


def test_everybody_who_sees_nodes_may_look_and_only_editors_may_start(people):
    check = made(2)
    for kind in ("stranger", "viewer", "superuser"):
        assert people.client(kind).get(f"/nodes/checks/{check.pk}/").status_code == 200
    for kind in ("stranger", "viewer"):
        assert people.client(kind).post("/nodes/checks/", {"node": ["node-000"]}).status_code == 403
        assert asker(kind).post("/checks", {"nodes": []}).status_code == 403
    assert people.client("logged_out").get(f"/nodes/checks/{check.pk}/").status_code == 302
    assert Check.objects.count() == 1


def test_the_check_of_a_run_is_for_its_project_alone(people):
    attempt = builders.running_attempt(nodes=1, ranks_per_node=1, in_project=people.project)
    check = made(2, attempt=attempt)
    assert people.client("viewer").get(f"/nodes/checks/{check.pk}/").status_code == 200
    assert people.client("stranger").get(f"/nodes/checks/{check.pk}/").status_code == 404
    assert asker("stranger").get(f"/checks/{check.pk}").status_code == 404
    assert asker("stranger").get("/checks").json() == []
    assert attempt.run.name not in people.client("stranger").get("/nodes/checks/").content.decode()


def test_the_page_says_it_first_and_spends_colour_on_what_deviates_only(people):
    page = people.client("viewer").get(f"/nodes/checks/{made(4, slow=(3, 1)).pk}/").content.decode()
    assert "node-003 to node-001 carries 9.0 MB/s, a small part of what the others carry." in page
    assert "Check the cable and the switch port between them." in page
    assert page.count('<td class="crit">') == 1
    assert page.count("1.1 GB/s</b>") == 11


def test_a_large_matrix_is_a_picture_with_a_square_for_each_bad_link_and_a_table_of_them(people):
    page = people.client("viewer").get(f"/nodes/checks/{made(40, slow=(30, 7)).pk}/").content.decode()
    assert page.count('<rect class="crit"') == 1
    assert "node-030 to node-007: 9.0 MB/s, 0.12 ms, slow" in page
    assert page.count('<td class="t-crit">slow</td>') == 1


def test_the_api_begins_a_check_and_tells_what_was_found(people):
    builders.node("gpu-a", address="10.0.0.1")
    builders.node("gpu-b")
    said = asker("editor").post("/checks", {"nodes": ["gpu-b", "gpu-a"]})
    assert (said.status_code, said.json()["done"], said.json()["nodes"]) == (202, True, ["gpu-a", "gpu-b"])
    found = asker("viewer").get(f"/checks/{said.json()['id']}").json()
    assert (found["level"], found["asked_by"]) == ("red", "editor")
    assert [one["sentence"] for one in found["findings"]] == [
        "gpu-b gives 127.0.0.1 as its address, which leads every other node to itself.",
        "The agent on gpu-a is too old to be checked.",
        "The agent on gpu-b is too old to be checked.",
    ]
    unknown = asker("editor").post("/checks", {"nodes": ["gpu-z"]})
    assert (unknown.status_code, unknown.json()["fields"]) == (422, {"nodes": "There is no node “gpu-z”."})
    everything = asker("editor").post("/checks", {})
    assert everything.json()["nodes"] == ["gpu-a", "gpu-b"]


def test_a_run_may_ask_for_it_by_page_api_and_spec(people):
    builders.node(slots=2)
    body = {"project": "demo", "name": "x", "argv": ["/srv/train.py"], "preflight": True}
    run = asker("editor").post("/runs", body).json()
    assert run["spec"]["preflight"] is True
    typed = {
        "project": "demo",
        "name": "y",
        "command": "/srv/train.py",
        "source": "none",
        "nodes": 1,
        "preflight": "on",
    }
    rest = {"ranks_per_node": 1, "grace": 20, "stop_signal": "SIGTERM", "retries": 0}
    rows = {"env-TOTAL_FORMS": 0, "env-INITIAL_FORMS": 0}
    sent = people.client("editor").post("/launch/", {**typed, **rest, **rows})
    assert sent.status_code == 302, sent.content.decode()[-3000:]
    assert json.dumps(people.project.runs.get(name="y").spec["preflight"]) == "true"
