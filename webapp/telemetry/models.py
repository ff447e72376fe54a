"""Stored time series and logs. Written by ingest only; read through `telemetry/read.py`."""

from django.db import models
from django.utils import timezone

from webapp.runs.models import Attempt


class Tail(models.Model):
    """Young batches as they came, not yet in segments: a row holds what was stored at once, see `telemetry/bundle.py`.

    `node_rank` and `seq` are its first message's. The unique key is what makes a duplicate harmless. Compaction moves
    the content into segments and deletes the row.
    """

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="tails")
    node_rank = models.PositiveIntegerField()
    seq = models.BigIntegerField()
    payload = models.BinaryField()  # encoded wire Batches, logs and events removed
    stored_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "node_rank", "seq"], name="one_tail_per_seq")]

    def __str__(self) -> str:
        return f"{self.attempt_id}/{self.node_rank}/{self.seq}"


class Metric(models.Model):
    """One metric of one attempt. `axis` step: index is the step; time: index is whole epoch seconds."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="metrics")
    name = models.CharField(max_length=500)
    axis = models.CharField(max_length=4)  # step | time
    columns = models.CharField(max_length=4)  # rank | node
    dtype = models.CharField(max_length=2)  # us | f4 | f8
    first_index = models.BigIntegerField(null=True)
    last_index = models.BigIntegerField(null=True)
    points = models.BigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "name"], name="one_metric_per_name")]

    def __str__(self) -> str:
        return self.name


class Segment(models.Model):
    """A block of one metric: `block` covers indexes [block * span, (block + 1) * span), span = 128 * 16**level.

    Level 0 holds raw values; level k holds min, mean, max over 16**k indexes. Payload: see `telemetry/blocks.py`.
    """

    metric = models.ForeignKey(Metric, on_delete=models.CASCADE, related_name="segments")
    level = models.PositiveSmallIntegerField()
    block = models.BigIntegerField()
    rows = models.PositiveIntegerField()
    payload = models.BinaryField()
    middle = models.BinaryField(null=True)  # see `telemetry/middle.py`; earlier versions stored none

    class Meta:
        constraints = [models.UniqueConstraint(fields=["metric", "level", "block"], name="one_segment_per_block")]

    def __str__(self) -> str:
        return f"{self.metric_id}/{self.level}/{self.block}"


class LogChunk(models.Model):
    """Bytes [offset, offset + length) of one rank's log, zstd. Rank -1 - k: the launcher of node rank k."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, related_name="logs")
    rank = models.IntegerField()
    offset = models.BigIntegerField()
    length = models.PositiveIntegerField()
    lines = models.PositiveIntegerField()
    skipped_lines = models.PositiveBigIntegerField(default=0)  # left out just before this chunk; the node has them
    at = models.DateTimeField()
    payload = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["attempt", "rank", "offset"], name="one_chunk_per_offset")]
        indexes = [models.Index(fields=["attempt", "id"], name="log_order")]

    def __str__(self) -> str:
        return f"{self.attempt_id}/{self.rank}@{self.offset}"


class Parked(models.Model):
    """A message that could not be read or applied: kept (its first 64 kB), counted, shown; the others went on."""

    attempt = models.ForeignKey(Attempt, on_delete=models.CASCADE, null=True, related_name="parked")
    node_uid = models.CharField(max_length=16, blank=True)
    seq = models.BigIntegerField(null=True)
    reason = models.CharField(max_length=500)
    size = models.PositiveIntegerField()
    payload = models.BinaryField()
    at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.reason
