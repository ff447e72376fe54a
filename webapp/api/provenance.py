"""`/runs/{id}/provenance`: what a launch was made of, node by node."""

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from webapp.api.lookup import attempt_named
from webapp.api.schemas import Failure
from webapp.provenance import queries
from webapp.provenance.models import Provenance
from webapp.runs.models import Attempt

router = Router(tags=["runs"])


class ProvenanceOut(Schema):
    """One node's part. Empty text: the node did not say; `commit` empty: the script is in no repository."""

    node: str
    node_rank: int
    folder: str
    python: str
    executable: str
    commit: str
    branch: str
    remote: str
    dirty: bool | None
    diff: str
    diff_cut: bool
    untracked: list[str]
    packages: dict[str, str]
    environment: dict[str, str]


@router.get(
    "/{run_id}/provenance", response={200: list[ProvenanceOut], 404: Failure}, summary="Code, packages and environment"
)
def read(request: HttpRequest, run_id: str, *, attempt: int | None = None) -> list[dict[str, Any]]:
    """Of the newest attempt if none is named."""
    return of_attempt(attempt_named(request, run_id, attempt))


def of_attempt(attempt: Attempt) -> list[dict[str, Any]]:
    """One document for each node that told of itself."""
    return [_shape(row) for row in queries.told(attempt)]


def _shape(row: Provenance) -> dict[str, Any]:
    same = ("folder", "python", "executable", "commit", "branch", "remote", "dirty", "diff_cut", "untracked")
    return {
        "node": row.part.node_name,
        "node_rank": row.part.node_rank,
        **{name: getattr(row, name) for name in same},
        "diff": queries.diff_of(row),
        "packages": queries.packages_of(row),
        "environment": row.environment,
    }
