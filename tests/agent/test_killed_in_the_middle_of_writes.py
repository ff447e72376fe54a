"""An agent that is killed again and again while it writes its spool, and whose last record is torn."""

import os
import random
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

from tests.agent.node import REPO
from tests.agent.test_collecting import put_step, steps_ring
from trainer_agent.agent.segment import Segment
from trainer_agent.agent.spool import Spool
from trainer_agent.wire import codec
from trainer_agent.wire.messages import Batch

SEGMENT_BYTES = 20_000  # so that many are begun and deleted
AGENT = f"""
import sys
from pathlib import Path
from tests.agent.test_collecting import outbox
box = outbox(Path(sys.argv[1]), segment_bytes={SEGMENT_BYTES})
box.spool.acknowledge(int(sys.argv[2]))
print("up", flush=True)
while True:
    box.flush({{}})
    box.spool.read(box.spool.last_seq - 1, 1)
"""


class Ranks:
    """Two ranks that go on whatever happens to the agent."""

    def __init__(self, folder: Path) -> None:
        (folder / "ranks").mkdir()
        self.rings = [steps_ring(folder, rank, capacity=8192) for rank in (0, 1)]
        self.logs = [(folder / f"ranks/rank{rank}.log").open("ab", buffering=0) for rank in (0, 1)]

    def go_on(self, chance: random.Random, seconds: float) -> None:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            rank = chance.randrange(2)
            if self.rings[rank].seq < 8000:
                put_step(self.rings[rank], self.rings[rank].seq)
            self.logs[rank].write(chance.randbytes(chance.randrange(400)))
            time.sleep(0.0005)

    def end(self) -> None:
        for log in self.logs:
            log.close()


def live_and_die(folder: Path, ranks: Ranks, acked: int, chance: random.Random) -> None:
    command = [sys.executable, "-c", AGENT, str(folder), str(acked)]
    with subprocess.Popen(command, cwd=REPO, stdout=subprocess.PIPE) as agent:
        assert agent.stdout is not None
        assert agent.stdout.readline() == b"up\n"
        ranks.go_on(chance, chance.uniform(0.05, 0.3))
        agent.send_signal(signal.SIGKILL)


def tear(folder: Path, received: int, chance: random.Random) -> None:
    """Cut into the last record, as a power cut would, if nobody has had it yet."""
    segment = Segment(max((folder / "spool").glob("*.seg")))
    if segment.last_seq > received:
        os.truncate(segment.path, segment.size - chance.randrange(1, 30))
    segment.close()


def test_every_step_and_every_log_byte_comes_exactly_once(tmp_path: Path):
    chance = random.Random(20)
    ranks = Ranks(tmp_path)
    got: list[Batch] = []
    for life in range(7):
        live_and_die(tmp_path, ranks, max(0, len(got) - 3), chance)
        if life % 2:
            tear(tmp_path, len(got), chance)
        spool = Spool(tmp_path / "spool", segment_bytes=SEGMENT_BYTES)
        got += [codec.decode_batch(body) for _, body in spool.read(len(got), 1_000_000)]
        spool.close()
    ranks.logs[0].write(b"the end")
    live_and_die(tmp_path, ranks, len(got), random.Random(1))
    ranks.end()
    last = Spool(tmp_path / "spool", segment_bytes=SEGMENT_BYTES)
    got += [codec.decode_batch(body) for _, body in last.read(len(got), 1_000_000)]

    assert [batch.seq for batch in got] == list(range(1, len(got) + 1))
    assert not [event for batch in got for event in batch.events]
    for rank in (0, 1):
        steps = [
            step
            for batch in got
            for part in batch.steps
            for owner, step in zip(
                struct.unpack(f"<{part.n}I", part.rank), struct.unpack(f"<{part.n}q", part.step), strict=True
            )
            if owner == rank
        ]
        assert len(steps) > 100
        assert steps == list(range(len(steps)))
        sent = [part for batch in got for part in batch.logs if part.rank == rank]
        assert [part.offset for part in sent] == [sum(len(p.data) for p in sent[:k]) for k in range(len(sent))]
        said = b"".join(part.data for part in sent)
        assert (tmp_path / f"ranks/rank{rank}.log").read_bytes().startswith(said)
    assert b"the end" in b"".join(part.data for batch in got for part in batch.logs if part.rank == 0)
