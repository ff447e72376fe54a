"""Reads of provenance: what a launch was made of, and where its nodes differ."""

import zlib
from dataclasses import dataclass
from typing import Any

from webapp.provenance.models import Provenance
from webapp.runs.models import Attempt

MOST_NODES, MOST_NAMES = 8, 12  # nodes and packages that are named where they differ
NO_CODE: dict[str, Any] = {"commit": "", "dirty": None}


@dataclass(frozen=True, slots=True)
class Difference:
    """A node that is not like the first one. `packages`: name, version there, version on the first node."""

    node: str
    commit: str
    packages: list[tuple[str, str, str]]
    more: int


def told(attempt: Attempt) -> list[Provenance]:
    """What each node said, in the order of the nodes; without the texts of differences, which are long."""
    rows = Provenance.objects.filter(part__attempt=attempt).select_related("part", "packages")
    return list(rows.defer("diff").order_by("part__node_rank"))


def commits(attempts: list[int]) -> dict[int, dict[str, Any]]:
    """Run's key to `{commit, dirty}`, as the first node of these attempts told."""
    rows = Provenance.objects.filter(part__attempt__in=attempts, part__node_rank=0)
    found = rows.values_list("part__attempt__run", "commit", "dirty")
    return {run: {"commit": commit, "dirty": dirty} for run, commit, dirty in found}


def diff_of(row: Provenance) -> str:
    """How the code differed from its commit; empty where it did not."""
    return zlib.decompress(bytes(row.diff)).decode("utf-8", "replace") if row.diff else ""


def differences(rows: list[Provenance]) -> list[Difference]:
    """Nodes whose commit or packages are not those of the first."""
    if not rows:
        return []
    first, *others = rows
    unlike = [row for row in others if (row.commit, row.packages_id) != (first.commit, first.packages_id)]
    return [_difference(first, row) for row in unlike[:MOST_NODES]]


def packages_of(row: Provenance) -> dict[str, str]:
    """Name to version, as people look for them."""
    found: dict[str, str] = row.packages.packages if row.packages else {}
    return dict(sorted(found.items(), key=lambda pair: pair[0].lower()))


def _difference(first: Provenance, row: Provenance) -> Difference:
    here, there = packages_of(first), packages_of(row)
    names = [n for n in {**here, **there} if here.get(n) != there.get(n)] if row.packages and first.packages else []
    unlike = [(name, there.get(name, ""), here.get(name, "")) for name in names]
    commit = row.commit if row.commit != first.commit else ""
    return Difference(row.part.node_name, commit, unlike[:MOST_NAMES], max(0, len(unlike) - MOST_NAMES))
