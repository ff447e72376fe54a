"""A node's slots follow what the node says it has."""

from collections.abc import Sequence

from trainer_agent.wire.messages import SlotFacts
from webapp.nodes.models import Node, Slot


def update_slots(node: Node, facts: Sequence[SlotFacts]) -> bool:
    """Add, rename, and take away slots; one that is in use stays until it is free. True when anything changed."""
    said = {slot.index: slot for slot in facts}
    rows = {slot.index: slot for slot in Slot.objects.filter(node=node)}
    new = [index for index in said if index not in rows]
    gone = [index for index in rows if index not in said]
    other = [i for i in said if i in rows and (rows[i].kind, rows[i].model) != (said[i].kind, said[i].model[:120])]
    Slot.objects.bulk_create(
        (Slot(node=node, index=i, kind=said[i].kind[:8], model=said[i].model[:120]) for i in new), ignore_conflicts=True
    )
    for index in other:
        Slot.objects.filter(node=node, index=index).update(kind=said[index].kind[:8], model=said[index].model[:120])
    removed, _by_model = Slot.objects.filter(node=node, index__in=gone, attempt=None).delete()
    return bool(new or other or removed)
