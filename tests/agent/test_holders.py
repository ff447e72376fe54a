"""Who holds a slot that should be free: processes that no kill ended, and strangers on a GPU."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pynvml
import pytest

from tests.agent.test_state import STARTED, after, command
from tests.waiting import until
from trainer_agent.agent import holders, procs
from trainer_agent.agent.daemon import Daemon
from trainer_agent.agent.gpu import GpuProcess, Gpus
from trainer_agent.agent.identity import Identity
from trainer_agent.agent.leftovers import Leftovers
from trainer_agent.agent.state import Phase


def survivor_of(process: subprocess.Popen[bytes]) -> dict[str, object]:
    found = procs.look_up(process.pid)
    assert found is not None
    return {"pid": process.pid, "name": "sleep", "state": "D", "start_time": found.start_time}


def test_a_survivor_is_named_until_it_is_gone_also_by_an_agent_that_starts_anew(tmp_path: Path):
    process = subprocess.Popen(["sleep", "300"])
    left = Leftovers(tmp_path / "survivors.json")
    try:
        left.note(7, [survivor_of(process)])
        assert [s.pid for s in left.living()[7]] == [process.pid]
        again = Leftovers(tmp_path / "survivors.json")
        assert holders.sentence(again.living(), []) == f"sleep (pid {process.pid}) of an ended run cannot be ended"
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert again.living() == {}
    left.note(7, [{"pid": process.pid, "name": "sleep"}])
    assert left.living() == {}
    assert holders.sentence({}, []) == ""


def test_a_number_that_another_process_got_later_is_no_survivor(tmp_path: Path):
    left = Leftovers(tmp_path / "survivors.json")
    left.note(7, [{"pid": os.getpid(), "name": "python", "start_time": 1}])
    assert left.living() == {}
    left.note(8, [{"pid": os.getpid(), "name": "python"}])  # a shim of an earlier release tells no start
    assert list(left.living()) == [8]


def test_survivors_of_an_earlier_boot_are_forgotten(tmp_path: Path):
    told = f'{{"boot_id": "earlier", "attempts": {{"7": [{{"pid": {os.getpid()}, "name": "x", "start_time": 1}}]}}}}'
    (tmp_path / "survivors.json").write_text(told)
    assert Leftovers(tmp_path / "survivors.json").living() == {}


def test_a_stranger_on_a_gpu_is_named_with_its_slot_and_memory(monkeypatch: pytest.MonkeyPatch):
    process = subprocess.Popen(["sleep", "300"])
    running = {
        0: [SimpleNamespace(pid=4, usedGpuMemory=1)],
        2: [
            SimpleNamespace(pid=process.pid, usedGpuMemory=11_200_000_000),
            SimpleNamespace(pid=2**22 + 1, usedGpuMemory=None),
        ],
    }

    def of(index: int) -> list[SimpleNamespace]:
        if index == 1:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
        return running[index]

    monkeypatch.setattr(pynvml, "nvmlInit", lambda: None)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetCount", lambda: 3)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetHandleByIndex", lambda index: index)
    monkeypatch.setattr(pynvml, "nvmlDeviceGetComputeRunningProcesses", of)
    try:
        until(lambda: procs.name_of(process.pid) == "sleep")
        found = holders.strangers(Gpus().processes(), ours={0})
    finally:
        process.kill()
        process.wait()
    assert holders.sentence({}, found) == (
        f"slot 2 is held by sleep (pid {process.pid}), 11.2 GB; slot 2 is held by a process (pid {2**22 + 1})"
    )
    assert holders.strangers([GpuProcess(0, 4, "", 1)], ours={0}) == []


def test_an_attempt_is_held_until_its_last_process_is_gone_and_the_end_waits_for_its_gpus(tmp_path: Path):
    process = subprocess.Popen(["sleep", "300"])
    daemon = Daemon(
        tmp_path,
        Identity(
            node="n-1",
            name="n",
            token="t",
            redis_url="redis://127.0.0.1:1",
            url="http://127.0.0.1:1",
            cpu_slots=1,
            python=sys.executable,
        ),
    )
    runner = daemon._add(7, msgspec.structs.replace(command(), slots=[3]))
    runner.state = after(*STARTED)
    runner.state.command = msgspec.structs.replace(command(), slots=[3])
    daemon.sampler.gpu_processes = [GpuProcess(3, 2**22 + 1, "", 1), GpuProcess(5, os.getpid(), "python", 1)]
    (runner.folder / "exit.json").write_text(json.dumps({"launcher_code": 1, "survivors": [survivor_of(process)]}))
    try:
        daemon._round()
        daemon._round()
        assert runner.state.phase is Phase.DRAINING  # a dead process still holds memory of slot 3
        daemon.sampler.gpu_processes = []

        def over() -> bool:
            daemon._round()
            runner.spool.acknowledge(runner.spool.last_seq)
            return not daemon.runners

        until(over)
        held, dirty = daemon._held()
        assert [(alive.attempt, alive.ranks, alive.shim) for alive in held] == [(7, [], False)]
        assert f"sleep (pid {process.pid})" in dirty
    finally:
        process.kill()
        process.wait()
    assert daemon._held() == ([], "")
