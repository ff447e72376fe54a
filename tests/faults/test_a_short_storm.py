"""The fault bench in its short form: everything real, a fixed seed, and the last line says that all is well."""

import json
import subprocess
import sys

import pytest

from benchmarks.product import REPO

SEED = 6
MINUTES = "0.35"


@pytest.mark.e2e
@pytest.mark.torch
@pytest.mark.timeout(420)
def test_steps_states_and_processes_stay_true_in_a_short_storm():
    command = [sys.executable, "-m", "benchmarks.faults", "--minutes", MINUTES, "--seed", str(SEED)]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)
    print(done.stdout)
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["faults"] >= 6
    assert report["steps_made"] == report["steps_stored"] > 0
    assert (report["duplicates"], report["wrong_state"], report["orphans"]) == (0, 0, 0)
    assert done.returncode == 0, done.stdout
