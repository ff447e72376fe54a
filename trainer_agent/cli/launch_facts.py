"""Which job a launch belongs to, which of its nodes this is, and how large it is. Pure."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from trainer_agent.cli.torchrun_flags import Flags, flags_of, nodes_of, ranks_per_node

MOST_RANKS_PER_NODE = 64
_MASTER_PORT = "29500"
_OWN_TO_A_NODE = ("--node-rank", "--node_rank", "--local-addr", "--local_addr")
_BATCH_STEPS = ("", "4294967291", "4294967294")  # Slurm: in the batch script itself, not in a step of srun


@dataclass(frozen=True, slots=True)
class LaunchFacts:
    """`job` empty: no other node can belong to it. `node_rank` None: in order of arrival."""

    name: str
    job: str
    launch: str
    node_rank: int | None
    nodes: int
    ranks_per_node: int


def facts_of(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    name: str = "",
    job: str = "",
    node_rank: int | None = None,
    gpus: int = 0,
    cpus: int = 1,
) -> LaunchFacts:
    """What is asked for comes first, then the scheduler, then torchrun's own words."""
    flags = flags_of(argv, environ)
    told = flags or Flags()
    fewest, most = nodes_of(told)
    nodes = fewest if flags else _whole(environ.get("SLURM_NNODES")) or 1
    name = name or _name(argv, told)
    in_step = environ.get("SLURM_JOB_ID") and environ.get("SLURM_STEP_ID", "") not in _BATCH_STEPS
    if node_rank is None:
        node_rank = _whole(told.get("node-rank"))
    if node_rank is None and in_step:
        node_rank = _slurm_place(environ)
    return LaunchFacts(
        name=name[:120],
        job=_job(job, environ, argv, told, name=name, several=most > 1)[:300],
        launch=environ.get("SLURM_RESTART_COUNT", "0") if environ.get("SLURM_JOB_ID") and not job else "",
        node_rank=node_rank,
        nodes=min(nodes, 1024),
        ranks_per_node=min(ranks_per_node(told, gpus=gpus, cpus=cpus), MOST_RANKS_PER_NODE),
    )


def _job(asked: str, environ: Mapping[str, str], argv: Sequence[str], flags: Flags, *, name: str, several: bool) -> str:
    """One name for all nodes and relaunches of a job, and for no other job."""
    if asked:
        return f"job {asked}"
    if environ.get("SLURM_JOB_ID"):
        step = environ.get("SLURM_STEP_ID", "")
        part = f"batch {name}" if step in _BATCH_STEPS else step
        return f"slurm {environ.get('SLURM_CLUSTER_NAME', '')} {environ['SLURM_JOB_ID']}.{part}"
    if environ.get("TORCHELASTIC_RUN_ID"):
        return f"elastic {environ['TORCHELASTIC_RUN_ID']}"
    meeting = _meeting_point(flags) if several else ""
    return f"{meeting} {_fingerprint(argv)}" if meeting else ""


def _meeting_point(flags: Flags) -> str:
    if flags.get("rdzv-endpoint"):
        return f"rdzv {flags['rdzv-endpoint']} {flags.get('rdzv-id', '')}"
    if flags.get("master-addr"):
        return f"master {flags['master-addr']}:{flags.get('master-port', _MASTER_PORT)}"
    return ""


def _fingerprint(argv: Sequence[str]) -> str:
    """The same for all nodes of a launch: endpoints and ids are used again and again for other things."""
    kept, skip = [], False
    for word in argv:
        if not skip and word.partition("=")[0] not in _OWN_TO_A_NODE:
            kept.append(word)
        skip = word in _OWN_TO_A_NODE
    return hashlib.sha256(json.dumps(kept).encode()).hexdigest()[:16]


def _slurm_place(environ: Mapping[str, str]) -> int | None:
    """The node's number with one task per node, else the task's."""
    alone = environ.get("SLURM_NTASKS", environ.get("SLURM_STEP_NUM_TASKS")) == environ.get("SLURM_NNODES")
    return _whole(environ.get("SLURM_NODEID" if alone else "SLURM_PROCID"))


def _name(argv: Sequence[str], flags: Flags) -> str:
    """The script's name."""
    if flags.script >= 0:
        word = argv[flags.script]
    else:
        word = next((part for part in argv if part.endswith((".py", ".sh"))), argv[0])
    return PurePath(word).stem or word


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isdecimal() else None
