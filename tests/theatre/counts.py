"""Prints numbers without end, in order: a gap or a double would be seen."""

import time

i = 0
while True:
    print(i, flush=True)
    i += 1
    time.sleep(0.01)
