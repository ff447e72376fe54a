"""Made-up history in the database of a product's home, for benchmarks of pages: `python -m benchmarks.fill --home DIR`.

The numbers are invented, deterministic, and written through the product's own storage. Prints the run id last.
"""

import argparse
import os
from pathlib import Path

import numpy as np

PHASES = {"data": 2_000, "forward": 14_000, "backward": 26_000, "exposed_comm": 6_000, "optimizer": 3_000, "other": 700}


def main() -> None:
    """Fill it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--ranks", type=int, default=4)
    asked = parser.parse_args()
    open_database(asked.home)
    print(ended_run(asked.steps, asked.ranks))


def open_database(home: Path) -> None:
    """Set Django up on a home that `manage.py up` has prepared."""
    os.environ |= {"PACELINE_HOME": str(home), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    os.environ |= {"SECRET_KEY_FILE": str(home / "secret_key"), "REDIS_URL_FILE": str(home / "redis" / "url")}
    import django

    django.setup()


def ended_run(steps: int, ranks: int) -> str:
    """A run that succeeded, with every phase of every rank and a loss. Its id."""
    from django.utils import timezone

    from webapp.projects.models import Project
    from webapp.runs.models import Attempt, AttemptNode, RankState, Run
    from webapp.telemetry.points import explode, joined
    from webapp.telemetry.store import write

    project = Project.objects.order_by("pk")[0]
    ended = {"status": "ended", "outcome": "succeeded", "started_at": timezone.now(), "ended_at": timezone.now()}
    counts = {"world_size": ranks, "last_step": steps - 1}
    spec = {"argv": ["train.py", "--steps", str(steps)], "nodes": 2, "ranks_per_node": ranks // 2}
    owner = project.memberships.order_by("pk")[0].user
    run = Run.objects.create(
        project=project,
        owner=owner,
        name="filled",
        spec=spec,
        attempt_count=1,
        total_steps=steps,
        spark=[float(x) for x in 4 * np.exp(-np.arange(40) / 12)],
        last_loss=1.5,
        **ended,
        **counts,
    )
    attempt = Attempt.objects.create(run=run, number=1, compacted=True, **ended, **counts)
    for node in range(2):
        AttemptNode.objects.create(
            attempt=attempt, node_uid=f"n-{node}", node_name=f"gpu-{node}", node_rank=node, finished_at=timezone.now()
        )
    for rank in range(ranks):
        node, local = divmod(rank, ranks // 2)
        RankState.objects.create(attempt=attempt, rank=rank, node_rank=node, local_rank=local, exit_code=0)
    for first in range(0, steps, 2_000):
        batch = some_steps(attempt.pk, first, min(steps, first + 2_000), ranks)
        write(attempt, joined(explode(batch)))
    return run.uid


def some_steps(attempt: int, lo: int, hi: int, ranks: int):
    """A wire batch of steps [lo, hi) of all ranks; the last rank's backward is slow from the middle on."""
    from trainer_agent.wire.messages import Batch, StepColumns, ValueColumns

    random = np.random.default_rng(lo)
    step = np.repeat(np.arange(lo, hi, dtype="<i8"), ranks)
    rank = np.tile(np.arange(ranks, dtype="<u4"), hi - lo)
    columns = {f"phase/{name}": random.normal(us, us / 20, step.size).astype("<u4") for name, us in PHASES.items()}
    columns["phase/step"] = np.sum(list(columns.values()), axis=0).astype("<u4")
    columns["comm/total"] = (columns["phase/exposed_comm"] * 2).astype("<u4")
    ends = 1.79e9 + step * 0.052
    loss = 1.5 + 3 * np.exp(-np.arange(lo, hi) / 4_000) + random.normal(0, 0.05, hi - lo)
    value = ValueColumns(
        key="loss",
        n=hi - lo,
        rank=np.zeros(hi - lo, "<u4").tobytes(),
        step=np.arange(lo, hi, dtype="<i8").tobytes(),
        time=ends[::ranks].astype("<f8").tobytes(),
        value=loss.astype("<f4").astype("<f8").tobytes(),
    )
    steps = StepColumns(
        n=step.size,
        rank=rank.tobytes(),
        step=step.tobytes(),
        end=ends.astype("<f8").tobytes(),
        columns={name: column.tobytes() for name, column in columns.items()},
        nbytes=np.full(step.size, 7.4e6).astype("<f8").tobytes(),
    )
    return Batch(v=1, attempt=attempt, node="n-0", seq=1, sent_at=0.0, steps=[steps], values=[value])


if __name__ == "__main__":
    main()
