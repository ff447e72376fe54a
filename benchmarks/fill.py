"""Made-up history in a product's database, for benchmarks of pages: `python -m benchmarks.fill --home DIR`.

The numbers are invented, deterministic, and written through the product's own storage. Prints the run id last.
`--runs N` adds so many short rows of the runs list, `--keys N` makes a run that logged so many different keys.
`--database URL`: where the home has no SQLite of its own.
"""

import argparse
import os
from pathlib import Path

import numpy as np

PHASES = {"data": 2_000, "forward": 14_000, "backward": 26_000, "exposed_comm": 6_000, "optimizer": 3_000, "other": 700}

# Steps that are written together: whole blocks of roll-ups, so that few of them are encoded twice.
_LEAST_STEPS, _MOST_STEPS, _MOST_CELLS = 2_048, 32_768, 1 << 21
_STEPS_OF_KEY = 20
_SPARK = [float(f"{x:.5g}") for x in 4 * np.exp(-np.arange(40) / 12)]


def main() -> None:
    """Fill it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--database", default="")
    parser.add_argument("--steps", type=int, default=20_000)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--runs", type=int, default=0)
    parser.add_argument("--keys", type=int, default=0)
    asked = parser.parse_args()
    open_database(asked.home, asked.database)
    if asked.runs:
        many_runs(asked.runs)
    elif asked.keys:
        print(run_with_keys(asked.keys))
    else:
        print(ended_run(asked.steps, asked.ranks))


def open_database(home: Path, url: str = "") -> None:
    """Set Django up on a home that is prepared, and on its SQLite or the database with this URL."""
    os.environ |= {"PACELINE_HOME": str(home), "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    os.environ |= {"SECRET_KEY_FILE": str(home / "secret_key"), "REDIS_URL_FILE": str(home / "redis" / "url")}
    os.environ |= {"DATABASE_URL": url} if url else {}
    import django

    django.setup()


def ended_run(steps: int, ranks: int) -> str:
    """A run that succeeded, with every phase of every rank and a loss. Its id."""
    from webapp.telemetry.points import explode, joined
    from webapp.telemetry.store import write

    attempt = ended_attempt(steps, ranks)
    at_once = min(_MOST_STEPS, max(_LEAST_STEPS, _MOST_CELLS // ranks // _LEAST_STEPS * _LEAST_STEPS))
    for first in range(0, steps, at_once):
        batch = some_steps(attempt.pk, first, min(steps, first + at_once), ranks)
        write(attempt, joined(explode(batch)))
    note_values(attempt.run, {"loss": 1.5}, steps - 1)
    return str(attempt.run.uid)


def run_with_keys(keys: int) -> str:
    """A run whose script logged so many different keys, a few steps of each. Its id."""
    from trainer_agent.wire.messages import Batch, ValueColumns
    from webapp.telemetry.points import explode, joined
    from webapp.telemetry.store import write

    attempt = ended_attempt(_STEPS_OF_KEY, 2)
    write(attempt, joined(explode(some_steps(attempt.pk, 0, _STEPS_OF_KEY, 2))))
    note_values(attempt.run, {"loss": 1.5}, _STEPS_OF_KEY - 1)
    step = np.arange(_STEPS_OF_KEY, dtype="<i8")
    rank, time = np.zeros(step.size, "<u4").tobytes(), (1.79e9 + step).astype("<f8").tobytes()
    for first in range(0, keys, 1_000):
        values = [
            ValueColumns(
                key=f"layer{key // 12}/norm{key % 12}",
                n=step.size,
                rank=rank,
                step=step.tobytes(),
                time=time,
                value=np.sin(step / 3 + key).tobytes(),
            )
            for key in range(first, min(keys, first + 1_000))
        ]
        batch = Batch(v=1, attempt=attempt.pk, node="n-0", seq=1, sent_at=0.0, values=values)
        write(attempt, joined(explode(batch)))
        note_values(attempt.run, {one.key: float(np.sin(len(one.key))) for one in values}, _STEPS_OF_KEY - 1)
    return str(attempt.run.uid)


def note_values(run, last: dict[str, float], step: int) -> None:
    """What the list's columns and the pickers of metrics know of a run."""
    from webapp.history import record

    record.note_spec(run)
    record.note_metrics(run, 1, {name: record.Came(step, v, v, v + 1) for name, v in last.items()}, {})


def many_runs(count: int) -> None:
    """Rows of the runs list, each with an attempt, a setting and a loss, without telemetry."""
    from django.utils import timezone

    from webapp.history.models import ConfigValue, Kind, MetricValue
    from webapp.history.record import key_ids
    from webapp.projects.models import Project
    from webapp.runs.models import Attempt, Run

    project = Project.objects.order_by("pk")[0]
    owner = project.memberships.order_by("pk")[0].user
    lr, loss = key_ids(project.pk, Kind.CONFIG, ["lr"])["lr"], key_ids(project.pk, Kind.METRIC, ["loss"])["loss"]
    now = timezone.now()
    outcomes = ("succeeded", "failed", "stopped")
    for first in range(0, count, 2_000):
        runs = Run.objects.bulk_create(
            Run(
                project=project,
                owner=owner,
                name=f"filled {number}",
                spec={"argv": ["train.py", "--lr", str(1e-4 * (1 + number % 9))], "nodes": 1, "ranks_per_node": 8},
                attempt_count=1,
                world_size=8,
                last_step=1_000,
                last_loss=1 + number % 97 / 97,
                spark=_SPARK,
                status="ended",
                outcome=outcomes[number % 3],
                started_at=now,
                ended_at=now,
            )
            for number in range(first, min(count, first + 2_000))
        )
        Attempt.objects.bulk_create(
            Attempt(run=run, number=1, compacted=True, world_size=8, status="ended", outcome=run.outcome, ended_at=now)
            for run in runs
        )
        rates = [(run, run.spec["argv"][2]) for run in runs]
        ConfigValue.objects.bulk_create(
            ConfigValue(run=run, key_id=lr, text=rate, number=float(rate)) for run, rate in rates
        )
        MetricValue.objects.bulk_create(
            MetricValue(run=run, key_id=loss, attempt=1, step=999, last=run.last_loss, low=run.last_loss, high=4.5)
            for run in runs
        )


def ended_attempt(steps: int, ranks: int):
    """The only attempt of a run that succeeded, on nodes with eight ranks each, or on two."""
    from django.utils import timezone

    from webapp.projects.models import Project
    from webapp.runs.models import Attempt, AttemptNode, RankState, Run

    project = Project.objects.order_by("pk")[0]
    nodes = max(2, ranks // 8)
    per_node = ranks // nodes
    now = timezone.now()
    ended = {"status": "ended", "outcome": "succeeded", "started_at": now, "ended_at": now}
    counts = {"world_size": ranks, "last_step": steps - 1}
    spec = {"argv": ["train.py", "--steps", str(steps)], "nodes": nodes, "ranks_per_node": per_node}
    run = Run.objects.create(
        project=project,
        owner=project.memberships.order_by("pk")[0].user,
        name="filled",
        spec=spec,
        attempt_count=1,
        total_steps=steps,
        spark=_SPARK,
        last_loss=1.5,
        **ended,
        **counts,
    )
    attempt = Attempt.objects.create(run=run, number=1, compacted=True, **ended, **counts)
    AttemptNode.objects.bulk_create(
        AttemptNode(attempt=attempt, node_uid=f"n-{k}", node_name=f"gpu-{k}", node_rank=k, finished_at=now)
        for k in range(nodes)
    )
    RankState.objects.bulk_create(
        RankState(attempt=attempt, rank=rank, node_rank=rank // per_node, local_rank=rank % per_node, exit_code=0)
        for rank in range(ranks)
    )
    return attempt


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
