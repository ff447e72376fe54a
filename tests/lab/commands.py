"""The programs that make and change the lab's network."""

import os
import shutil
import subprocess

NEEDED = {"ip": "iproute2", "tc": "iproute2", "nft": "nftables"}


class LabError(Exception):
    """The lab cannot be made or changed here; the text says why."""


def require() -> None:
    """LabError where the lab cannot be."""
    if os.geteuid() != 0:
        raise LabError("The lab makes network namespaces, which needs root.")
    missing = sorted({package for program, package in NEEDED.items() if shutil.which(program) is None})
    if missing:
        raise LabError(f"The lab needs more programs: apt-get install {' '.join(missing)}")


def run(line: str, *, inside: str = "") -> str:
    """A command line without spaces in its words, in a namespace or outside; its output."""
    words = [*(["ip", "netns", "exec", inside] if inside else []), *line.split()]
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        raise LabError(f"{' '.join(words)}: {done.stderr.strip() or done.returncode}")
    return done.stdout


def tried(line: str) -> bool:
    """Whether it succeeded; for what may be gone already."""
    try:
        run(line)
    except LabError:
        return False
    return True
