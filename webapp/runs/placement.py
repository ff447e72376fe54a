"""Which queued attempt goes where: pure. Strict order, all or nothing, no overtaking."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from webapp.runs.spec import RunSpec


@dataclass(frozen=True, slots=True)
class Offer:
    """A reachable, non-draining node: the indexes of its free slots, and how many slots it has in all."""

    node: int
    free: tuple[int, ...]
    total: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Wish:
    """A queued attempt. `avoid`: nodes that have not yet cleaned up after it."""

    attempt: int
    nodes: int
    ranks_per_node: int
    avoid: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Placement:
    """`parts[k]` is node rank k: (node, slot indexes)."""

    attempt: int
    parts: tuple[tuple[int, tuple[int, ...]], ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Why an attempt stays queued. `reason`: no_node, too_large, slots, behind."""

    attempt: int
    reason: str
    slots: int
    nodes: int
    free: int
    ahead: int = 0


@dataclass(slots=True)
class _Plan:
    placements: list[Placement] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)


def choose(queue: Sequence[Wish], offers: Sequence[Offer]) -> tuple[list[Placement], list[Wait]]:
    """Place what fits, in order; say why the rest waits. Node ranks count up by name, as people read them.

    The first attempt that waits for slots holds back all after it. One that is larger than all reachable nodes
    together holds nobody back: no slot that becomes free could help it.
    """
    free = {offer.node: offer.free for offer in sorted(offers, key=lambda offer: (offer.name, offer.node))}
    plan = _Plan()
    ahead = 0
    for wish in queue:
        parts = None if ahead else _fit(wish, free)
        if parts is not None:
            plan.placements.append(Placement(wish.attempt, parts))
            for node, taken in parts:
                free[node] = tuple(index for index in free[node] if index not in taken)
            continue
        reason = _reason(wish, offers, ahead)
        plan.waits.append(_wait(wish, reason, free, ahead))
        if reason in ("slots", "behind"):
            ahead += 1
    return plan.placements, plan.waits


def fits_anywhere(spec: RunSpec, total_slots: Iterable[int]) -> str:
    """Empty when the run could be placed with every node free; else a sentence. `total_slots`: one number per node."""
    totals = sorted(total_slots, reverse=True)
    if not totals:
        return _("No node has joined yet. Add one on the Nodes page, then launch.")
    if sum(total >= spec.ranks_per_node for total in totals) >= spec.nodes:
        return ""
    wide = totals[: spec.nodes]
    if len(wide) < spec.nodes:
        return _("This needs %(nodes)d nodes; there are %(have)d. Ask for fewer nodes or add more.") % {
            "nodes": spec.nodes,
            "have": len(totals),
        }
    return _(
        "This needs %(nodes)d nodes with %(slots)d slots each; the largest that could ever fit on %(nodes)d nodes "
        "is %(largest)d slots each."
    ) % {"nodes": spec.nodes, "slots": spec.ranks_per_node, "largest": wide[-1]}


def _fit(wish: Wish, free: dict[int, tuple[int, ...]]) -> tuple[tuple[int, tuple[int, ...]], ...] | None:
    """The nodes that are filled best by this wish: those with the fewest slots left over, then in their order."""
    able = [
        (len(slots), place, node)
        for place, (node, slots) in enumerate(free.items())
        if len(slots) >= wish.ranks_per_node and node not in wish.avoid
    ]
    if len(able) < wish.nodes:
        return None
    chosen = sorted((place, node) for _count, place, node in sorted(able)[: wish.nodes])
    return tuple((node, tuple(sorted(free[node])[: wish.ranks_per_node])) for _place, node in chosen)


def _reason(wish: Wish, offers: Sequence[Offer], ahead: int) -> str:
    if not offers:
        return "no_node"
    if sum(offer.total >= wish.ranks_per_node for offer in offers) < wish.nodes:
        return "too_large"
    return "behind" if ahead else "slots"


def _wait(wish: Wish, reason: str, free: dict[int, tuple[int, ...]], ahead: int) -> Wait:
    return Wait(
        attempt=wish.attempt,
        reason=reason,
        slots=wish.nodes * wish.ranks_per_node,
        nodes=wish.nodes,
        free=sum(len(slots) for slots in free.values()),
        ahead=ahead,
    )
