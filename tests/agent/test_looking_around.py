"""Inventory, samples, environment, last words: what the agent finds out by looking."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import msgspec
import pynvml
import pytest
import redis

from tests.agent.test_state import command
from trainer_agent.agent import gpu, identity, inventory
from trainer_agent.agent.environment import Folders, rank_environment
from trainer_agent.agent.errors import JoinRefused, NoIdentity
from trainer_agent.agent.gpu import Gpus, within
from trainer_agent.agent.heartbeat import measure_clock
from trainer_agent.agent.join import join
from trainer_agent.agent.last_words import last_words, says_port_in_use
from trainer_agent.agent.sample import Sample, Sampler, Subject

FOLDERS = Folders(ranks=Path("/r"), rings=Path("/g"), checkpoints=Path("/c"))


def test_the_inventory_names_this_machine_and_the_training_interpreters_torch():
    found = inventory.take(python=sys.executable, cpu_slots=3, server_url="http://127.0.0.1:1", gpus=Gpus())
    assert [slot.kind for slot in found.slots] == ["cpu"] * 3
    assert found.torch.startswith("2.")
    assert found.address == "127.0.0.1"
    assert found.cpus == os.cpu_count()
    assert len(found.boot_id) == 36
    assert inventory.training_versions("/no/python") == {}


@pytest.mark.parametrize("answer", [0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)])
def test_a_counter_that_the_device_does_not_have_is_none(answer: object):
    def call() -> object:
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert gpu._number(call) is None
    assert within(101.0, 0, 100) is None
    assert within(None, 0, 100) is None
    assert within(99.0, 0, 100) == 99.0


def test_a_rank_is_sampled_with_its_children(tmp_path: Path):
    burn = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'while True: pass'])"
    parent = subprocess.Popen([sys.executable, "-c", burn], start_new_session=True)
    got: list[Sample] = []
    subject = Subject(
        key=1, node_rank=2, ranks={5: parent.pid}, first_rank=5, slots=[], over_loopback=True, take=got.extend
    )
    sampler = Sampler(Gpus(), 1, lambda: [subject])
    try:
        deadline = time.monotonic() + 10
        while not any(s.metric == "rank/cpu" and s.value > 20 for s in got) and time.monotonic() < deadline:
            sampler.look()
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
    metrics = {s.metric: s for s in got}
    assert metrics["rank/cpu"].value > 20
    assert metrics["rank/cpu"].rank == 5
    assert metrics["rank/rss"].value > 1_000_000
    assert metrics["node/cpu"].rank == 2
    assert {"node/memory", "node/net_rx", "node/net_tx", "node/retransmits"} <= set(metrics)


def test_the_ranks_environment_is_the_machines_the_users_and_ours_and_no_secret_of_the_agent():
    inherited = {
        "PATH": "/bin",
        "CUDA_HOME": "/cuda",
        "RANK": "9",
        "SECRET_KEY": "s",
        "REDIS_URL": "s",
        "PACELINE_TOKEN": "s",
        "TORCHELASTIC_RUN_ID": "1",
    }
    start = msgspec.structs.replace(command(), env={"A": "1", "PYTHONPATH": "/mine"}, slots=[2, 3], deep=True)
    env = rank_environment(start, node="n", folders=FOLDERS, gpus=True, inherited=inherited)
    assert env["PATH"] == "/bin"
    assert env["CUDA_HOME"] == "/cuda"
    assert env["A"] == "1"
    assert env["CUDA_VISIBLE_DEVICES"] == "2,3"
    assert env["PYTHONPATH"].endswith("/trainer_agent/inject:/mine")
    assert env["PACELINE_MARK"] == "n/7"
    assert env["PACELINE_DEEP"] == "1"
    assert env["TORCH_FR_BUFFER_SIZE"] == "256"
    assert "s" not in env.values()
    assert not any(name in env for name in ("RANK", "TORCHELASTIC_RUN_ID"))
    remote = msgspec.structs.replace(command(), master_addr="10.0.0.7", slots=[0])
    env = rank_environment(remote, node="n", folders=FOLDERS, gpus=False, inherited={})
    assert "GLOO_SOCKET_IFNAME" not in env
    assert "CUDA_VISIBLE_DEVICES" not in env


def test_last_words_are_the_last_traceback_with_what_caused_it():
    plain = "\n".join(f"line {i}" for i in range(100))
    assert last_words(plain).splitlines()[0] == "line 80"
    first = "Traceback (most recent call last):\n  a\nKeyError: 1"
    chained = f"{first}\n\nDuring handling of the above exception, another exception occurred:\n\n{first}"
    assert last_words(f"{first}\nmore\n{chained}") == chained
    assert last_words(f"{first}\nmore\n{first}\ntrailer") == f"{first}\ntrailer"
    assert says_port_in_use("EADDRINUSE, port: 29500")


def test_the_clocks_offset_is_measured_with_its_error(redis_client: redis.Redis):
    clock = measure_clock(redis_client)
    assert abs(clock.offset) <= clock.error + 0.01
    assert 0 < clock.error < 1


def test_a_home_without_a_node_and_a_server_that_is_not_there_say_so(tmp_path: Path):
    with pytest.raises(NoIdentity, match="paceline join"):
        identity.load(tmp_path)
    with pytest.raises(JoinRefused, match="cannot be reached"):
        join(tmp_path, "http://127.0.0.1:1", "t", slots=1)
    with pytest.raises(JoinRefused, match="no http"):
        join(tmp_path, "ftp://x", "t", slots=1)
    assert not identity.path(tmp_path).exists()
