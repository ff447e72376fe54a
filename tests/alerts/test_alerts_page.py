"""The page of a project's alerts, by role, and its forms."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from tests import builders
from tests.api.asking import asker
from tests.incidents.found import incident
from tests.pages.people import KINDS, Team, team
from tests.telemetry import batches
from webapp.alerts import channels
from webapp.alerts.models import Alert, Channel, Delivery, Rule, Silence
from webapp.runs.models import Attempt, Run
from webapp.runs.secrets import decrypt
from workers.notify import look

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
PAGE = "/projects/demo/alerts/"
METRIC = {"name": "Slow", "metric": "phase/step", "over": "any", "comparison": "above", "threshold": "0.2",
          "window_s": "0", "hold_s": "0", "severity": "warning"}  # fmt: skip
INCIDENTS: dict[str, Any] = {"name": "Bad links", "kinds": ["network"], "least_severity": "info"}
INCIDENTS["least_percent"] = "7.5"


@pytest.fixture
def people() -> Team:
    return team()


@pytest.fixture
def attempt(people: Team) -> Attempt:
    return builders.running_attempt(2, 2, in_project=people.project)


def get(people: Team, path: str = PAGE, who: str = "viewer", **more: Any) -> str:
    answer = people.client(who).get(path, **more)
    assert answer.status_code == 200
    return answer.content.decode()


def post(people: Team, path: str, who: str = "editor", **fields: Any) -> tuple[int, str]:
    answer = people.client(who).post(f"{PAGE}{path}", fields, follow=True)
    return answer.status_code, answer.content.decode()


def test_who_sees_the_page_and_its_forms(people: Team) -> None:
    found = {kind: people.client(kind).get(PAGE) for kind in KINDS}
    wanted = {"logged_out": 302, "stranger": 404, "viewer": 200, "editor": 200, "admin": 200, "superuser": 200}
    assert {kind: answer.status_code for kind, answer in found.items()} == wanted
    forms = {kind: f"{PAGE}channels/" in answer.content.decode() for kind, answer in found.items()}
    assert [kind for kind, there in forms.items() if there] == ["editor", "admin", "superuser"]
    assert f'href="{PAGE}"' in get(people, "/projects/demo/")


def test_viewers_change_nothing_and_strangers_find_nothing(people: Team) -> None:
    get(people)
    default, channel = Rule.objects.get(), channels.add(people.project, "slack", "https://hooks.example/", "")
    until = timezone.now() + timedelta(hours=1)
    silence = Silence.objects.create(
        project=people.project, since=timezone.now(), until=until, reason="x", created_by="editor"
    )
    paths = ["rules/new/metric", "rules/preview/metric", f"rules/{default.pk}/", f"rules/{default.pk}/switch"]
    paths += [f"rules/{default.pk}/remove", "channels/", f"channels/{channel.pk}/test", f"channels/{channel.pk}/remove"]
    paths += [f"channels/{channel.pk}/", "silences/", f"silences/{silence.pk}/end"]
    for path in paths:
        statuses = [people.client(who).post(f"{PAGE}{path}").status_code for who in ("stranger", "viewer")]
        assert statuses == [404, 403], path
    assert Rule.objects.get().enabled
    assert Channel.objects.exists()
    assert not Delivery.objects.exists()


def test_what_belongs_to_another_project_cannot_be_reached_through_this_one(people: Team) -> None:
    other = builders.project("other")
    rule = Rule.objects.create(project=other, name="Theirs", kind="incident")
    channel = channels.add(other, "slack", "https://hooks.example/", "")
    for path in (f"rules/{rule.pk}/remove", f"rules/{rule.pk}/switch", f"channels/{channel.pk}/remove"):
        assert people.client("admin").post(f"{PAGE}{path}").status_code == 404


def test_the_default_rule_is_there_stays_and_can_be_switched_off(people: Team) -> None:
    assert "An incident opens: any kind; warning or worse." in get(people)
    pk = Rule.objects.get().pk
    assert "This rule stays." in post(people, f"rules/{pk}/remove")[1]
    post(people, f"rules/{pk}/switch")
    assert not Rule.objects.get().enabled


def test_rules_are_made_changed_and_removed(people: Team) -> None:
    post(people, "rules/new/metric", **METRIC)
    post(people, "rules/new/incident", **INCIDENTS)
    text = get(people)
    assert "phase/step of some rank is above 0.2 s." in text
    assert "An incident opens: network; info or worse. Steps take at least 7.5 % longer." in text
    post(people, "rules/new/metric", **{**METRIC, "name": "Bad", "comparison": "nan", "threshold": "", "over": "mean"})
    assert "phase/step of some rank is NaN or infinite." in get(people)
    rule = Rule.objects.get(name="Slow")
    assert 'value="0.2"' in get(people, f"{PAGE}rules/{rule.pk}/", "editor")
    post(people, f"rules/{rule.pk}/", **{**METRIC, "comparison": "silent", "threshold": "", "window_s": "60"})
    assert "No phase/step for 1 m 00 s." in get(people)
    assert 'value="7.5"' in get(people, f"{PAGE}rules/{Rule.objects.get(name='Bad links').pk}/", "editor")
    post(people, f"rules/{rule.pk}/remove")
    assert not Rule.objects.filter(name="Slow").exists()


@pytest.mark.parametrize(
    ("changes", "says"),
    [({"threshold": ""}, "Give the limit"), ({"threshold": "inf"}, "Give a number"), ({"threshold": "x"}, "number"),
     ({"comparison": "silent"}, "how long no data"), ({"metric": " "}, "required"), ({"window_s": "-1"}, "greater"),
     ({"hold_s": "99999999"}, "less than")],
)  # fmt: skip
def test_a_rule_that_cannot_be_is_refused_in_place(people: Team, changes: dict[str, str], says: str) -> None:
    status, text = post(people, "rules/new/metric", **{**METRIC, **changes})
    assert status == 422
    assert says in text
    assert says in post(people, "rules/preview/metric", **{**METRIC, **changes})[1]
    assert not Rule.objects.filter(kind="metric").exists()


def test_metrics_are_offered_by_name(people: Team, attempt: Attempt) -> None:
    from webapp.telemetry.store import compact

    compact(attempt, [batches.tail(attempt, 1, values=[batches.values("val/acc", 0, {1: 0.5})])])
    text = get(people, f"{PAGE}rules/new/metric", "editor")
    assert '<option value="val/acc">' in text
    assert '<option value="phase/step">' in text
    assert people.client("editor").get(f"{PAGE}rules/new/other").status_code == 404


def test_a_rule_is_tried_on_the_past_without_being_saved(people: Team, attempt: Attempt) -> None:
    begin = timezone.now() - timedelta(minutes=5)
    batches.tail(attempt, 1, steps=[batches.steps(range(4), range(100), slow={2: 300}, end=begin.timestamp())])
    text = post(people, "rules/preview/metric", **METRIC)[1]
    assert "It would have fired once." in text
    assert "Looked at 1 of 1 run of the last 30 days" in text
    assert "phase/step of some rank is 0.380 s: more than 0.2 s." in text
    assert "0 times" in post(people, "rules/preview/metric", **{**METRIC, "threshold": "9"})[1]
    incident(attempt, kind="network", subject="link 0-1", link=(0, 1))
    assert "It would have fired once." in post(people, "rules/preview/incident", **INCIDENTS)[1]
    assert not Rule.objects.filter(is_default=False).exists()


def test_channels_are_added_tested_and_removed_and_their_secrets_are_never_shown(people: Team) -> None:
    post(people, "channels/", kind="webhook", address="https://hooks.example/T0/sesame", secret="hush")
    row = Channel.objects.get()
    assert (decrypt(bytes(row.address)), decrypt(bytes(row.secret))) == ("https://hooks.example/T0/sesame", "hush")
    text = post(people, f"channels/{row.pk}/test")[1]
    assert "hooks.example/…" in text
    assert "editor sent this one to try it." in text
    assert "sesame" not in text
    assert "hush" not in text
    post(people, f"channels/{row.pk}/remove")
    assert not Channel.objects.exists()


def test_a_channel_is_changed_and_what_is_left_empty_stays_as_it_is(people: Team) -> None:
    row = channels.add(people.project, "webhook", "https://hooks.example/T0/sesame", "hush", "Ops")
    text = get(people, f"{PAGE}channels/{row.pk}/", "editor")
    assert "Ops" in text
    assert "hooks.example/…" in text
    assert not any(secret in text for secret in ("sesame", "hush"))
    assert "hooks.example/…" in post(people, f"channels/{row.pk}/", name="On call", address="", secret="")[1]
    row.refresh_from_db()
    assert (row.name, decrypt(bytes(row.address)), decrypt(bytes(row.secret))) == (
        "On call",
        "https://hooks.example/T0/sesame",
        "hush",
    )
    post(people, f"channels/{row.pk}/", name="", address="https://new.example/x", secret="", drop_secret="on")
    row.refresh_from_db()
    assert (row.shown, bytes(row.secret), decrypt(bytes(row.address))) == (
        "new.example/…",
        b"",
        "https://new.example/x",
    )
    assert post(people, f"channels/{row.pk}/", name="", address="ftp://x/")[0] == 422
    assert people.client("viewer").get(f"{PAGE}channels/{row.pk}/").status_code == 403
    assert people.client("stranger").get(f"{PAGE}channels/{row.pk}/").status_code == 404


def test_who_removes_a_channel_is_told_which_rules_it_had(people: Team) -> None:
    channels.add(people.project, "email", "ana@example.org", "")
    post(people, "rules/new/metric", **METRIC)
    text = get(people, who="editor")
    assert "These rules are not told there any more: Every warning or worse, Slow." in text
    assert "It is the only channel" in text


@pytest.mark.parametrize(
    ("kind", "address", "says"),
    [("email", "ana", "no e-mail address"), ("email", "a@b.org, c", "no e-mail address"),
     ("webhook", "ftp://x/", "https"), ("slack", "https://", "https"), ("webhook", "https://u:p@x.org/", "https"),
     ("webhook", "http://x.org/ä", "characters"),
     ("webhook", "http://x.org:99999/", "https"), ("email", "a@b.org\r\nBcc: c@d.org", "no e-mail address")],
)  # fmt: skip
def test_an_address_that_cannot_be_is_refused_in_place(people: Team, kind: str, address: str, says: str) -> None:
    status, text = post(people, "channels/", kind=kind, address=address)
    assert status == 422
    assert says in text
    assert not Channel.objects.exists()


def test_the_page_says_that_it_is_silent_and_for_how_long(people: Team) -> None:
    until = timezone.now() + timedelta(hours=2)
    post(people, "silences/", reason="New switch", since="", until=until.strftime("%Y-%m-%dT%H:%M"))
    text = get(people)
    assert "Silent until <time" in text
    assert f"{until:%Y-%m-%dT%H:%M}" in text
    assert "New switch" in text
    post(people, f"silences/{Silence.objects.get().pk}/end")
    assert "Silent until" not in get(people)


def test_the_end_of_a_silence_lies_in_the_future(people: Team) -> None:
    status, text = post(people, "silences/", reason="x", since="", until="2020-01-01T00:00")
    assert status == 422
    assert "in the future" in text


def test_only_an_administrator_of_the_site_silences_it(people: Team) -> None:
    fields = {"reason": "Power", "since": "", "until": f"{timezone.now() + timedelta(hours=1):%Y-%m-%dT%H:%M}"}
    assert post(people, "silences/", "admin", site="on", **fields)[0] == 403
    post(people, "silences/", "superuser", site="on", **fields)
    silence = Silence.objects.get()
    assert silence.project is None
    assert "Alerts of the whole site" in get(people)
    assert post(people, f"silences/{silence.pk}/end", "admin")[0] == 403


def test_open_alerts_are_on_the_page_in_the_api_and_in_the_browser(people: Team, attempt: Attempt) -> None:
    for who in ("viewer", "stranger"):
        start = people.client(who).get("/alerts/new").json()
        assert start["alerts"] == []
    incident(attempt)
    look(timezone.now())
    text = get(people)
    assert "needs 200 ms more for the backward pass" in text
    assert "Nothing fires now." not in text
    told = people.client("viewer").get("/alerts/new", {"after": start["cursor"]}).json()["alerts"]
    assert [one["id"] for one in told] == [Alert.objects.get().pk]
    assert people.client("stranger").get("/alerts/new", {"after": start["cursor"]}).json()["alerts"] == []
    assert people.client("viewer").get("/alerts/new", {"after": "nan"}).json()["alerts"] == []
    (row,) = asker("viewer").get("/projects/demo/alerts").json()
    assert (row["run"], row["rule"], row["closed_at"]) == (attempt.run.uid, "Every warning or worse", None)
    assert asker("stranger").get("/projects/demo/alerts").status_code == 404


def test_names_of_runs_are_text(people: Team, attempt: Attempt) -> None:
    Run.objects.update(name="<script>alert(1)</script>")
    incident(attempt)
    look(timezone.now())
    assert "<script>alert(1)" not in get(people)


def test_the_live_update_brings_no_form(people: Team, attempt: Attempt) -> None:
    incident(attempt)
    look(timezone.now())
    text = get(people, who="editor", headers={"HX-Request": "true"})
    assert 'hx-swap-oob="true"' in text
    assert "<form" not in text
    assert "<html" not in text
