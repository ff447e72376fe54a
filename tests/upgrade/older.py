"""An agent of the previous release, unpacked from its wheel, beside the one of this tree; both in one home."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

from benchmarks.product import NOT_INHERITED, REPO, Product

WHEEL = Path(__file__).with_name("paceline_agent-0.1.0-py3-none-any.whl")
ISSUE = """
import sys
from pathlib import Path
from benchmarks.fill import open_database
open_database(Path(sys.argv[1]))
from webapp.nodes.enrol import issue_join_token
print(issue_join_token(None))
"""


class Agent:
    """One node's home, in which agents of either release run, one after the other."""

    def __init__(self, folder: Path, product: Product) -> None:
        self.home = folder / "node"
        self._old = folder / "old"
        self._product = product
        zipfile.ZipFile(WHEEL).extractall(self._old)
        self.process: subprocess.Popen[bytes] | None = None

    def join_with_the_old_one(self) -> None:
        issue = [sys.executable, "-c", ISSUE, str(self._product.home)]
        issued = subprocess.run(issue, cwd=REPO, capture_output=True, text=True, check=True)
        join = ["--join", self._product.url, "--name", "old", "--slots", "2", "--token", issued.stdout.split()[-1]]
        self._start(self._old, *join)

    def start_the_new_one(self) -> None:
        self._start(REPO)

    def end(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.wait(20)

    def _start(self, code: Path, *options: str) -> None:
        env = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
        command = [sys.executable, "-m", "trainer_agent.agent", "--home", str(self.home), *options]
        with self.home.with_name("agent.log").open("ab") as log:
            self.process = subprocess.Popen(
                command, cwd=code, env={**env, "PYTHONPATH": str(code)}, stdout=log, stderr=log
            )
