"""Logging while there is no server and no agent: no wait, no error, no network, and all of it is there later."""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.agent.test_collecting import batches, outbox
from tests.rank.launch import INJECT
from trainer_agent.rank.step_ring import StepRing
from trainer_agent.wire import record

NO_NETWORK = """
import socket, sys
connect = socket.socket.connect
def own_machine_only(self, address):
    return connect(self, address) if self.family == socket.AF_UNIX else sys.exit("went to the network")
socket.socket.connect = own_machine_only
"""


def start(rings: Path, script: str, rank: int = 0) -> "subprocess.Popen[str]":
    env = {"PACELINE_RING_DIR": str(rings), "RANK": str(rank), "PYTHONPATH": str(INJECT), "PATH": os.environ["PATH"]}
    whole = f"{NO_NETWORK}import paceline\n{script}"
    return subprocess.Popen([sys.executable, "-c", whole], env=env, text=True, stderr=subprocess.PIPE)


def ended(process: "subprocess.Popen[str]") -> tuple[int, str]:
    _, error = process.communicate(timeout=30)
    return process.returncode, error


def logged(rings: Path) -> dict[str, int]:
    """What an agent that comes later finds: key -> how many values."""
    box = outbox(rings)
    while box.flush({}):
        pass
    found: dict[str, int] = {}
    for batch in batches(box):
        for part in batch.values:
            found[part.key] = found.get(part.key, 0) + part.n
    box.close()
    return found


def test_a_script_ends_at_once_with_its_own_code_and_its_data_arrives_later(tmp_path: Path):
    script = (
        "import os, time\nfor i in range(2000): paceline.log({'loss': i}, step=i)\nopen('t', 'w').close()\nexit(5)\n"
    )
    process = start(tmp_path, script.replace("'t'", repr(str(tmp_path / "done"))))
    assert ended(process) == (5, "")
    assert time.time() - (tmp_path / "done").stat().st_mtime < 2.0
    assert logged(tmp_path) == {"loss": 2000}


def test_ranks_that_log_different_keys_do_not_wait_for_each_other(tmp_path: Path):
    scripts = [
        "for i in range(200): paceline.log({f'rank0/{i % 7}': i, 'loss': i}, step=i)\n",
        "for i in range(0, 200, 10): paceline.log({'loss': i, 'only here': i}, step=i)\n",
    ]
    processes = [start(tmp_path, script, rank) for rank, script in enumerate(scripts)]
    assert [ended(process) for process in processes] == [(0, ""), (0, "")]
    found = logged(tmp_path)
    assert (found["loss"], found["only here"]) == (220, 20)
    assert sum(n for key, n in found.items() if key.startswith("rank0/")) == 200


def test_children_that_are_forked_spawned_or_run_log_and_end_without_a_wait(tmp_path: Path):
    script = (
        "import multiprocessing, os, subprocess, sys\n"
        "def child(): paceline.log({'from a child': 1}, step=1)\n"
        "if __name__ == '__main__':\n"
        "    paceline.log({'before': 1}, step=0)\n"
        "    made = [multiprocessing.get_context(how).Process(target=paceline.log, args=({'c': 1}, 1))\n"
        "            for how in ('fork', 'spawn', 'forkserver')]\n"
        "    for one in made: one.start()\n"
        "    for one in made: one.join(20)\n"
        "    ran = subprocess.run([sys.executable, '-c', 'import paceline; paceline.log({\"s\": 1}, step=1)'])\n"
        "    paceline.log({'after': 1}, step=2)\n"
        "    sys.exit([one.exitcode for one in made] + [ran.returncode] != [0] * 4)\n"
    )
    assert ended(start(tmp_path, script)) == (0, "")
    found = logged(tmp_path)
    assert (found["before"], found["after"]) == (1, 1)


def test_a_thousand_keys_are_all_told(tmp_path: Path):
    script = "for i in range(3): paceline.log({f'layer{k}/grad': k for k in range(1000)}, step=i)\n"
    assert ended(start(tmp_path, script)) == (0, "")
    found = logged(tmp_path)
    assert len(found) == 1000
    assert set(found.values()) == {3}


def test_a_ring_that_nobody_reads_costs_no_more_than_one_that_is_read(tmp_path: Path):
    ring = StepRing(record.ring_path(str(tmp_path), 0, "steps"), 256, 0)
    took = []
    for step in range(4_000):
        began = time.perf_counter()
        ring.put_step(step, 1.0, [100, 10, 20, 30, 5, 5, 30, record.MISSING_US], nbytes=0, buckets=0, flags=0)
        took.append(time.perf_counter() - began)
    first_lap, unread = statistics.median(took[:256]), statistics.median(took[512:])
    assert unread < 3 * first_lap + 5e-6
