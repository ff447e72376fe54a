"""Flight-recorder dumps for tests: known ones of real jobs, and small ones made to order."""

import pickle
from pathlib import Path
from typing import Any

from webapp.incidents.flight_recorder.reading import Dump, read

CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "flight_recorder"


def case(name: str) -> dict[str, bytes]:
    """File name -> bytes of one recorded hang."""
    return {path.name: path.read_bytes() for path in sorted((CASES / name).glob("_dump_*"))}


def entry(seq: int, what: str = "nccl:all_reduce", size: int = 10, **more: Any) -> dict[str, Any]:
    return {
        "pg_id": 0,
        "process_group": ("0", "default_pg"),
        "collective_seq_id": seq,
        "profiling_name": what,
        "input_sizes": [[size]],
        "input_dtypes": ["Float"],
        "frames": [{"name": "step", "filename": "/work/train.py", "line": 12}],
        **more,
    }


def content(*, enqueued: int, completed: int, entries: list[dict[str, Any]] | None = None, world: int = 2) -> Any:
    return {
        "version": "2.9",
        "pg_config": {"0": {"name": "0", "desc": "default_pg", "ranks": str(list(range(world)))}},
        "pg_status": {"0": {"last_enqueued_collective": enqueued, "last_completed_collective": completed}},
        "entries": entries or [],
    }


def dump(rank: int, **fields: Any) -> Dump:
    return read(f"trace_rank_{rank}", pickle.dumps(content(**fields)))
