"""A machine becomes a node: one token, one node, and a Redis user that can do no more than it must."""

import json
from datetime import timedelta

import pytest
import redis
from django.core.management import call_command
from django.utils import timezone

from tests import builders
from trainer_agent.wire import names
from webapp.nodes import acl, enrol, lifecycle
from webapp.nodes.models import JoinToken, Node
from webapp.runs import uploads
from webapp.runs.lifecycle import create

pytestmark = pytest.mark.django_db
INVENTORY = {"hostname": "gpu-a", "address": "10.0.0.1", "slots": [{"index": 0, "kind": "cpu", "model": "EPYC"}]}


@pytest.fixture(autouse=True)
def _no_users_left_over(redis_client):
    yield
    for name in redis_client.execute_command("ACL", "USERS"):
        if name != b"default":
            redis_client.execute_command("ACL", "DELUSER", name)


def join(client, token, **fields):
    body = {"token": token, "name": "gpu-a", "slots": 1, "inventory": INVENTORY, **fields}
    return client.post("/agent/v1/join", json.dumps(body), content_type="application/json")


def as_node(answer) -> redis.Redis:
    return redis.Redis.from_url(answer["redis_url"])


def test_a_token_admits_one_machine_once(client):
    token = enrol.issue_join_token(builders.user())
    answer = join(client, token).json()
    node = Node.objects.get(uid=answer["node"])
    assert (node.name, node.address, node.slots.get().model) == ("gpu-a", "10.0.0.1", "EPYC")
    assert abs(answer["server_time"] - timezone.now().timestamp()) < 5
    assert answer["token"] not in str(Node.objects.values())
    second = join(client, token)
    assert (second.status_code, "used already" in second.json()["message"]) == (403, True)
    assert Node.objects.count() == 1


def test_unknown_and_expired_tokens_are_refused_with_a_sentence(client):
    assert "not known" in join(client, "plj_nothing").json()["message"]
    token = enrol.issue_join_token(None)
    JoinToken.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = join(client, token)
    assert (answer.status_code, "expired" in answer.json()["message"]) == (403, True)
    assert not Node.objects.exists()


def test_a_call_that_makes_no_sense_costs_no_token(client):
    token = enrol.issue_join_token(None)
    assert client.post("/agent/v1/join", b"\xff", content_type="application/json").status_code == 400
    assert client.get("/agent/v1/join").status_code == 405
    assert join(client, token, slots=3).status_code == 403
    assert join(client, token, inventory={"hostname": 7}).status_code == 403
    assert join(client, token).status_code == 200


def test_many_refused_calls_from_one_address_are_slowed_down(client):
    answers = [join(client, f"plj_{i}").status_code for i in range(33)]
    assert answers[0] == 403
    assert answers[-1] == 429


def test_two_machines_of_one_name_are_told_apart(client):
    names_given = [join(client, enrol.issue_join_token(None)).json()["name"] for _ in range(3)]
    assert names_given == ["gpu-a", "gpu-a-2", "gpu-a-3"]


def test_a_node_writes_its_own_telemetry_and_heartbeat_and_reads_its_own_commands(client, redis_client):
    answer = join(client, enrol.issue_join_token(None)).json()
    me = answer["node"]
    redis_client.xadd(names.commands(me), {"b": b"order"})
    redis_client.hset(names.acks(me), "7", 3)
    mine = as_node(answer)
    assert mine.ping()
    assert mine.time()
    assert mine.xadd(names.telemetry(7, me), {"b": b"batch"})
    assert mine.set(names.heartbeat(me), b"alive", ex=15)
    assert mine.hgetall(names.acks(me)) == {b"7": b"3"}
    assert len(mine.xread({names.commands(me): "0"}, block=100)) == 1
    mine.close()


@pytest.mark.parametrize(
    "act",
    [
        lambda r, me: r.xread({names.commands("n-other"): "0"}),
        lambda r, me: r.xadd(names.telemetry(7, "n-other"), {"b": b"x"}),
        lambda r, me: r.set(names.heartbeat("n-other"), b"x"),
        lambda r, me: r.hgetall(names.acks("n-other")),
        lambda r, me: r.xread({names.live("r-abc"): "0"}),
        lambda r, me: r.keys("*"),
        lambda r, me: r.flushall(),
        lambda r, me: r.client_list(),
        lambda r, me: r.execute_command("ACL", "LIST"),
        lambda r, me: r.publish("pl", "x"),
        lambda r, me: r.eval("return 1", 0),
    ],
)
def test_a_node_can_do_nothing_else(client, act):
    answer = join(client, enrol.issue_join_token(None)).json()
    mine = as_node(answer)
    with pytest.raises(redis.ResponseError):
        act(mine, answer["node"])
    mine.close()


def test_users_come_back_after_redis_lost_them_and_go_with_a_removed_node(client, redis_client):
    answer = join(client, enrol.issue_join_token(None)).json()
    redis_client.execute_command("ACL", "DELUSER", answer["node"])  # what a restart of Redis does
    assert acl.ensure_all() == 1
    assert acl.ensure_all() == 0
    mine = as_node(answer)
    assert mine.ping()
    lifecycle.remove(Node.objects.get(uid=answer["node"]))
    with pytest.raises(redis.RedisError):
        as_node(answer).ping()
    assert acl.ensure_all() == 0
    mine.close()


def test_the_command_prints_a_token_that_works(client, capsys):
    call_command("join_token", minutes=5)
    assert join(client, capsys.readouterr().out.strip()).status_code == 200


def test_code_is_given_only_to_a_node_whose_run_uses_it(client, settings, tmp_path):
    settings.MEDIA_ROOT = tmp_path
    answers = [join(client, enrol.issue_join_token(None)).json() for _ in range(2)]
    project, owner = builders.project(), builders.user()
    script = tmp_path / "train.py"
    script.write_text("print(1)")
    with script.open("rb") as body:
        kept = uploads.store(project, [("train.py", body)])
    spec = builders.spec(nodes=1, ranks_per_node=1, upload_sha256=kept.sha256)
    run = create(project=project, owner=owner, name="x", spec=spec, secrets={})
    node = Node.objects.get(uid=answers[0]["node"])
    run.attempts.get().parts.create(node=node, node_uid=node.uid, node_name=node.name, node_rank=0)

    def fetch(token):
        return client.get(f"/agent/v1/uploads/{kept.sha256}", headers={"Authorization": f"Bearer {token}"})

    mine = fetch(answers[0]["token"])
    assert b"".join(mine.streaming_content) == uploads.path(kept).read_bytes()
    assert fetch(answers[1]["token"]).status_code == 404
    assert fetch("nothing").status_code == 401
