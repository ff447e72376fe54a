"""Whatever a launch leaves behind is found and ended, by each of the ways in which a process can be known."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.agent.node import REPO, is_alive
from tests.agent.shims import Start, ended, run
from tests.waiting import until
from trainer_agent.shim import cgroup, tree

# Starts `sleep` in a session of its own, with an emptied environment and a parent that is gone at once.
HIDES = "env -i setsid sh -c 'sleep 300 >/dev/null 2>&1 & echo $!'"
LOADERS = f"""
import multiprocessing, os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid())
for way in ("fork", "spawn"):
    worker = multiprocessing.get_context(way).Process(target=time.sleep, args=(300,))
    worker.start()
    print(worker.pid)
if not os.fork():
    os.setsid()
    if not os.fork():
        print(os.getpid(), flush=True)
        time.sleep(300)
    os._exit(0)
os.wait()
subprocess.run({HIDES!r}, shell=True)
if not os.fork():
    os._exit(0)  # a zombie: nobody waits for it
print("ready", flush=True)
time.sleep(300)
"""


def test_a_stubborn_rank_its_loaders_a_daemon_a_zombie_and_what_hides_are_all_gone_before_the_end(
    tmp_path: Path, start: Start
):
    script = tmp_path / "rank.py"
    script.write_text(f"if __name__ == '__main__':\n    exec({LOADERS!r})")
    shim = start(sys.executable, "-u", str(script))
    log = tmp_path / "launcher.log"
    until(lambda: "ready" in log.read_text())
    pids = [int(line) for line in log.read_text().split() if line.isdigit()]
    assert len(pids) == 5
    assert all(map(is_alive, pids))
    (tmp_path / "stop.json").write_text(json.dumps({"signal": "SIGTERM", "grace": 0, "reason": "user"}))
    found = ended(tmp_path)
    assert (found["reason"], found["survivors"]) == ("user", [])
    assert not any(map(is_alive, pids))
    until(lambda: tree.look_up(shim["pid"]) is None or not is_alive(shim["pid"]))
    assert not shim["cgroup"] or not os.path.exists(shim["cgroup"])


def test_without_a_control_group_what_hides_is_found_because_the_shim_adopts_it():
    look = f"""
import os, subprocess, sys
sys.path.insert(0, {str(REPO)!r})
from trainer_agent.shim import shim, tree
shim._become_subreaper()
hidden = int(subprocess.run({HIDES!r}, shell=True, stdout=subprocess.PIPE).stdout)
print([p.pid for p in tree.members(os.getpid(), "none")] == [hidden], tree.end_tree(os.getpid(), "none"), hidden)
"""
    said = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, timeout=30, check=True).stdout
    known, survivors, hidden = said.split()
    assert (known, survivors) == ("True", "[]")
    assert not is_alive(int(hidden))


def test_after_the_loss_of_the_shim_a_control_group_still_knows_what_hides(tmp_path: Path, start: Start):
    shim = start("sh", "-c", f"{HIDES}; sleep 300")
    hidden = int(until((tmp_path / "launcher.log").read_text))
    os.kill(shim["pid"], signal.SIGKILL)
    assert run(tmp_path, "clean") == 0
    found_out = bool(shim["cgroup"])  # a machine that lets us have no group leaves nothing to know it by
    assert is_alive(hidden) is not found_out
    assert not os.path.exists(shim["cgroup"])
    with contextlib.suppress(ProcessLookupError):
        os.kill(hidden, signal.SIGKILL)


def test_where_no_control_group_can_be_had_everything_else_goes_on():
    assert cgroup.members("") == []
    assert cgroup.oom_kills("/no/such/group") == 0
    assert cgroup.remove("")
    cgroup.kill("")
    cgroup.enter("")
    cgroup.enter("/no/such/group")
    assert "/paceline-n-1-7" in (cgroup.create("n-1/7") or "/paceline-n-1-7")
    assert cgroup.remove(f"{cgroup.own_folder()}/paceline-n-1-7")


def test_the_kernels_count_of_processes_killed_for_memory_is_read_from_the_group(tmp_path: Path):
    (tmp_path / "memory.events").write_text("low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\noom_group_kill 0\n")
    assert cgroup.oom_kills(str(tmp_path)) == 2
