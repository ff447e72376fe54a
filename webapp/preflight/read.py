"""A check's answers from the database, and what its links carried before, as the verdict takes them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from webapp.preflight.answers import Link, Seen
from webapp.preflight.models import Check, CheckedNode, Stage
from webapp.preflight.verdict import Links, Verdict, judge

ENOUGH, MOST_PAST = 3, 10  # past measurements of a pair; checks that are looked at for them

Past = Mapping[tuple[str, str], Mapping[str, float]]


def verdict_of(check: Check) -> tuple[list[CheckedNode], Verdict]:
    """The check's nodes, by place, and what is known of them now."""
    nodes = list(check.nodes.select_related("node"))
    return nodes, judge([_seen(one) for one in nodes], links_of(nodes, past_of(check, nodes)))


def links_of(nodes: Sequence[CheckedNode], past: Past) -> Links:
    """Both directions of each pair of which something is known. What arrives is told by who received it."""
    places = {one.node_uid: one.place for one in nodes}
    pairs = {
        (min(one.place, places[uid]), max(one.place, places[uid]))
        for one in nodes
        for uid in one.links
        if uid in places and uid != one.node_uid
    }
    return {pair: link for low, high in pairs for pair, link in _both(nodes[low], nodes[high], past)}


def past_of(check: Check, nodes: Sequence[CheckedNode]) -> Past:
    """(from, to) -> medians of earlier checks of both nodes, where there were enough of them."""
    uids = {one.node_uid for one in nodes}
    seen: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in _earlier(check, uids):
        for uid, told in one.links.items():
            if uid in uids and "mb_s" in told:
                seen[uid, one.node_uid]["mb_s"].append(told["mb_s"])
            if uid in uids and "rtt_ms" in told:
                for pair in ((uid, one.node_uid), (one.node_uid, uid)):
                    seen[pair]["rtt_ms"].append(told["rtt_ms"])
    return {
        pair: {name: median(values) for name, values in told.items() if len(values) >= ENOUGH}
        for pair, told in seen.items()
    }


def _earlier(check: Check, uids: Iterable[str]) -> Iterable[CheckedNode]:
    checks = Check.objects.filter(pk__lt=check.pk, stage=Stage.DONE, nodes__node_uid__in=uids).distinct()
    newest = list(checks.order_by("-pk").values_list("pk", flat=True)[:MOST_PAST])
    return CheckedNode.objects.filter(check_of__in=newest, node_uid__in=uids).only("node_uid", "links")


def _both(low: CheckedNode, high: CheckedNode, past: Past) -> list[tuple[tuple[int, int], Link]]:
    called: dict[str, Any] = high.links.get(low.node_uid, {})
    answered: dict[str, Any] = low.links.get(high.node_uid, {})
    up = _link(answered.get("mb_s"), called, past.get((high.node_uid, low.node_uid), {}))
    down = _link(called.get("mb_s"), {**called, "meeting": ""}, past.get((low.node_uid, high.node_uid), {}))
    return [((high.place, low.place), up), ((low.place, high.place), down)]


def _link(mb_s: float | None, called: Mapping[str, Any], usual: Mapping[str, float]) -> Link:
    """`called`: what the caller of the two says; whether they can talk is the same both ways."""
    return Link(
        mb_s=mb_s,
        rtt_ms=called.get("rtt_ms"),
        error=called.get("error", ""),
        meeting=called.get("meeting", ""),
        usual_mb_s=usual.get("mb_s"),
        usual_rtt_ms=usual.get("rtt_ms"),
    )


def _seen(one: CheckedNode) -> Seen:
    node = one.node
    return Seen(
        name=one.node_name,
        presence=one.presence,
        is_busy=one.is_busy,
        address=node.address if node else "",
        agent_version=node.agent_version if node else "",
        clock_offset=node.clock_offset if node else None,
        clock_error=node.clock_error if node else None,
        facts=one.facts,
    )
