"""`/metrics`, read by the parser of Prometheus' own client and judged by promtool where there is one."""

import math
import shutil
import subprocess
from datetime import timedelta
from ipaddress import ip_network
from typing import Any

import pytest
import redis
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from tests import builders
from tests.incidents.found import incident
from trainer_agent.wire import names
from webapp.accounts.models import ApiToken, User
from webapp.prometheus import of_runs
from webapp.runs.models import Run, Status

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


def scrape(user: User | None = None, scope: str = "read") -> Any:
    headers = {"Authorization": f"Bearer {ApiToken.issue(user, 'scrape', scope=scope)[1]}"} if user else {}
    return Client(headers=headers).get("/metrics")


def samples(answer: Any) -> dict[tuple[str, ...], float]:
    """(name, label values in the order of their labels' names …) to value."""
    families = text_string_to_metric_families(answer.content.decode())
    return {(s.name, *dict(sorted(s.labels.items())).values()): s.value for f in families for s in f.samples}


def test_the_health_of_a_run_and_the_state_of_the_server(redis_client: redis.Redis) -> None:
    attempt = builders.running_attempt(nodes=2, ranks_per_node=2)
    Run.objects.filter(pk=attempt.run_id).update(last_step=99, steps_per_s=4.0, loss_text="NaN")
    found = incident(attempt)
    builders.node(slots=3, last_heard=timezone.now() - timedelta(hours=1))
    redis_client.set(names.points_stored(), 12_345)
    redis_client.xadd(
        names.telemetry(attempt.pk, attempt.parts.get(node_rank=1).node_uid), {names.FIELD: b"x"}, id="1-1"
    )
    got = samples(scrape(attempt.run.owner))
    labels = (attempt.run.name, attempt.run.project.slug, attempt.run.uid)
    assert got["paceline_run_steps_total", *labels] == 100
    assert got["paceline_run_step_seconds", *labels] == 0.25
    assert math.isnan(got["paceline_run_loss", *labels])
    assert got["paceline_run_slowdown", *labels] == found.slowdown
    assert got["paceline_run_incidents_open", *labels] == 1
    assert got["paceline_runs", "", "running"] == 1
    assert got["paceline_incidents_open", found.kind, found.severity] == 1
    assert (got["paceline_nodes", "reachable"], got["paceline_nodes", "unreachable"]) == (2, 1)
    assert [got["paceline_slots", state] for state in ("used", "free", "unavailable")] == [4, 0, 3]
    assert got["paceline_ingest_points_total",] == 12_345
    assert got["paceline_ingest_lag_seconds",] > 1_000_000
    assert got["paceline_runs_left_out",] == 0


def test_a_token_reads_its_owners_projects_only_and_needs_the_scope() -> None:
    mine, theirs = builders.running_attempt(), builders.running_attempt()
    text = scrape(mine.run.owner).content.decode()
    assert mine.run.uid in text
    assert theirs.run.uid not in text
    assert samples(scrape(mine.run.owner))["paceline_runs", "", "running"] == 1
    assert scrape(mine.run.owner, scope="none").status_code == 403


def test_without_a_token_only_named_addresses_read_it(settings: Any) -> None:
    attempt = builders.running_attempt()
    refused = scrape()
    assert (refused.status_code, refused["WWW-Authenticate"]) == (401, "Bearer")
    settings.METRICS_OPEN_TO = [ip_network("10.1.0.0/16"), ip_network("127.0.0.1")]
    assert attempt.run.uid in scrape().content.decode()
    assert Client(REMOTE_ADDR="10.2.0.1").get("/metrics").status_code == 401


def test_runs_that_ended_long_ago_are_not_listed_and_more_than_fit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    attempt = builders.running_attempt()
    project, now = attempt.run.project, timezone.now()
    for uid, ago in (("r-old", 11), ("r-fresh", 9)):
        made: dict[str, Any] = {"spec": attempt.run.spec, "world_size": 4, "status": Status.ENDED, "name": uid}
        at = now - timedelta(minutes=ago)
        Run.objects.create(uid=uid, project=project, owner=attempt.run.owner, created_at=at, ended_at=at, **made)
    got = samples(scrape(attempt.run.owner))
    assert {key[3] for key in got if key[0] == "paceline_run_incidents_open"} == {"r-fresh", attempt.run.uid}
    monkeypatch.setattr(of_runs, "MOST", 1)
    got = samples(scrape(attempt.run.owner))
    assert {key[3] for key in got if key[0] == "paceline_run_incidents_open"} == {attempt.run.uid}
    assert got["paceline_runs_left_out",] == 1


def test_promtool_finds_nothing_to_say() -> None:
    attempt = builders.running_attempt()
    Run.objects.filter(pk=attempt.run_id).update(name='a "quoted" \\ name\nof two lines', last_step=3, last_loss=0.5)
    incident(attempt)
    answer = scrape(attempt.run.owner)
    assert any("of two lines" in part for key in samples(answer) for part in key)
    if tool := shutil.which("promtool"):
        said = subprocess.run([tool, "check", "metrics"], input=answer.content, capture_output=True, check=False)
        assert (said.returncode, said.stdout + said.stderr) == (0, b"")
