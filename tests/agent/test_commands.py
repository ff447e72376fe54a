from pathlib import Path

import redis

from trainer_agent.agent.commands import CommandReader, Seen
from trainer_agent.wire import codec, names
from trainer_agent.wire.messages import Command, ForgetAttempt


def send(client: redis.Redis, body: bytes) -> None:
    client.xadd(names.commands("n"), {names.FIELD: body})


def forget(command_id: int) -> bytes:
    return codec.encode(ForgetAttempt(v=1, id=command_id, attempt=1))


def test_a_bad_command_is_counted_and_does_not_stop_the_others(redis_client: redis.Redis, redis_server: str):
    got: list[Command] = []
    reader = CommandReader(redis_server, "n", got.append)
    send(redis_client, forget(1))
    send(redis_client, b"\xc1 no message")
    redis_client.xadd(names.commands("n"), {"other": "field"})
    send(redis_client, forget(2))
    reader.read_once()
    assert [command.id for command in got] == [1, 2]
    assert reader.bad == 2


def test_commands_are_read_on_after_redis_was_emptied(redis_client: redis.Redis, redis_server: str):
    got: list[Command] = []
    reader = CommandReader(redis_server, "n", got.append)
    send(redis_client, forget(1))
    reader.read_once()
    redis_client.flushall()
    send(redis_client, forget(2))
    reader.read_once()
    assert [command.id for command in got] == [1, 2]


def test_what_was_done_is_known_after_a_restart(tmp_path: Path):
    seen = Seen(tmp_path / "commands.json")
    seen.add(5)
    assert 5 in Seen(tmp_path / "commands.json")
    assert 6 not in Seen(tmp_path / "commands.json")
    (tmp_path / "commands.json").write_text("{torn")
    assert 5 not in Seen(tmp_path / "commands.json")
