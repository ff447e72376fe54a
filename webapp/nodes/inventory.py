"""A node's slots follow what the node says it has."""

from collections import defaultdict
from collections.abc import Sequence

from trainer_agent.wire.messages import SlotFacts
from webapp.nodes.models import Node, Slot

Shape = dict[int, tuple[str, str]]  # index: kind and model


def shapes() -> dict[int, Shape]:
    """The slots of all nodes as the rows have them, by the node's key."""
    found: dict[int, Shape] = defaultdict(dict)
    for node, index, kind, model in Slot.objects.order_by().values_list("node_id", "index", "kind", "model"):
        found[node][index] = kind, model
    return dict(found)


def shape_of(facts: Sequence[SlotFacts]) -> Shape:
    """The slots that a node says it has, as rows would have them."""
    return {slot.index: (slot.kind[:8], slot.model[:120]) for slot in facts}


def update_slots(node: Node, facts: Sequence[SlotFacts]) -> bool:
    """Add, rename, and take away slots; one that is in use stays until it is free. True when anything changed."""
    said = shape_of(facts)
    rows = {slot.index: (slot.kind, slot.model) for slot in Slot.objects.filter(node=node)}
    new = [index for index in said if index not in rows]
    gone = [index for index in rows if index not in said]
    other = [index for index in said if index in rows and rows[index] != said[index]]
    made = (Slot(node=node, index=index, kind=said[index][0], model=said[index][1]) for index in new)
    Slot.objects.bulk_create(made, ignore_conflicts=True)
    for index in other:
        kind, model = said[index]
        Slot.objects.filter(node=node, index=index).update(kind=kind, model=model)
    removed, _by_model = Slot.objects.filter(node=node, index__in=gone, attempt=None).delete()
    return bool(new or other or removed)
