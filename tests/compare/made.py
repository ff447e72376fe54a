"""Runs with stored steps and a logged loss."""

from typing import Any

import numpy as np

from tests import builders
from tests.telemetry import batches
from webapp.history.record import Came, note_metrics, note_spec
from webapp.projects.models import Project
from webapp.runs.models import Run

RANKS = 2


def run(
    project: Project, name: str, *argv: str, steps: int = 40, slow_ms: int = 0, noise: float = 0.0, nodes: int = 1
) -> Run:
    """A run of `nodes` x 2 ranks; its loss falls from 3 to nearly 1, rank 1 is late by `slow_ms`."""
    attempt = builders.running_attempt(nodes=nodes, ranks_per_node=RANKS, in_project=project)
    made = attempt.run
    spec = builders.spec(argv=["train.py", *argv], nodes=nodes, ranks_per_node=RANKS).model_dump()
    Run.objects.filter(pk=made.pk).update(name=name, spec=spec, last_step=steps - 1, steps_per_s=12.5)
    made.refresh_from_db()
    loss = 1 + 2 * np.exp(-np.arange(steps) / (steps / 5)) + noise * np.random.default_rng(made.pk).normal(size=steps)
    ranks = list(range(nodes * RANKS))
    content: dict[str, Any] = {
        "steps": [batches.steps(ranks, range(steps), slow={1: slow_ms}, end=1_700_000_000.0)],
        "values": [batches.values("loss", 0, dict(enumerate(loss.tolist())))],
    }
    batches.tail(attempt, 1, **content)
    note_spec(made)
    ends = {"loss": Came(steps - 1, float(loss[-1]), float(loss.min()), float(loss.max()))}
    note_metrics(made, 1, ends, {})
    return made
