"""Checking nodes at the command line."""

import json

from tests.cli.conftest import Cli
from webapp.nodes.models import Node
from webapp.runs.models import Run


def test_a_check_prints_its_sentence_what_to_do_and_fails_only_when_something_is_bad(cli: Cli) -> None:
    done = cli("preflight", "gpu-a", "gpu-b")
    assert done.returncode == 0
    first, second = done.stdout.decode().splitlines()[:2]
    assert first == "The agent on gpu-a is too old to be checked. And 1 more."
    assert second.endswith("Install the newest agent there and restart it.")
    Node.objects.filter(name="gpu-a").update(address="10.0.0.1")
    bad = cli("preflight", "--json")
    assert bad.returncode == 1
    assert (json.loads(bad.stdout)["level"], json.loads(bad.stdout)["nodes"]) == ("red", ["gpu-a", "gpu-b"])
    unknown = cli("preflight", "gpu-z")
    assert (unknown.returncode, "There is no node “gpu-z”." in unknown.stderr.decode()) == (1, True)


def test_submit_asks_for_a_check_before_the_start(cli: Cli) -> None:
    done = cli("submit", "--project", "demo", "--preflight", "--", "/srv/train.py")
    assert Run.objects.get(uid=done.stdout.decode().strip()).spec["preflight"] is True
