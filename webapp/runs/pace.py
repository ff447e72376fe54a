"""The pace line: one mark per rank, a gap between nodes. Pure."""

from collections.abc import Mapping

from webapp.runs.models import Outcome, Run, Status

MOST = 16  # marks in a table; more ranks than this share marks


def marks(nodes: int, ranks_per_node: int, base: str = "", special: Mapping[int, str] | None = None) -> list[str]:
    """CSS classes of the marks: "" in line, slow, wait, hung, off, and gap between nodes.

    Over MOST ranks a mark stands for several neighbours and takes the first special class among them.
    """
    special = special or {}
    world = nodes * ranks_per_node
    share = -(-world // MOST)
    classes = []
    for first in range(0, world, share):
        if first and share == 1 and first % ranks_per_node == 0:
            classes.append("gap")
        found = [special[rank] for rank in range(first, min(first + share, world)) if rank in special]
        classes.append(found[0] if found else base)
    return classes


def of_run(run: Run) -> list[str]:
    """Marks from the summary row alone."""
    nodes = int(run.spec.get("nodes", 1))
    ranks_per_node = int(run.spec.get("ranks_per_node", 1))
    base, special = _classes(run)
    return marks(nodes, ranks_per_node, base, special)


def _classes(run: Run) -> tuple[str, dict[int, str]]:
    if run.status in (Status.QUEUED, Status.STARTING):
        return "off", {}
    if run.status == Status.ENDED and run.outcome != Outcome.SUCCEEDED:
        rank = run.detail.get("rank") if run.outcome in (Outcome.FAILED, Outcome.LOST) else None
        return "off", {} if rank is None else {int(rank): "hung"}
    rank = run.health.get("rank")
    hang = run.health.get("kind") == "hang"
    if not run.health.get("kind"):
        return "", {}
    return "wait" if hang else "", {} if rank is None else {int(rank): "hung" if hang else "slow"}
