"""Three real agents, each behind a cable of its own, are checked: the one bad link is red, the others are in line."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
from django.utils import timezone
from pytest_django.live_server_helper import LiveServer

from tests import builders
from tests.lab.network import Network
from tests.lab.owner import Owner, sweep
from tests.waiting import until
from trainer_agent.agent import identity
from trainer_agent.wire import names
from webapp.accounts.models import hash_token
from webapp.nodes import heartbeats
from webapp.nodes.models import Node
from webapp.preflight import lifecycle, words
from webapp.preflight.models import Check
from webapp.preflight.read import verdict_of
from workers.dispatch import send_commands

pytestmark = [pytest.mark.lab, pytest.mark.timeout(300), pytest.mark.django_db(transaction=True)]
REPO = Path(__file__).resolve().parent.parent.parent
SERVED_AGAIN = ("bind", "protected-mode")


@pytest.fixture
def network(redis_client: redis.Redis) -> Iterator[Network]:
    """Every card carries 200 Mbit/s: little enough for any processor to keep up with."""
    sweep()
    owner = Owner()
    made = Network(owner.prefix, 3)
    made.begin()
    before = {name: redis_client.config_get(name)[name] for name in SERVED_AGAIN}
    redis_client.config_set("protected-mode", "no")
    redis_client.config_set("bind", f"127.0.0.1 {made.server}")
    for node in range(3):
        made.cap(node, 200)
    yield made
    for name, value in before.items():
        redis_client.config_set(name, value or "")
    made.end()
    owner.end()


@pytest.fixture
def nodes(
    network: Network, redis_client: redis.Redis, redis_server: str, tmp_path: Path, settings: Any
) -> Iterator[list[Node]]:
    """A running agent in each namespace, heard by the server."""
    settings.ALLOWED_HOSTS = [network.server]
    server = LiveServer(network.server)
    agents = [_agent(network, k, redis_client, redis_server, server.url, tmp_path / f"lab-{k}") for k in range(3)]

    def all_know() -> bool:
        heartbeats.read(timezone.now())
        return all("check" in node.inventory.get("knows", ()) for node in Node.objects.all())

    until(all_know, 60)
    yield list(Node.objects.order_by("name"))
    for agent in agents:
        agent.terminate()
        agent.wait(15)
    server.stop()


def _agent(
    network: Network, k: int, client: redis.Redis, redis_url: str, url: str, home: Path
) -> "subprocess.Popen[bytes]":
    row = builders.node(f"lab-{k}", token_hash=hash_token(f"token-{k}"), address=network.address(k))
    client.execute_command("ACL", "SETUSER", row.uid, *names.agent_acl(row.uid, redis7=True), ">secret")
    own = f"redis://{row.uid}:secret@{network.server}:{urlsplit(redis_url).port}/0"
    told: dict[str, Any] = {"redis_url": own, "url": url, "cpu_slots": 1, "python": sys.executable}
    identity.save(home, identity.Identity(node=row.uid, name=row.name, token=f"token-{k}", **told))
    command = [
        "ip",
        "netns",
        "exec",
        network.space(k),
        sys.executable,
        "-m",
        "trainer_agent.agent",
        "--home",
        str(home),
    ]
    with (home / "agent.log").open("wb") as log:
        return subprocess.Popen(command, cwd=REPO, stdout=log, stderr=log)


def checked(nodes: list[Node]) -> Check:
    """A check in which every link was measured: a node that misses its turn on a busy machine is asked again."""

    def is_whole() -> Check | None:
        check = _done(lifecycle.begin(nodes, by="ana"))
        return check if len(verdict_of(check)[1].cells) == 6 and not _absent(check) else None

    found = until(is_whole, 90)
    assert found is not None
    return found


def _done(check: Check) -> Check:
    """The check, once all has been asked and answered, however long that takes here."""

    def is_done() -> bool:
        later = timezone.now() + timedelta(hours=1)
        Check.objects.filter(pk=check.pk).exclude(stage="done").update(stage_until=later)
        send_commands()
        check.refresh_from_db()
        return check.stage == "done"

    until(is_done, 90)
    return check


def _absent(check: Check) -> bool:
    return any(f["kind"] in ("silent", "unmeasured", "unreachable", "too_old") for f in check.findings)


def test_one_capped_direction_is_red_and_named_and_the_others_are_in_line(network, nodes) -> None:
    network.cap_link(2, 0, 15)
    check = checked(nodes)
    bad = [f for f in check.findings if f["kind"].startswith(("link_", "node_"))]
    assert [(f["level"], f["kind"], f["nodes"]) for f in bad] == [("red", "link_slow", ["lab-2", "lab-0"])], (
        check.findings
    )
    assert words.sentence(bad[0]).startswith("lab-2 to lab-0 carries ")
    cells = verdict_of(check)[1].cells
    assert len(cells) == 6
    assert [pair for pair, cell in cells.items() if cell.level != "green"] == [(2, 0)]
