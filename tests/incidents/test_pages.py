"""Pages of incidents, by role, and what editors do there."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from tests import builders
from tests.incidents.found import incident
from tests.pages.people import KINDS, Team, team
from webapp.incidents.listing import PAGE_SIZE
from webapp.incidents.models import Incident
from webapp.projects.models import Project, Role
from webapp.runs.models import Attempt

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
MAY_READ = ("viewer", "editor", "admin", "superuser")
ACTS = {
    "acknowledge": {},
    "cause": {"cause": "gpu"},
    "assign": {"username": "viewer"},
    "comment": {"text": "Seen."},
    "close": {},
}


@pytest.fixture
def people() -> Team:
    return team()


@pytest.fixture
def attempt(people: Team) -> Attempt:
    return builders.running_attempt(2, 2, in_project=people.project)


def get(people: Team, path: str, who: str = "viewer", **query: str) -> str:
    answer = people.client(who).get(path, query)
    assert answer.status_code == 200
    return answer.content.decode()


def shown(text: str) -> list[int]:
    """Incidents in a list, in their order."""
    return [int(pk) for pk in re.findall(r'id="incident-(\d+)"', text)]


@pytest.mark.parametrize("kind", KINDS)
def test_who_may_read_an_incident(people: Team, attempt: Attempt, kind: str) -> None:
    row = incident(attempt)
    wanted = 200 if kind in MAY_READ else 302 if kind == "logged_out" else 404
    for path in ("", "panels"):
        assert people.client(kind).get(f"/incidents/{row.pk}/{path}").status_code == wanted
    listed = people.client(kind).get("/incidents/")
    assert listed.status_code == (302 if kind == "logged_out" else 200)
    assert (f'id="incident-{row.pk}"' in listed.content.decode()) == (kind in MAY_READ)


@pytest.mark.parametrize("act", ACTS)
def test_who_may_answer_to_an_incident(people: Team, attempt: Attempt, act: str) -> None:
    row = incident(attempt)
    for kind, wanted in {"stranger": 404, "viewer": 403, "editor": 302}.items():
        answer = people.client(kind).post(f"/incidents/{row.pk}/{act}", ACTS[act])
        assert answer.status_code == wanted
    assert [event.kind for event in row.events.all()] == ["opened", {**{a: a for a in ACTS}, "assign": "assigned",
        "acknowledge": "acknowledged", "cause": "confirmed", "close": "closed"}[act]]  # fmt: skip


def test_viewers_read_and_only_editors_see_the_forms(people: Team, attempt: Attempt) -> None:
    path = f"/incidents/{incident(attempt).pk}/"
    assert "<textarea" not in get(people, path)
    assert all(f"{path}{act}" in get(people, path, "editor") for act in ACTS)


def test_the_page_says_who_what_why_what_it_costs_and_what_to_do(people: Team, attempt: Attempt) -> None:
    row = incident(attempt)
    Incident.objects.update(gpu_hours=2.0)
    Project.objects.update(slot_hour_price=Decimal("1.5"), currency="EUR")
    node = attempt.parts.get(node_rank=1).node_name
    text = get(people, f"/incidents/{row.pk}/")
    assert f"Rank 2 on {node} needs 200 ms more for the backward pass than its peers since step 40." in text
    assert "Probable cause: the backward pass." in text
    assert "Look for hooks" in text
    assert "25 %" in text
    assert "2 h 00 m" in text
    assert "3.00 EUR" in text


def test_victims_are_folded_under_the_culprit(people: Team, attempt: Attempt) -> None:
    text = get(people, f"/incidents/{incident(attempt, victims=(0, 1, 3)).pk}/")
    assert "3 ranks wait for it" in text
    assert "0, 1, 3" in text


def test_the_timeline_says_who_did_what(people: Team, attempt: Attempt) -> None:
    path, editor = f"/incidents/{incident(attempt).pk}/", people.client("editor")
    for act, fields in ACTS.items():
        editor.post(f"{path}{act}", fields)
    text = get(people, path)
    for said in (
        "editor acknowledged it",
        "editor confirmed the cause: a slow device",
        "editor gave it to viewer",
        "Seen.",
        "editor closed it",
        "Found",
    ):
        assert said in text
    assert f"{path}acknowledge" not in get(people, path, "editor")


def test_a_comment_is_text_with_its_line_breaks_and_never_markup(people: Team, attempt: Attempt) -> None:
    path = f"/incidents/{incident(attempt).pk}/"
    people.client("editor").post(f"{path}comment", {"text": "One\n<script>alert(1)</script>"})
    assert "One\n&lt;script&gt;alert(1)" in get(people, path).replace("\r", "")


def test_an_empty_comment_is_refused_in_place(people: Team, attempt: Attempt) -> None:
    answer = people.client("editor").post(f"/incidents/{incident(attempt).pk}/comment", {"text": "  "})
    assert answer.status_code == 422
    assert "Write something first." in answer.content.decode()


def test_a_person_confirms_the_cause_or_another_one(people: Team, attempt: Attempt) -> None:
    path, editor = f"/incidents/{incident(attempt).pk}/", people.client("editor")
    assert '<option value="backward" selected>' in get(people, path, "editor")
    editor.post(f"{path}cause", {"cause": "gpu"})
    text = get(people, path)
    assert "Cause: a slow device, as editor confirmed." in text
    assert "Look at the device&#x27;s clocks" in text
    answer = editor.post(f"{path}cause", {"cause": "ghosts"}, follow=True)
    assert "Choose a cause of the list." in answer.content.decode()
    assert Incident.objects.get().cause == "gpu"


def test_a_cause_that_is_not_known_yet_proposes_none(people: Team, attempt: Attempt) -> None:
    text = get(people, f"/incidents/{incident(attempt, cause='unknown').pk}/", "editor")
    assert '<select class="select" name="cause" required><option value="" selected>' in text
    assert text.count("selected>") == 1


def test_an_incident_is_given_to_members_only(people: Team, attempt: Attempt) -> None:
    path, editor = f"/incidents/{incident(attempt).pk}/", people.client("editor")
    answer = editor.post(f"{path}assign", {"username": "stranger"}, follow=True)
    assert "Nobody of this name is a member of the project." in answer.content.decode()
    editor.post(f"{path}assign", {"username": "editor"})
    assert "editor took it" in get(people, path)
    editor.post(f"{path}assign", {"username": ""})
    assert "editor gave it to nobody" in get(people, path)


def test_the_live_update_of_a_page_brings_no_form(people: Team, attempt: Attempt) -> None:
    client = people.client("editor")
    text = client.get(f"/incidents/{incident(attempt).pk}/", headers={"HX-Request": "true"}).content.decode()
    assert text.count('hx-swap-oob="true"') == 3
    assert "<form" not in text


def test_open_ones_come_first_and_the_worst_of_them_on_top(people: Team, attempt: Attempt) -> None:
    small = incident(attempt, "input", "job", "data", 0.03)
    old = incident(attempt, "regression", "job", "data", 0.5)
    Incident.objects.filter(pk=old.pk).update(closed_at=timezone.now())
    late = incident(attempt)
    hang = incident(attempt, "hang", "rank 1", "unknown", 0.0, rank=1, stopped=True)
    assert shown(get(people, "/incidents/")) == [hang.pk, late.pk, small.pk, old.pk]


def test_the_list_is_filtered_by_its_address(people: Team, attempt: Attempt) -> None:
    late, old = incident(attempt), incident(attempt, "input", "job", "data")
    Incident.objects.filter(pk=old.pk).update(closed_at=timezone.now())
    other = builders.project("other", viewer=Role(people.project.memberships.get(user__username="viewer").role))
    theirs = incident(builders.running_attempt(in_project=other))
    assert set(shown(get(people, "/incidents/"))) == {late.pk, old.pk, theirs.pk}
    assert shown(get(people, "/incidents/", state="closed")) == [old.pk]
    assert shown(get(people, "/incidents/", kind="input")) == [old.pk]
    assert shown(get(people, "/incidents/", project="other")) == [theirs.pk]
    assert shown(get(people, "/incidents/", mine="1")) == []
    people.client("editor").post(f"/incidents/{late.pk}/assign", {"username": "viewer"})
    assert shown(get(people, "/incidents/", mine="1")) == [late.pk]
    assert "No incident matches" in get(people, "/incidents/", kind="hang")


def test_the_list_has_pages(people: Team, attempt: Attempt) -> None:
    now = timezone.now()
    many = [
        Incident(attempt=attempt, kind="straggler", subject=f"rank {k}", cause="data", severity="info", rank=k,
            opened_at=now - timedelta(hours=k), closed_at=now - timedelta(minutes=k))
        for k in range(PAGE_SIZE + 3)
    ]  # fmt: skip
    Incident.objects.bulk_create(many)
    first = shown(get(people, "/incidents/"))
    second = shown(get(people, "/incidents/", page="2"))
    assert (len(first), len(second)) == (PAGE_SIZE, 3)
    assert [*first, *second] == [row.pk for row in Incident.objects.order_by("-closed_at")]


def test_no_incidents_means_something(people: Team) -> None:
    text = get(people, "/incidents/")
    assert "No incidents so far" in text
    assert "/dumps/" in text


def test_the_run_s_page_has_a_line_for_each_open_one_and_folds_many(people: Team, attempt: Attempt) -> None:
    for rank in range(4):
        incident(attempt, subject=f"rank {rank}", rank=rank, slowdown=0.1 + rank / 100)
    text = get(people, f"/runs/{attempt.run.uid}/")
    assert text.index("Rank 3 needs") < text.index("Rank 1 needs") < text.index("1 more") < text.index("Rank 0 needs")
    assert "{&quot;0&quot;: &quot;warn&quot;" in text
    live = get(people, f"/runs/{attempt.run.uid}/header")
    assert 'data-part="incidents"' in live


def test_the_top_bar_counts_what_is_open_and_the_list_links_to_the_worst(people: Team, attempt: Attempt) -> None:
    row = incident(attempt)
    text = get(people, "/")
    assert '<span class="count count--warn">1</span>' in text
    assert f'href="/incidents/{row.pk}/"' in text
    assert "count--warn" not in get(people, "/", "stranger")


def test_an_admin_says_what_a_slot_costs(people: Team) -> None:
    admin = people.client("admin")
    assert people.client("editor").post("/projects/demo/price", {"slot_hour_price": "1"}).status_code == 403
    assert admin.post("/projects/demo/price", {"slot_hour_price": "2.5", "currency": "eur"}).status_code == 302
    project = Project.objects.get()
    assert (project.slot_hour_price, project.currency) == (Decimal("2.5"), "EUR")
    for wrong in ({"slot_hour_price": "-1", "currency": "EUR"}, {"slot_hour_price": "1", "currency": "€"}):
        assert admin.post("/projects/demo/price", wrong).status_code == 422
    admin.post("/projects/demo/price", {"slot_hour_price": "", "currency": "EUR"})
    assert Project.objects.get().slot_hour_price is None
