"""What says that a rank was ended for want of memory."""

import signal

import pytest

from trainer_agent.agent.kernel_log import killed, killed_in
from trainer_agent.agent.memory_kill import Kills, evidence

LOG = [
    (10.0, "Out of memory: Killed process 41 (python) total-vm:9kB, anon-rss:9kB"),
    (50.5, "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/a,task=python,pid=42,uid=0"),
    (50.6, "Memory cgroup out of memory: Killed process 43 (pt_data_worker) total-vm:9kB"),
    (60.0, "usb 1-1: new device"),
]
LOADER = "RuntimeError: DataLoader worker (pid 43) is killed by signal: Killed."
LOADERS = "RuntimeError: DataLoader worker (pid(s) 7, 43) exited unexpectedly"
KILL = int(signal.SIGKILL)


def test_the_kernels_log_names_the_processes_that_it_killed_since_the_rank_began():
    assert killed_in(LOG, since=0) == {41, 42, 43}
    assert killed_in(LOG, since=50) == {42, 43}
    found = killed(since=0)
    assert found is None or isinstance(found, set)  # whether this machine shows its log or not


@pytest.mark.parametrize(
    ("text", "signal_number", "pid", "kills", "word"),
    [
        ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB", None, 42, (0, 0, None), "cuda"),
        ("", KILL, 42, (0, 1, {42}), "kernel_log"),
        ("", KILL, 42, (1, 1, {42, 9}), "kernel_log"),
        ("", KILL, 44, (1, 1, {42}), ""),  # a peer that our own stop killed
        ("", KILL, 42, (1, 1, None), "cgroup"),
        ("", KILL, 42, (1, 1, set()), "cgroup"),
        ("", KILL, 42, (0, 1, None), "kernel_count"),
        ("", KILL, 42, (0, 1, set()), ""),
        ("", KILL, 42, (0, 0, None), ""),
        ("ValueError: x", None, 42, (1, 1, {42}), ""),
        (LOADER, None, 42, (0, 1, {43}), "kernel_log"),
        (LOADERS, None, 42, (0, 1, {43}), "kernel_log"),
        (LOADERS, None, 42, (0, 0, set()), ""),
        ("", int(signal.SIGSEGV), 42, (1, 1, None), ""),
    ],
)
def test_a_kill_counts_as_want_of_memory_only_with_evidence(text, signal_number, pid, kills, word):
    group, machine, named = kills
    assert evidence(text, signal_number, pid, Kills(group, machine, lambda: named)) == word
