"""The rank's shared-memory files: one writer (the probe), one reader (the agent), no lock. Stdlib only.

A rank owns three files under `$PACELINE_RING_DIR` (`/dev/shm/paceline/<attempt>/`):

`rank<r>.steps`   ring of step records, one per optimizer step, numbered from 0 in each process
`rank<r>.values`  ring of user values (`paceline.log`, captured `SummaryWriter.add_scalar`)
`rank<r>.facts`   append-only JSON lines: key names (`{"key": id, "name": …}`), capabilities, totals

Beside them, once the process group is being formed, a UNIX socket `rank<r>.sock`: see `rank/answers.py`.

Layout of a ring: a 64-byte header, then `capacity` slots of fixed size. The writer fills a slot, then stores its
sequence number (1, 2, …) in the slot's last 8 bytes, then in the header. The reader copies a slot and takes it only
if the slot's number is the one it wants; a higher one means that the writer lapped it, which is counted as dropped.
"""

import struct
from dataclasses import dataclass

MAGIC = b"PLRING01"
HEADER = struct.Struct("<8s I I I I q d q B x H I q")
# magic, slot size, capacity, rank, writer pid, last sequence number, time of last write (epoch s), its step,
# and of the steps ring the progress word: see PROGRESS
HEADER_SIZE = HEADER.size
assert HEADER_SIZE == 64
HEAD_SEQ_OFFSET = 24  # last sequence number (q), followed by time (d) and current step (q)
HEAD_TAIL = struct.Struct("<q d q")
# What the rank is in right now, rewritten with every change of phase: number in NOW, steps that have ended but are not
# in the ring yet, collectives entered so far, since when (nanoseconds of the machine's monotonic clock). Each field is
# aligned and stored by itself.
PROGRESS = struct.Struct("<B x H I q")
PROGRESS_OFFSET = HEAD_SEQ_OFFSET + HEAD_TAIL.size
NOW_AT, AHEAD_AT, COLLECTIVES_AT, SINCE_AT = (PROGRESS_OFFSET + offset for offset in (0, 2, 4, 8))
assert PROGRESS_OFFSET + PROGRESS.size == HEADER_SIZE

MISSING_US = 0xFFFFFFFF  # a phase that this rank cannot see; never zero

# Durations, microseconds, in this order. `step` is the sum of data … other.
PHASES = ("step", "data", "forward", "backward", "exposed_comm", "optimizer", "other", "comm_total")
# Names of the progress word's phase. 0: a writer that does not tell.
NOW = ("", "data", "forward", "backward", "exposed_comm", "optimizer", "other")
STEP = struct.Struct("<q d 8I Q I I 8x q")
# step, end (epoch s), PHASES, bytes all-reduced, buckets, flags, padding, sequence number
STEP_CAPACITY = 8_192

FLAG_SKIPPED = 1  # the optimizer step was skipped (GradScaler found an inf)
FLAG_COMM_MEASURED = 2  # comm_total comes from DDP's own timers in this step
FLAG_WARMUP = 4  # first steps of the process, bucket rebuild, compile

VALUE = struct.Struct("<q d d I I q")
# step, value, time (epoch s), key id, flags, sequence number
VALUE_CAPACITY = 65_536


@dataclass(frozen=True, slots=True)
class StepRecord:
    """One optimizer step of one rank. `us` holds PHASES in microseconds, MISSING_US where unseen."""

    seq: int
    step: int
    end: float
    us: tuple[int, ...]
    nbytes: int
    buckets: int
    flags: int


@dataclass(frozen=True, slots=True)
class ValueRecord:
    """One value that the script logged; `key` indexes the names in the facts file."""

    seq: int
    step: int
    value: float
    time: float
    key: int


def ring_path(ring_dir: str, rank: int, kind: str) -> str:
    """Path of a rank's `steps`, `values` or `facts` file."""
    return f"{ring_dir}/rank{rank}.{kind}"


def pack_header(slot_size: int, capacity: int, rank: int, pid: int) -> bytes:
    """A fresh ring's first 64 bytes."""
    return HEADER.pack(MAGIC, slot_size, capacity, rank, pid, 0, 0.0, -1, 0, 0, 0, 0)


def unpack_step(slot: bytes) -> StepRecord:
    """Read one step slot."""
    f = STEP.unpack(slot)
    return StepRecord(seq=f[13], step=f[0], end=f[1], us=f[2:10], nbytes=f[10], buckets=f[11], flags=f[12])


def unpack_value(slot: bytes) -> ValueRecord:
    """Read one value slot."""
    step, value, time, key, _flags, seq = VALUE.unpack(slot)
    return ValueRecord(seq=seq, step=step, value=value, time=time, key=key)
