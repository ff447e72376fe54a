import subprocess
import sys
from collections.abc import Iterator

import pytest

from benchmarks.product import REPO
from tests.lab.commands import run
from tests.lab.owner import sweep

pytestmark = pytest.mark.lab

# A lab without the product, held until its input ends.
LAB = """
import sys
from tests.lab.network import Network
from tests.lab.owner import Owner
owner = Owner()
network = Network(owner.prefix, 2)
network.begin()
print("ready", flush=True)
sys.stdin.read()
network.end()
owner.end()
"""


@pytest.fixture
def held() -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-c", LAB], cwd=REPO, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    yield process
    process.kill()
    process.communicate()
    sweep()


def named(pid: int) -> list[str]:
    everything = run("ip netns list") + run("ip -o link show")
    return [line for line in everything.splitlines() if f"plab{pid}" in line]


def test_a_lab_takes_everything_away_when_it_ends(held) -> None:
    assert len(named(held.pid)) == 5  # two namespaces, a bridge, two cables
    held.communicate()
    assert named(held.pid) == []


def test_what_a_killed_lab_left_is_swept_by_the_next_one_and_a_living_lab_is_left_alone(held) -> None:
    assert held.pid not in sweep()
    assert len(named(held.pid)) == 5
    held.kill()
    held.wait()
    assert held.pid in sweep()
    assert named(held.pid) == []
