import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.product import NOT_INHERITED


def test_simulated_nodes_have_all_their_points_stored_and_the_last_line_says_what_it_cost(repo: Path):
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    command = [sys.executable, "-m", "benchmarks.ingest.ours", "--nodes", "2", "--ranks", "2", "--messages", "3"]
    done = subprocess.run(command, cwd=repo, env=environment, capture_output=True, text=True, timeout=240, check=True)
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["points_sent"] == told["points_stored"] > 0
    assert told["points_per_s_per_core"] > 0
    assert 0 < told["bytes_per_timer"] < 4
