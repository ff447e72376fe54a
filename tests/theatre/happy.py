import os
import time

rank = os.environ["RANK"]
for step in range(5):
    print(f"rank {rank} step {step}", flush=True)
    time.sleep(0.02)
