"""The command that a run becomes on each node, as a person would type it."""

import shlex

from trainer_agent.wire.launch import torchrun_argv
from webapp.runs.spec import RunSpec


def shown_command(spec: RunSpec) -> str:
    """One line; what the scheduler fills in at placement stands in capitals."""
    if spec.attached:
        return shlex.join(spec.argv)
    argv = torchrun_argv(
        spec.argv,
        nnodes=spec.nodes,
        node_rank="NODE_RANK",
        ranks_per_node=spec.ranks_per_node,
        master_addr="MASTER_ADDR",
        master_port="MASTER_PORT",
    )
    return shlex.join(argv)
