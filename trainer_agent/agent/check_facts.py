"""What a node tells of itself when it is checked before a run."""

import os
from pathlib import Path
from typing import Any

from trainer_agent.agent import inventory
from trainer_agent.agent.gpu import Gpus
from trainer_agent.agent.gpu_health import health_of

SHARED_MEMORY = "/dev/shm"  # noqa: S108  (data loaders and the probe's rings live there)


def facts(folder: str, home: Path, python: str, gpus: Gpus) -> dict[str, Any]:
    """{versions, driver, disk, shared, gpus}; a place on disk is {path, free, writable}, bytes."""
    return {
        "versions": inventory.training_versions(python),
        "driver": gpus.driver(),
        "disk": place(folder or str(home)),
        "shared": place(SHARED_MEMORY),
        "gpus": health_of(gpus),
    }


def place(path: str) -> dict[str, Any]:
    """Room that this user has there; `free` is None where there is no such folder."""
    try:
        room = os.statvfs(path)
    except OSError:
        return {"path": path, "free": None, "writable": False}
    return {"path": path, "free": room.f_bavail * room.f_frsize, "writable": os.access(path, os.W_OK)}
