"""Ignores SIGTERM, and leaves a grandchild in a session of its own that ignores it too."""

import os
import signal
import subprocess
import sys
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
hider = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(300)"
child = subprocess.Popen([sys.executable, "-c", hider], start_new_session=True)
print(f"hidden {child.pid}", flush=True)
print(f"own {os.getpid()}", flush=True)
time.sleep(300)
