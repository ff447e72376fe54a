import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.product import NOT_INHERITED

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_filled_server_is_measured_in_a_browser_and_the_last_line_says_what_was_found(repo: Path, database: str):
    environment = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    command = [sys.executable, "-m", "benchmarks.pages", "--scale", "0.001", "--tries", "1", "--minutes", "0.03"]
    done = subprocess.run(
        [*command, "--database", database], cwd=repo, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    told = json.loads(done.stdout.splitlines()[-1])
    times = ("list_ms", "first_draw_ms", "zoom_ms", "picker_ms", "redraw_ms")
    assert all(told[name] > 0 for name in times)
    assert 0 < told["max_reply_kb"] < 300
    assert told["steps"] > 0
    assert told["errors"] == 0, done.stdout
