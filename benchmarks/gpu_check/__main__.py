"""`python -m benchmarks.gpu_check`: on a machine with NVIDIA GPUs, whether what Paceline measures of them is true.

Events: the probe's step times, read without waiting, against the clock of a loop that waits for the device.
NVML: counters that the device has, within their ranges, with the device at work.
NCCL: an all-reduce over all GPUs and its bus bandwidth by nccl-tests' formulas; needs two.
Last line JSON. Exits with 2 and a sentence where there is no GPU.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.product import REPO, free_port
from trainer_agent.agent.gpu import Gpus
from trainer_agent.wire.record import MISSING_US, PHASES
from trainer_agent.wire.ring_reader import facts_reader, step_reader

INJECT = REPO / "trainer_agent" / "inject"
SIZES_MB = (1, 16, 256)
CLOSE = 0.05  # by which two clocks may differ
WITHIN_S = 300
BURN = """
import time, torch
square, end = torch.rand(8192, 8192, device="cuda"), time.time() + 6
while time.time() < end:
    square @ square
    torch.cuda.synchronize()
"""


def main() -> int:
    gpus = Gpus().read()
    if not gpus:
        print("There is no NVIDIA GPU here, or no driver: there is nothing to check. Run this on a machine with one.")
        return 2
    try:
        found: dict[str, Any] = {"gpus": len(gpus), "events": events(), "nvml": nvml(), "nccl": nccl(len(gpus))}
    except subprocess.CalledProcessError as error:
        print(f"A check could not run:\n{error.stdout}{error.stderr}")
        return 1
    found["ok"] = found["events"]["ok"] and found["nvml"]["ok"] and found["nccl"].get("ok", True)
    for name in ("events", "nvml", "nccl"):
        print(f"{name}: {found[name]}")
    print(json.dumps(found))
    return 0 if found["ok"] else 1


def events() -> dict[str, Any]:
    """The parts must add up to the step, and the step to what a clock sees."""
    with tempfile.TemporaryDirectory(prefix="paceline-gpu-") as folder:
        rings = str(Path(folder, "rings"))
        env = {"PACELINE_RING_DIR": rings, "RANK": "0", "PYTHONPATH": f"{INJECT}{os.pathsep}{REPO}"}
        seen = json.loads(_run(["benchmarks.gpu_check.steps", f"{folder}/meeting"], env))
        steps, _ = step_reader(rings, 0).read_new(0)
        told = facts_reader(rings, 0).read_new()[-1]["facts"]
    by_events = [step.us[0] / 1e3 for step in steps[10:]]
    parts = [sum(us for us in step.us[1 : 1 + len(PHASES[1:7])] if us != MISSING_US) / 1e3 for step in steps[10:]]
    ours, theirs = median(by_events), median(seen[10:])
    sums = max(abs(whole - part) / whole for whole, part in zip(by_events, parts, strict=True))
    ok = told["clock"] == "cuda events" and abs(ours - theirs) <= CLOSE * theirs and sums <= 0.01
    shown = {"step_ms": ours, "waited_ms": theirs, "parts_off": sums, "probe_us": told["probe_us"]}
    return {"ok": ok, "clock": told["clock"], **shown}


def nvml() -> dict[str, Any]:
    """Read while a device computes."""
    with subprocess.Popen([sys.executable, "-c", BURN]) as worker:
        busy, gpus = 0.0, Gpus()
        while worker.poll() is None:
            busy = max(busy, gpus.read()[0].util or 0.0)
    now = Gpus().read()[0]
    values = {name: getattr(now, name) for name in ("model", "power", "temperature", "sm_clock", "memory_used")}
    return {"ok": busy > 50 and all(value is not None for value in values.values()), "busy": busy, **values}


def nccl(gpus: int) -> dict[str, Any]:
    """Two clocks must agree on an all-reduce."""
    if gpus < 2:
        return {"left_out": "needs two GPUs"}
    launcher = ["torch.distributed.run", f"--nproc-per-node={gpus}", f"--master-port={free_port()}", "-m"]
    told = json.loads(_run([*launcher, "benchmarks.gpu_check.nccl", *map(str, SIZES_MB)], {"PYTHONPATH": str(REPO)}))
    biggest = told[-1]
    ok = abs(biggest["events_ms"] - biggest["wall_ms"]) <= CLOSE * biggest["wall_ms"]
    return {"ok": ok, "ranks": gpus, "all_reduce": told}


def _run(module: list[str], env: dict[str, str]) -> str:
    """The last line that it printed."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PACELINE_")}
    done = subprocess.run(
        [sys.executable, "-m", *module],
        env={**clean, **env},
        cwd=REPO,
        capture_output=True,
        text=True,
        timeout=WITHIN_S,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if line.startswith("[")][-1]


if __name__ == "__main__":
    sys.exit(main())
