"""A rank that writes step records as the probe does, prints each, and ends by itself when a file says so."""

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, os.environ["PACELINE_AGENT_DIR"])

from trainer_agent.rank.ring import RingWriter
from trainer_agent.wire import record

rank = int(os.environ["RANK"])
ring = RingWriter(record.ring_path(os.environ["PACELINE_RING_DIR"], rank, "steps"), record.STEP, 256, rank)
end = Path(sys.argv[1])
step = 0
while not end.exists():
    ring.put(time.time(), step, step, time.time(), 1000, 100, 200, 300, 50, 50, 300, record.MISSING_US, 0, 0, 0)
    print(f"step {step} " + "x" * 200, flush=True)
    step += 1
    time.sleep(0.004)
print(f"made {step}")
