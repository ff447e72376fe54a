"""A rank that writes step records as the probe does, a thousand a second whose numbers hardly pack, prints each, and
ends by itself when a file says so."""

import os
import random
import sys
import time
from pathlib import Path

sys.path.insert(0, os.environ["PACELINE_AGENT_DIR"])

from trainer_agent.rank.ring import RingWriter
from trainer_agent.wire import record

rank = int(os.environ["RANK"])
ring = RingWriter(record.ring_path(os.environ["PACELINE_RING_DIR"], rank, "steps"), record.STEP, 1024, rank)
end = Path(sys.argv[1])
step = 0
while not end.exists():
    phases = [random.getrandbits(30) for _ in range(7)]
    ring.put(time.time(), step, step, time.time(), *phases, record.MISSING_US, 0, 0, 0)
    print(f"step {step} " + "x" * 200, flush=True)
    step += 1
    time.sleep(0.001)
print(f"made {step}")
