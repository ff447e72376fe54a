"""Runs with settings and values of metrics."""

from typing import Any

from tests import builders
from webapp.accounts.models import User
from webapp.history.record import Came, note_metrics, note_spec
from webapp.projects.models import Project
from webapp.runs.models import Run


def run(project: Project, name: str, *argv: str, metrics: dict[str, float] | None = None, **fields: Any) -> Run:
    spec = builders.spec(argv=["train.py", *argv], nodes=fields.pop("nodes", 1)).model_dump()
    owner = User.objects.get(username="ana")
    row = Run.objects.create(
        project=project, owner=owner, name=name, spec=spec, world_size=2, **{"status": "ended", **fields}
    )
    note_spec(row)
    note_metrics(row, 1, {key: Came(9, value, value - 1, value + 1) for key, value in (metrics or {}).items()}, {})
    return row
