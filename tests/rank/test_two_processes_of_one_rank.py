"""Two processes that live at the same time and say that they are the same rank."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trainer_agent.wire.ring_reader import facts_reader

OPENS = """
import sys
from trainer_agent.rank.output import Output
print(Output(sys.argv[1], 0).open(), flush=True)
sys.stdin.read()
"""


@contextmanager
def rank_0(folder: Path) -> Iterator[int]:
    """Process id of one that has opened its files, and lives until the end."""
    command = [sys.executable, "-c", OPENS, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "True\n"
        yield process.pid


def claims(folder: Path) -> list[Any]:
    facts = [line["facts"] for line in facts_reader(str(folder), 0).read_new() if "facts" in line]
    return [fact["claims"] for fact in facts if "claims" in fact]


def test_the_second_says_so_and_one_that_follows_an_ended_one_does_not(tmp_path: Path) -> None:
    with rank_0(tmp_path) as first:
        with rank_0(tmp_path) as second:
            assert claims(tmp_path) == [[first, second]]
        with rank_0(tmp_path):  # the header names the second, which is gone
            assert claims(tmp_path) == [[first, second]]
