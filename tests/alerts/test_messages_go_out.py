"""What is told arrives: e-mail, webhook and Slack on real servers, with retries, and never at private addresses."""

import hashlib
import hmac
import json
import re
import socket
import time
from collections.abc import Iterator
from datetime import timedelta
from ipaddress import ip_address

import pytest
from django.conf import LazySettings
from django.utils import timezone

from tests import builders
from tests.alerts.sinks import Mails, Posts, http_sink, smtp_sink
from tests.settings import free_port
from webapp.alerts import channels, deliveries
from webapp.alerts.models import Channel, Delivery
from webapp.alerts.outgoing import address
from webapp.alerts.outgoing.address import Refused, is_public
from webapp.projects.models import Project
from workers.notify import send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]
State = Delivery.State


@pytest.fixture
def project() -> Project:
    return builders.project("demo")


@pytest.fixture
def posts(settings: LazySettings) -> Iterator[Posts]:
    settings.ALLOW_PRIVATE_WEBHOOKS = True
    with http_sink() as found:
        yield found


@pytest.fixture
def mails(settings: LazySettings) -> Iterator[Mails]:
    with smtp_sink() as found:
        settings.EMAIL_URL = "smtp://sink"
        settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", found.port
        yield found


def tried(project: Project, kind: str, to: str, secret: str = "") -> Delivery:
    """A test message to a new channel, after one round of sending."""
    channel = channels.add(project, kind, to, secret)
    deliveries.put_test(channel, "ana")
    send()
    return Delivery.objects.get(channel=channel)


def test_messages_are_forgotten_ninety_days_after_their_end_a_bite_at_a_time(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "BITE", 2)
    channel, now = channels.add(project, "email", "ana@example.org", ""), timezone.now()
    for days in (91, 92, 93, 89, None):
        ended = None if days is None else now - timedelta(days=days)
        Delivery.objects.create(channel=channel, message={}, ended_at=ended, created_at=now - timedelta(days=100))
    left = []
    for _round in range(2):
        deliveries.prune(now)
        left.append(Delivery.objects.count())
    assert left == [3, 2]


def again(row: Delivery) -> Delivery:
    """The same after its next try."""
    Delivery.objects.filter(pk=row.pk).update(next_at=timezone.now())
    send()
    row.refresh_from_db()
    return row


def test_a_webhook_gets_signed_json(project: Project, posts: Posts) -> None:
    row = tried(project, "webhook", posts.url, "hush hush")
    assert (row.state, row.status, row.tries, row.error) == (State.SENT, 200, 1, "")
    told = json.loads(posts.bodies[0])
    assert (told["event"], told["id"], told["alert"]) == ("test", row.pk, None)
    assert told["url"].endswith("/projects/demo/alerts/")
    ((stamp, digest),) = re.findall(r"^t=(\d+),v1=([0-9a-f]{64})$", posts.headers[0]["Paceline-Signature"])
    assert abs(int(stamp) - time.time()) < 60
    wanted = hmac.new(b"hush hush", f"{stamp}.".encode() + posts.bodies[0], hashlib.sha256).hexdigest()
    assert digest == wanted


def test_slack_gets_a_text_without_markup(project: Project, posts: Posts) -> None:
    Project.objects.update(name="<b> & co")
    project.refresh_from_db()
    assert tried(project, "slack", posts.url).state == State.SENT
    (told,) = [json.loads(body) for body in posts.bodies]
    assert list(told) == ["text"]
    assert "&lt;b&gt; &amp; co" in told["text"]


def test_an_e_mail_goes_to_all_addresses(project: Project, mails: Mails) -> None:
    row = tried(project, "email", "ana@example.org,ben@example.org")
    assert (row.state, row.error) == (State.SENT, "")
    assert mails.to == [["ana@example.org", "ben@example.org"]]
    assert "Subject: [Paceline] demo: a test" in mails.texts[0]


def test_an_e_mail_is_in_the_language_that_its_reader_has_chosen(project: Project, mails: Mails) -> None:
    builders.user("bia", email="Bia@Example.org", language="pt-br")
    builders.user("rui", email="refused@example.org", language="en")
    row = tried(project, "email", "ana@example.org,refused@example.org,bia@example.org")
    assert (row.state, row.error) == (State.SENT, "")
    assert mails.to == [["ana@example.org"], ["bia@example.org"]]
    assert "a test" in mails.texts[0]
    assert "um teste" in mails.texts[1]


@pytest.mark.parametrize("trouble", ["451 later", ""])
def test_a_mail_server_that_fails_between_languages_sends_nothing_twice(
    project: Project, mails: Mails, trouble: str
) -> None:
    bia = builders.user("bia", email="bia@example.org", language="pt-br")
    mails.answers = ["250 taken", trouble, trouble, "250 taken"]
    row = tried(project, "email", "ana@example.org,bia@example.org,cleo@example.org")
    assert (row.state, mails.to) == (State.WAITING, [["ana@example.org", "cleo@example.org"]])
    assert "example.org" not in str(row.reached)
    assert again(row).state == State.WAITING
    bia.language = "en"  # has changed her mind between two tries
    bia.save()
    row = again(row)
    assert (row.state, row.error, row.tries) == (State.SENT, "", 3)
    assert mails.to[1:] == [["bia@example.org"]]
    assert again(row).tries == 3


def test_e_mail_that_cannot_arrive_says_why(project: Project, mails: Mails, settings: LazySettings) -> None:
    row = tried(project, "email", "refused@example.org")
    assert (row.state, row.error) == (State.FAILED, "550 nobody here")
    settings.EMAIL_PORT = free_port()
    assert tried(project, "email", "ana@example.org").state == State.WAITING
    settings.EMAIL_URL = ""
    row = tried(project, "email", "ben@example.org")
    assert (row.state, row.tries) == (State.FAILED, 1)
    assert "EMAIL_URL" in row.error


def test_a_server_that_fails_is_tried_again_later_and_later(project: Project, posts: Posts) -> None:
    posts.answers = [500, 429, 204]
    row = tried(project, "webhook", posts.url)
    assert (row.state, row.status, row.error) == (State.WAITING, 500, "It answered 500.")
    assert timedelta(seconds=8) < row.next_at - timezone.now() <= timedelta(seconds=10)
    send()
    assert len(posts.bodies) == 1
    row = again(row)
    assert timedelta(seconds=28) < row.next_at - timezone.now() <= timedelta(seconds=30)
    row = again(row)
    assert (row.state, row.status, row.tries, row.error) == (State.SENT, 204, 3, "")
    assert len(set(posts.bodies)) == 1


def test_it_gives_up_in_the_end() -> None:
    waits = [deliveries.wait_after(tries) for tries in range(1, deliveries.TRIES + 1)]
    assert waits[-1] is None
    assert [wait.total_seconds() for wait in waits[:-1] if wait] == [10, 30, 90, 270, 810, 1800, 1800]


@pytest.mark.parametrize("status", [302, 400, 404, 410])
def test_an_answer_that_will_not_change_is_not_tried_again(project: Project, posts: Posts, status: int) -> None:
    posts.answers = [status]
    row = tried(project, "slack", posts.url)
    assert (row.state, row.status, row.tries) == (State.FAILED, status, 1)
    assert len(posts.bodies) == 1


def test_nobody_there_and_no_such_name_are_tried_again(project: Project, posts: Posts) -> None:
    for url in (f"http://127.0.0.1:{free_port()}/", "http://nowhere.invalid/"):
        row = tried(project, "webhook", url)
        assert row.state == State.WAITING
        assert row.error


def test_a_message_is_given_up_in_time(project: Project, posts: Posts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "LIMIT_S", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        row = tried(project, "webhook", f"http://127.0.0.1:{silent.getsockname()[1]}/")
    assert (row.state, row.error) == (State.WAITING, "No answer within 10 seconds.")


def test_one_bad_channel_does_not_keep_the_others_waiting(project: Project, posts: Posts) -> None:
    bad = channels.add(project, "webhook", "http://nowhere.invalid/", "")
    good = channels.add(project, "webhook", posts.url, "")
    for channel in (bad, good, good):
        deliveries.put_test(channel, "ana")
    send()
    assert [row.state for row in good.deliveries.all()] == [State.SENT, State.SENT]


def test_a_sender_that_died_is_followed_by_another(project: Project, posts: Posts) -> None:
    channel = channels.add(project, "webhook", posts.url, "")
    deliveries.put_test(channel, "ana")
    assert len(deliveries.claim(timezone.now())) == 1
    send()
    assert posts.bodies == []
    row = again(Delivery.objects.get())
    assert (row.state, row.tries) == (State.SENT, 2)


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://localhost:8000/", "http://[::1]/", "http://169.254.169.254/latest", "http://0/"],
)
def test_private_addresses_are_refused(project: Project, url: str) -> None:
    row = tried(project, "webhook", url)
    assert (row.state, row.tries) == (State.FAILED, 1)
    assert "private network" in row.error


@pytest.mark.parametrize(
    ("text", "public"),
    [("8.8.8.8", True), ("2606:4700::1111", True), ("10.1.2.3", False), ("172.16.0.1", False), ("192.168.1.1", False),
     ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("255.255.255.255", False), ("fe80::1", False),
     ("fc00::1", False), ("::ffff:8.8.8.8", False), ("64:ff9b::7f00:1", False), ("2002:7f00:1::", False),
     ("ff0e::1", False), ("::", False), ("fec0::1", False)],
)  # fmt: skip
def test_only_the_internet_is_public(text: str, public: bool) -> None:
    assert is_public(ip_address(text)) is public


def test_the_address_that_was_checked_is_the_one_that_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that answers with a private address the second time gains nothing."""
    answers = iter([["93.184.216.34"], ["127.0.0.1"]])

    def resolver(*_args: object, **_more: object) -> list[tuple[object, ...]]:
        return [(2, 1, 6, "", (found, 80)) for found in next(answers)]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    assert address.resolve("rebinding.example", 80) == "93.184.216.34"
    with pytest.raises(Refused, match="private network"):
        address.resolve("rebinding.example", 80)


def test_addresses_and_secrets_are_encrypted_and_only_the_host_is_shown(project: Project) -> None:
    row = channels.add(project, "webhook", "https://hooks.example/T0/secret-path", "hush")
    assert row.shown == "hooks.example/…"
    kept = bytes(Channel.objects.get().address) + bytes(Channel.objects.get().secret)
    assert b"secret-path" not in kept
    assert b"hush" not in kept


def test_a_channel_whose_key_is_gone_says_so(project: Project, settings: LazySettings) -> None:
    channel = channels.add(project, "webhook", "https://hooks.example/", "")
    deliveries.put_test(channel, "ana")
    settings.SECRET_KEY = "another"
    send()
    row = Delivery.objects.get()
    assert row.state == State.FAILED
    assert "SECRET_KEY has changed" in row.error


def test_a_message_that_breaks_the_sender_is_given_up_and_the_others_go(project: Project, posts: Posts) -> None:
    broken = channels.add(project, "slack", posts.url, "")
    Delivery.objects.create(channel=broken, message={"of": "another version"})
    good = tried(project, "webhook", posts.url)
    row = broken.deliveries.get()
    assert (row.state, row.error, good.state) == (State.FAILED, "KeyError", State.SENT)
