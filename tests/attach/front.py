"""`paceline attach` as a process, away from any server unless told where one is."""

import os
import subprocess
import sys
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
NOWHERE = "http://127.0.0.1:9"
OURS = ("PACELINE_", "SLURM_", "PET_", "TORCHELASTIC_")


def environment(tmp: Path, url: str = NOWHERE, token: str = "plt_x") -> dict[str, str]:
    """Leftovers of a front would lie in `tmp`."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    login = {"PACELINE_URL": url, "PACELINE_TOKEN": token, "PACELINE_CONFIG": str(tmp / "no-login.json")}
    return {**clean, **login, "TMPDIR": str(tmp), "OMP_NUM_THREADS": "1"}


def command(*argv: str, options: tuple[str, ...] = ()) -> list[str]:
    return [sys.executable, "-m", "trainer_agent.cli", "attach", *options, "--", *argv]


def start(env: dict[str, str], *argv: str, options: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
    """In a session of its own, so that there is no terminal."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command(*argv, options=options),
        cwd=REPO,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        text=True,
        start_new_session=True,
    )


def run(env: dict[str, str], *argv: str, options: tuple[str, ...] = ()) -> "subprocess.CompletedProcess[str]":
    process = start(env, *argv, options=options)
    out, err = process.communicate(timeout=90)
    return subprocess.CompletedProcess(argv, process.returncode, out, err)
