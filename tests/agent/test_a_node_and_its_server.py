"""The agent against the product's own web server and rows: joining, beating, being refused."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
import redis

from tests.agent.node import REPO, AgentProcess, Server
from tests.server import web_server
from tests.waiting import until
from trainer_agent.agent import identity
from trainer_agent.agent.errors import JoinRefused
from trainer_agent.agent.join import join
from trainer_agent.wire import codec, names
from webapp.nodes.enrol import issue_join_token
from webapp.nodes.models import Node


@pytest.mark.django_db(transaction=True)
def test_a_machine_joins_once_and_beats_with_a_redis_user_of_its_own(tmp_path: Path, redis_client: redis.Redis):
    token = issue_join_token(None)
    with web_server() as url:
        command = [sys.executable, "-m", "trainer_agent.cli", "join", url, "--name", "box", "--slots", "3"]
        agent = subprocess.Popen(
            [*command, "--home", str(tmp_path)],
            cwd=REPO,
            env={**os.environ, "PACELINE_JOIN_TOKEN": token},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            assert agent.stdout is not None
            assert agent.stdout.readline() == b"Joined: this machine is node box.\n"
            node = Node.objects.get(name="box")
            body = until(lambda: redis_client.get(names.heartbeat(node.uid)))
        finally:
            agent.terminate()
            agent.communicate(timeout=15)
        with pytest.raises(JoinRefused, match=r"\w+ \w+"):
            join(tmp_path / "other", url, token, slots=1)
    assert isinstance(body, bytes)
    beat = codec.decode_heartbeat(body)
    assert beat.node == node.uid
    assert len(beat.inventory.slots) == 3
    assert beat.clock_error is not None
    assert beat.attempts == []
    assert agent.returncode == 0
    known = identity.load(tmp_path)
    assert (known.node, known.cpu_slots) == (node.uid, 3)
    assert identity.path(tmp_path).stat().st_mode & 0o777 == 0o600
    assert token not in identity.path(tmp_path).read_text()


def test_a_missing_script_is_refused_and_that_is_the_end(agent: AgentProcess, server: Server):
    agent.start()
    server.start("/no/such/train.py")
    server.wait_for_event("finished")
    assert server.kinds() == ["accepted", "refused", "finished"]
    refused = server.event("refused").data
    assert (refused["reason"], refused["detail"]) == ("no_script", "The script /no/such/train.py does not exist.")


def test_a_port_in_use_is_refused_and_a_stop_then_ends_it(agent: AgentProcess, server: Server):
    agent.start()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        server.start("happy.py", master_port=taken.getsockname()[1])
        refused = server.wait_for_event("refused")
    assert refused.data["reason"] == "port_in_use"
    assert "finished" not in server.kinds()
    server.stop(grace=0)
    server.wait_for_event("finished")
    assert server.kinds() == ["accepted", "refused", "finished"]


def test_a_stop_of_what_never_started_is_answered(agent: AgentProcess, server: Server):
    agent.start()
    server.stop(grace=0)
    server.wait_for_event("finished")
    assert server.kinds() == ["finished"]
    server.wait_for((agent.attempt(server.attempt) / "closed.json").exists)


def test_a_second_agent_in_the_same_home_says_so_and_ends(agent: AgentProcess):
    agent.start()
    until(lambda: b"node n-test" in (agent.home / "agent.log").read_bytes())
    second = subprocess.run(
        [sys.executable, "-m", "trainer_agent.agent", "--home", str(agent.home)],
        cwd=REPO,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert second.returncode == 1
    assert second.stderr.decode() == f"Another agent already runs in {agent.home}.\n"


def test_an_agent_goes_on_where_a_start_was_left_when_it_died(agent: AgentProcess, server: Server):
    """The command was taken down, nothing else had happened yet."""
    command = server.start("/no/such/train.py")
    folder = agent.attempt(server.attempt)
    folder.mkdir(parents=True)
    (folder / "start.msgpack").write_bytes(msgspec.msgpack.encode(command))
    (agent.home / "commands.json").write_text(json.dumps({"ids": [command.id]}))
    agent.start()
    server.wait_for_event("finished")
    assert server.kinds() == ["accepted", "refused", "finished"]
