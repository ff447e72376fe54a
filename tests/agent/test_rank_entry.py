"""One rank's parent, started as the launcher starts it, without a launcher."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.agent.node import REPO, THEATRE, is_alive
from tests.waiting import until

ENTRY = REPO / "trainer_agent" / "shim" / "rank_entry.py"


def start(folder: Path, *argv: str, rank: int = 1) -> subprocess.Popen[bytes]:
    (folder / "ranks").mkdir(exist_ok=True)
    env = {**os.environ, "RANK": str(rank), "PACELINE_RANK_DIR": str(folder / "ranks")}
    return subprocess.Popen([sys.executable, "-u", str(ENTRY), *argv], env=env, cwd=folder)


def record(folder: Path, what: str, rank: int = 1) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / f"ranks/rank{rank}.{what}.json").read_text())
    return found


def log(folder: Path, rank: int = 1) -> str:
    return (folder / f"ranks/rank{rank}.log").read_text()


def test_an_exit_code_is_recorded_and_passed_on(tmp_path: Path):
    assert start(tmp_path, str(THEATRE / "exits_3.py")).wait(20) == 3
    exited = record(tmp_path, "exited")
    assert (exited["code"], exited["signal"]) == (3, None)
    assert exited["max_rss_kb"] > 1000
    assert log(tmp_path) == "rank 1 gives up\n"


def test_a_death_by_signal_is_recorded_and_died_again(tmp_path: Path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    assert start(tmp_path, "python", "-c", code).wait(20) == -signal.SIGSEGV
    exited = record(tmp_path, "exited")
    assert (exited["code"], exited["signal"]) == (None, signal.SIGSEGV)


@pytest.mark.parametrize(
    ("argv", "code", "says"),
    [
        (["train.py"], 2, "The script {folder}/train.py does not exist on this node.\n"),
        (["python", "-u", "train.py"], 2, "The script {folder}/train.py does not exist on this node.\n"),
        (["no-such-program", "x"], 127, "The program no-such-program was not found on this node.\n"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(tmp_path: Path, argv: list[str], code: int, says: str):
    assert start(tmp_path, *argv).wait(20) == code
    assert log(tmp_path) == says.format(folder=tmp_path)
    assert record(tmp_path, "exited")["code"] == code


def test_modules_programs_and_arguments_start_as_written(tmp_path: Path):
    assert start(tmp_path, "-m", "calendar", "1999", "12").wait(20) == 0
    assert "December 1999" in log(tmp_path)
    assert start(tmp_path, "sh", "-c", 'echo "$0 $RANK"; exit 7', "--flag", rank=2).wait(20) == 7
    assert log(tmp_path, 2) == "--flag 2\n"


def test_a_signal_reaches_the_program_once_and_its_parents_death_ends_it(tmp_path: Path):
    code = (
        "import signal, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: print('asked', flush=True))\n"
        "print('ready', flush=True)\n"
        "while True: time.sleep(0.02)\n"
    )
    entry = start(tmp_path, "python", "-u", "-c", code)
    until(lambda: (tmp_path / "ranks/rank1.log").exists() and "ready\n" in log(tmp_path))
    program = record(tmp_path, "started")["pid"]
    entry.send_signal(signal.SIGTERM)
    until(lambda: "asked\n" in log(tmp_path))
    entry.send_signal(signal.SIGTERM)
    entry.send_signal(signal.SIGKILL)
    entry.wait(10)
    until(lambda: not is_alive(program))
    assert log(tmp_path) == "ready\nasked\n"


def test_nothing_is_started_once_a_stop_was_asked_for(tmp_path: Path):
    (tmp_path / "stop.json").write_text("{}")
    assert start(tmp_path, str(THEATRE / "happy.py")).wait(20) == 128 + signal.SIGTERM
    assert log(tmp_path) == ""


def test_whatever_writes_to_the_descriptors_is_in_the_log_in_its_order(tmp_path: Path):
    code = (
        "import ctypes, os, subprocess, sys\n"
        "print('python')\n"
        "libc = ctypes.CDLL(None); libc.printf(b'printf of C\\n'); libc.fflush(None)\n"
        "os.write(2, b'os.write\\n')\n"
        "subprocess.run(['sh', '-c', 'echo a child; echo its error >&2'])\n"
        "print('last', end=''); sys.stdout.flush(); os.abort()\n"
    )
    assert start(tmp_path, "python", "-u", "-c", code).wait(20) == -signal.SIGABRT
    assert log(tmp_path) == "python\nprintf of C\nos.write\na child\nits error\nlast"


def test_a_daemon_that_a_rank_left_behind_holds_up_nobody_and_is_not_ended_by_us(tmp_path: Path):
    code = (
        "import os, sys, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    for i in range(1000): os.write(1, b'.'); open(f'wrote{i}', 'w').close(); time.sleep(0.01)\n"
        "    os._exit(0)\n"
        "print('x' * 100_000 + 'the end', flush=True)\n"
        "sys.exit(4)\n"
    )
    began = time.monotonic()
    entry = start(tmp_path, "python", "-c", code)
    assert entry.wait(20) == 4
    assert time.monotonic() - began < 8
    assert log(tmp_path).replace(".", "") == "x" * 100_000 + "the end\n"
    (daemon,) = [p for p in Path("/proc").glob("[0-9]*") if is_daemon_of(p, tmp_path)]
    written = len(list(tmp_path.glob("wrote*")))
    until((tmp_path / f"wrote{written + 20}").exists)  # it writes on
    os.kill(int(daemon.name), signal.SIGKILL)


def is_daemon_of(process: Path, folder: Path) -> bool:
    try:
        return (process / "cwd").resolve() == folder and is_alive(int(process.name))
    except OSError:
        return False
