"""A run whose numbers and logs are stored, without an agent."""

from datetime import datetime

from django.utils import timezone

from tests import builders
from tests.telemetry import batches
from webapp.nodes.models import Command, CommandKind
from webapp.projects.models import Project
from webapp.runs.models import Attempt, RankState, Run
from webapp.telemetry import logs
from webapp.telemetry.models import LogChunk


def run_with_steps(
    project: Project, steps: int = 40, *, slow: dict[int, int] | None = None, nodes: int = 2, ranks_per_node: int = 2
) -> Attempt:
    """By default two nodes x two ranks with `steps` steps, a falling loss on rank 0, and processor time per rank."""
    attempt = builders.running_attempt(nodes, ranks_per_node, in_project=project)
    numbers, ranks = range(steps), range(nodes * ranks_per_node)
    batches.tail(
        attempt,
        1,
        steps=[batches.steps(ranks, numbers, slow=slow)],
        values=[batches.values("loss", 0, {n: 3.0 - n * 0.01 for n in numbers})],
        samples=[batches.samples("rank/cpu", rank, {1_000.0 + k: 90.0 for k in range(5)}) for rank in ranks],
    )
    for part in attempt.parts.all():
        now = timezone.now()
        assert part.node is not None
        Command.objects.create(
            node=part.node,
            attempt=attempt,
            attempt_key=attempt.pk,
            kind=CommandKind.START,
            sent_at=now,
            accepted_at=now,
        )
    Attempt.objects.filter(pk=attempt.pk).update(last_step=steps - 1, telemetry_at=timezone.now())
    Run.objects.filter(pk=attempt.run_id).update(last_step=steps - 1, steps_per_s=12.5, total_steps=100)
    attempt.refresh_from_db()
    return attempt


def log(
    attempt: Attempt, rank: int, data: bytes, at: datetime | None = None, skipped: tuple[int, int] = (0, 0)
) -> None:
    """More bytes at the end of a rank's log; so many lines and bytes before them were left out by the node."""
    lines, left_out = skipped
    ends = LogChunk.objects.filter(attempt=attempt, rank=rank).values_list("offset", "length")
    offset = max((begin + length for begin, length in ends), default=0) + left_out
    LogChunk.objects.bulk_create(logs.chunks_of(attempt, rank, offset, data, at or timezone.now(), skipped_lines=lines))
    RankState.objects.filter(attempt=attempt, rank=rank).update(log_bytes=offset + len(data))
