"""The answers of all nodes to findings and a matrix: pure. Sentences are in words.py."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from webapp.preflight import node_verdict
from webapp.preflight.answers import Link, Seen
from webapp.preflight.finding import AMBER, GREEN, RED, Finding
from webapp.preflight.link_verdict import Cell, links_found, reference

Links = Mapping[tuple[int, int], Link]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`cells`: (from, to) -> how that link is. `mb_s`: what links of these nodes carry, None when none was measured."""

    level: str
    findings: list[Finding] = field(default_factory=list)
    cells: dict[tuple[int, int], Cell] = field(default_factory=dict)
    mb_s: float | None = None
    rtt_ms: float | None = None


def judge(nodes: Sequence[Seen], links: Links) -> Verdict:
    """Red: it cannot work, or something is much slower than the rest. Amber: look at it, or it could not be checked."""
    busy = [node.is_busy for node in nodes]
    cells, about_links = links_found([node.name for node in nodes], busy, links)
    found = [*about_links, *node_verdict.judge(nodes)]
    found.sort(key=lambda finding: finding.level != RED)
    level = RED if any(one.level == RED for one in found) else AMBER if found else GREEN
    expected = reference(links)
    return Verdict(level, found, cells, expected.mb_s, expected.rtt_ms)


def stored(findings: Sequence[Finding]) -> list[dict[str, Any]]:
    """As JSON keeps them."""
    return [{"level": f.level, "kind": f.kind, "nodes": list(f.nodes), "told": dict(f.told)} for f in findings]
