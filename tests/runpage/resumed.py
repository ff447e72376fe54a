"""A run whose second attempt went on from a checkpoint, with a hole in it."""

from datetime import timedelta

from django.utils import timezone

from tests.runpage import stored
from tests.telemetry import batches
from webapp.projects.models import Project
from webapp.runs.models import Attempt, AttemptNode, Outcome, RankState, Run, Status

FIRST_STEP = 30  # of attempt 2
MADE = 40  # steps that attempt 2 made
HOLE = (20, 25)  # numbered from 0


def resumed(project: Project) -> Attempt:
    """Attempt 1 made steps 0 to 59; attempt 2 goes on at step 30 and lacks its steps 50 to 55."""
    before = stored.run_with_steps(project, 60)
    Attempt.objects.filter(pk=before.pk).update(status=Status.ENDED, outcome=Outcome.FAILED, ended_at=timezone.now())
    attempt = Attempt.objects.create(
        run=before.run, number=2, world_size=4, first_step=FIRST_STEP, status=Status.RUNNING,
        placed_at=timezone.now(), started_at=timezone.now(), last_step=FIRST_STEP + MADE - 1,
        telemetry_at=timezone.now() - timedelta(seconds=5),
    )  # fmt: skip
    for part in before.parts.all():
        AttemptNode.objects.create(
            attempt=attempt, node=part.node, node_uid=part.node_uid, node_name=part.node_name,
            node_rank=part.node_rank, slots=part.slots,
        )  # fmt: skip
    for rank in before.ranks.all():
        RankState.objects.create(
            attempt=attempt, rank=rank.rank, node_rank=rank.node_rank, local_rank=rank.local_rank, made=MADE, sent=MADE
        )
    Run.objects.filter(pk=before.run_id).update(attempt_count=2, status=Status.RUNNING)
    have = [n for n in range(MADE) if not HOLE[0] <= n <= HOLE[1]]
    store(attempt, 1, have)
    attempt.refresh_from_db()
    return attempt


def store(attempt: Attempt, seq: int, numbers: list[int]) -> None:
    """Steps of attempt 2 by their numbers from 0, and the loss of each."""
    losses = {FIRST_STEP + n: 2.0 - n * 0.01 for n in numbers}
    batches.tail(
        attempt, seq, steps=[batches.steps(range(4), numbers, end=2_000.0)], values=[batches.values("loss", 0, losses)]
    )


def fill(attempt: Attempt) -> None:
    """What was missing has come."""
    store(attempt, 2, list(range(HOLE[0], HOLE[1] + 1)))
