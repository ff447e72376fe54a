import os
import sys
import time

if os.environ["RANK"] == "1":
    print("rank 1 gives up", flush=True)
    sys.exit(3)
time.sleep(60)
