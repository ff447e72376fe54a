"""nodes, drain and undrain at the command line."""

import json
import threading

from tests import builders
from tests.cli.conftest import Cli
from tests.waiting import until
from webapp.accounts.models import ApiToken
from webapp.nodes.models import Node, Slot


def admin() -> dict[str, str]:
    return {"PACELINE_TOKEN": ApiToken.issue(builders.user("root", is_superuser=True), "cli")[1]}


def test_nodes_are_listed_with_their_state_and_what_holds_them(cli: Cli) -> None:
    Node.objects.filter(name="gpu-b").update(vitals={"dirty": "slot 1 is held by python (pid 12), 3.0 GB"})
    done = cli("nodes")
    lines = done.stdout.decode().splitlines()
    assert lines[0].split() == ["NODE", "STATE", "FREE", "SLOTS", "DEVICE", "RUNS", "HEARD", "AGENT"]
    assert lines[1].split()[:4] == ["gpu-a", "ready", "2", "2"]
    assert lines[2].split()[:2] == ["gpu-b", "dirty"]
    assert "gpu-b: Nothing new starts here until it is clean: slot 1 is held by python" in done.stderr.decode()
    assert [node["state"] for node in json.loads(cli("nodes", "--json").stdout)] == ["ready", "dirty"]


def test_drain_waits_until_nothing_runs_there_and_undrain_takes_it_back(cli: Cli) -> None:
    root = admin()
    attempt = builders.running_attempt(nodes=1, ranks_per_node=1)
    Slot.objects.filter(node__name="gpu-a", index=0).update(attempt=attempt)
    early = cli("drain", "gpu-a", "--wait", "--timeout", "0.1", **root)
    assert early.returncode == 124
    assert early.stderr.decode() == "paceline: gpu-a is still draining after 0.1 s.\n"
    done = []
    waiting = threading.Thread(target=lambda: done.append(cli("drain", "gpu-a", "--wait", **root)))
    waiting.start()
    until(lambda: Node.objects.get(name="gpu-a").draining)
    assert waiting.is_alive()
    Slot.objects.update(attempt=None)
    waiting.join(30)
    assert done[0].returncode == 0
    assert done[0].stdout.decode() == "gpu-a: Drained: nothing runs here, safe to switch off.\n"
    again = cli("undrain", "gpu-a", **root)
    assert again.stdout.decode() == "gpu-a takes runs again.\n"
    assert not Node.objects.get(name="gpu-a").draining


def test_who_may_not_drain_and_what_is_not_there_get_a_clear_sentence(cli: Cli) -> None:
    refused = cli("drain", "gpu-a")
    assert refused.returncode == 1
    assert refused.stderr.decode() == "paceline: Only an administrator of the site may change nodes.\n"
    unknown = cli("drain", "gpu-z", **admin())
    assert unknown.returncode == 1
    assert unknown.stderr.decode() == "paceline: There is no node “gpu-z”.\n"
    assert not Node.objects.filter(draining=True).exists()
