"""What runs that have ended left behind on their nodes: processes, shared memory, control groups."""

import json
from pathlib import Path

from benchmarks.faults.attacked import Attacked
from benchmarks.faults.living import living, what
from benchmarks.faults.runs import Planned

RINGS = Path("/dev/shm/paceline")
CGROUPS = Path("/sys/fs/cgroup")


def orphans(attacked: Attacked, begun: list[Planned]) -> list[str]:
    """A line for each."""
    alive = living()
    nodes = [json.loads((disk / "node.json").read_text())["node"] for disk in attacked.disks]
    found = [f"process {what(pid)} of {planned.uid}" for planned in begun for pid in alive.get(planned.uid, [])]
    found += [f"shared memory {path}" for node in nodes for path in RINGS.glob(f"{node}-*")]
    found += [f"control group {path}" for node in nodes for path in CGROUPS.rglob(f"*{node}*") if path.is_dir()]
    return found


def is_quiet(attacked: Attacked) -> bool:
    """Every node has closed all that it was ordered: the database has it."""
    folders = [folder for disk in attacked.disks for folder in (disk / "attempts").glob("*")]
    return all((folder / "closed.json").exists() for folder in folders)
