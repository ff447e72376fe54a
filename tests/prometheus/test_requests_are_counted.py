"""Requests in /metrics: by the pattern of their address, added up over all web processes."""

import pytest
import redis
from django.test import Client

from tests import builders
from tests.api.asking import body
from tests.prometheus.test_what_prometheus_reads import samples, scrape
from tests.settings import free_port
from webapp.accounts.models import User
from webapp.prometheus.of_requests import family
from webapp.prometheus.tally import Tally, stored

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def ana() -> User:
    return builders.user("ana")


def test_requests_are_counted_by_method_route_and_status(ana: User) -> None:
    run = builders.running_attempt().run
    client = Client()
    scrape(ana)
    before = samples(scrape(ana))
    for address in (f"/runs/{run.uid}/", "/runs/r-nobody/", "/no/such/place", "/static/js/copy.js"):
        body(client.get(address))
    after = samples(scrape(ana))
    name = "paceline_http_request_seconds_count"
    made = {labels[1:]: n - before.get(labels, 0) for labels, n in after.items() if labels[0] == name}
    assert {labels: n for labels, n in made.items() if n} == {
        ("GET", "/runs/<str:uid>/", "302"): 2,
        ("GET", "unknown", "404"): 1,
        ("GET", "static", "200"): 1,
        ("GET", "/metrics", "200"): 1,
    }


def test_processes_are_added_up_and_a_redis_that_is_away_loses_nothing(redis_client: redis.Redis) -> None:
    first, second = Tally(), Tally()
    away = redis.Redis(port=free_port(), socket_connect_timeout=1)
    first.note("GET", "/x/", 200, 0.02)
    first.push(away)
    first.note("GET", "/x/", 200, 0.25)
    second.note("GET", "/x/", 200, 42.0)
    first.push(redis_client)
    second.push(redis_client)
    second.push(redis_client)
    told = {(s.name.rpartition("_")[2], s.labels.get("le")): s.value for s in family(stored(redis_client)).samples}
    assert told == {
        ("bucket", "0.03"): 1,
        ("bucket", "0.1"): 1,
        ("bucket", "0.3"): 2,
        ("bucket", "1.0"): 2,
        ("bucket", "3.0"): 2,
        ("bucket", "10.0"): 2,
        ("bucket", "+Inf"): 3,
        ("count", None): 3,
        ("sum", None): 42.27,
    }
