"""The shim with a launcher that is quick to start: any program will do."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from tests.agent.node import REPO, is_alive
from tests.agent.shims import Start, ended, run
from tests.waiting import until

DAEMON = "import subprocess, sys; print(subprocess.Popen(['sleep', '300'], start_new_session=True).pid, flush=True)"


def test_it_outlives_the_one_who_started_it_and_records_the_end(tmp_path: Path, start: Start):
    shim = start("sh", "-c", "echo said; exit 4")
    found = ended(tmp_path)
    assert (found["launcher_code"], found["launcher_signal"], found["reason"]) == (4, None, "exited")
    assert found["survivors"] == []
    assert (tmp_path / "launcher.log").read_text() == "said\n"
    assert not (tmp_path / "plan.json").exists()
    until(lambda: not is_alive(shim["pid"]))


def test_what_the_launcher_leaves_behind_is_gone_before_the_end_is_recorded(tmp_path: Path, start: Start):
    start(sys.executable, "-c", DAEMON)
    found = ended(tmp_path)
    assert found["launcher_code"] == 0
    assert not is_alive(int((tmp_path / "launcher.log").read_text()))


def test_a_child_that_hides_its_environment_is_found_because_it_descends_from_the_shim(tmp_path: Path, start: Start):
    start("sh", "-c", "env -i setsid sleep 300 & echo $!")
    ended(tmp_path)
    assert not is_alive(int((tmp_path / "launcher.log").read_text()))


def test_the_time_limit_stops_it(tmp_path: Path, start: Start):
    start("sleep", "300", timeout=0.2)
    assert ended(tmp_path)["reason"] == "limit"


def test_a_signal_to_the_shim_is_a_stop_with_its_own_reason(tmp_path: Path, start: Start):
    shim = start("sleep", "300")
    os.kill(shim["pid"], signal.SIGTERM)
    found = ended(tmp_path)
    assert found["reason"] == "shim_signalled"
    assert not is_alive(shim["launcher"])


def test_a_second_start_of_the_same_launch_is_none(tmp_path: Path, start: Start):
    first = start("sleep", "300")
    second = start("sleep", "300")
    assert second == first
    (tmp_path / "stop.json").write_text(json.dumps({"signal": "SIGTERM", "grace": 0}))
    ended(tmp_path)


def test_cleaning_up_after_a_lost_shim_finds_its_tree_by_the_mark(tmp_path: Path, start: Start):
    shim = start(sys.executable, "-c", f"{DAEMON}; import time; time.sleep(300)")
    hidden = int(until((tmp_path / "launcher.log").read_text))
    os.kill(shim["pid"], signal.SIGKILL)
    assert run(tmp_path, "clean") == 0
    found = ended(tmp_path)
    assert (found["reason"], found["survivors"]) == ("shim_lost", [])
    assert not is_alive(shim["launcher"])
    assert not is_alive(hidden)


def test_process_ids_of_an_earlier_boot_are_left_alone(tmp_path: Path):
    (tmp_path / "shim.json").write_text(json.dumps({"pid": os.getpid(), "boot_id": "earlier", "mark": "n/1"}))
    assert run(tmp_path, "clean") == 0
    assert ended(tmp_path)["reason"] == "node_rebooted"


def test_a_launcher_that_cannot_be_started_says_so(tmp_path: Path, start: Start):
    start("/no/such/python")
    assert ended(tmp_path)["launcher_code"] == 127
    assert (tmp_path / "launcher.log").read_text().startswith("/no/such/python could not be started")


# A start that nobody waits for any more: the reading end of the pipe that tells of it is closed.
GIVEN_UP = """
import os, sys
from trainer_agent.shim.files import read_json
from trainer_agent.shim.shim import Shim
ready, tell = os.pipe()
os.close(ready)
Shim(sys.argv[1], read_json(sys.argv[1] + "/plan.json")).hold(tell)
"""


def test_a_launch_that_the_agent_has_given_up_is_ended_at_once(tmp_path: Path):
    mark = f"n-shim/{tmp_path.name}"
    plan = {"argv": ["sleep", "300"], "cwd": str(tmp_path), "mark": mark, "signal": "SIGTERM", "grace": 0.2}
    (tmp_path / "plan.json").write_text(json.dumps({**plan, "env": {**os.environ, "PACELINE_MARK": mark}}))
    subprocess.run([sys.executable, "-c", GIVEN_UP, str(tmp_path)], cwd=REPO, timeout=30, check=True)
    assert ended(tmp_path)["reason"] == "shim_signalled"
    assert not is_alive(json.loads((tmp_path / "shim.json").read_text())["launcher"])
