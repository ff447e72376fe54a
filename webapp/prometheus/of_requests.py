"""Requests to the server, by method, route and status."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

import redis
from prometheus_client.core import HistogramMetricFamily, Metric

from webapp.prometheus.tally import BOUNDS, OF_THIS_PROCESS, SUM, stored
from webapp.redis import connection


class Collector:
    """Of all web processes. Left out without Redis, where they are added up."""

    def collect(self) -> Iterator[Metric]:
        """One family."""
        try:
            OF_THIS_PROCESS.push(connection())
            yield family(stored(connection()))
        except redis.RedisError:
            return


def family(cells: Mapping[tuple[str, str, str, str], int]) -> Metric:
    """Pure: what is stored as a histogram."""
    found: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    for (method, route, status, cell), number in cells.items():
        found[method, route, status][cell] = number
    text = "Seconds until the answer began."
    made = HistogramMetricFamily("paceline_http_request_seconds", text, labels=["method", "route", "status"])
    for labels, numbers in sorted(found.items()):
        made.add_metric(labels, _buckets(numbers), numbers.get(SUM, 0) / 1e6)
    return made


def _buckets(numbers: Mapping[str, int]) -> list[tuple[str, float]]:
    """Each holds what the ones before it hold."""
    whole, buckets = 0, []
    for place, bound in enumerate((*map(str, BOUNDS), "+Inf")):
        whole += numbers.get(str(place), 0)
        buckets.append((bound, float(whole)))
    return buckets
