"""The launcher's command line: built here for the node that runs it and for the page that shows it. Stdlib only."""

from collections.abc import Sequence

# trainer_agent/shim/rank_entry.py, the parent of one rank: log file, your code, exit record.
RANK_ENTRY = "rank_entry.py"


def torchrun_argv(
    argv: Sequence[str],
    *,
    nnodes: int,
    node_rank: int | str,
    ranks_per_node: int,
    master_addr: str,
    master_port: int | str,
    python: str = "python",
    entry: str = RANK_ENTRY,
) -> list[str]:
    """The full command of one node. Static rendezvous: the control plane numbers the nodes, no election.

    `argv` is the user's script or command; `entry` decides how to start it (see its docstring).
    """
    return [
        python,
        "-m",
        "torch.distributed.run",
        f"--nnodes={nnodes}",
        f"--node-rank={node_rank}",
        f"--nproc-per-node={ranks_per_node}",
        f"--master-addr={master_addr}",
        f"--master-port={master_port}",
        "--max-restarts=0",
        "--monitor-interval=0.1",
        entry,
        *argv,
    ]
