"""Which commit a launch's code is at, and how it differs from it. Reads only, bounded in time and size."""

import os
import subprocess
from pathlib import Path
from typing import Any

from trainer_agent.agent import git
from trainer_agent.wire.hidden import without_credentials

TIMEOUT = 10.0  # seconds for each question
DIFF_LIMIT = 1024 * 1024  # bytes
_LONGEST_ANSWER = 64 * 1024  # bytes
_MOST_UNTRACKED = 100
# Nothing that the repository's own settings name is started. A mounted folder may belong to somebody else.
_READ_ONLY = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "safe.directory=*", "core.quotePath=false")
_OPTIONS = ["--no-optional-locks", *(part for option in _READ_ONLY for part in ("-c", option))]
_DIFF = ["diff", "HEAD", "--no-ext-diff", "--no-textconv", "--no-color"]


def look(folder: Path, ceiling: Path | None = None) -> dict[str, Any]:
    """Commit, branch, remote and difference of the repository that holds the folder; empty where there is none.

    `ceiling`: no repository at or above this folder counts, such as one that the agent's own home lies in.
    """
    commit = _line(["rev-parse", "--verify", "--quiet", "HEAD"], folder, ceiling)
    if not commit:
        return {}
    root = Path(_line(["rev-parse", "--show-toplevel"], folder, ceiling) or folder)
    diff, diff_cut = _ask(_DIFF, root, ceiling, DIFF_LIMIT)
    names, _cut = _ask(["ls-files", "--others", "--exclude-standard", "-z"], root, ceiling, _LONGEST_ANSWER)
    untracked = [name.decode("utf-8", "replace") for name in names.split(b"\0") if name]
    return {
        "commit": commit,
        "branch": _line(["symbolic-ref", "--quiet", "--short", "HEAD"], folder, ceiling),
        "remote": without_credentials(_line(["config", "--get", "remote.origin.url"], folder, ceiling)),
        "dirty": bool(diff or untracked),
        "diff": diff.decode("utf-8", "replace"),
        "diff_cut": diff_cut,
        "untracked": untracked[:_MOST_UNTRACKED],
    }


def _line(question: list[str], folder: Path, ceiling: Path | None) -> str:
    return _ask(question, folder, ceiling, _LONGEST_ANSWER)[0].decode("utf-8", "replace").strip()


def _ask(question: list[str], folder: Path, ceiling: Path | None, limit: int) -> tuple[bytes, bool]:
    """The answer's first `limit` bytes and whether there was more; nothing where git does not answer."""
    env = git.environment()
    if ceiling is not None:
        env["GIT_CEILING_DIRECTORIES"] = os.path.realpath(ceiling)
    command = ["timeout", f"{TIMEOUT:.0f}", "nice", "git", *_OPTIONS, *question]
    try:
        with subprocess.Popen(
            command, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            answer = process.stdout.read(limit + 1)
            if len(answer) > limit:
                process.kill()
    except OSError:
        return b"", False
    if len(answer) <= limit and process.returncode:
        return b"", False
    return answer[:limit], len(answer) > limit
