"""Reads of nodes for pages: each node's state, and which run holds which slot."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from django.utils.translation import gettext as _

from webapp.accounts.models import User
from webapp.language.numerals import numeral
from webapp.nodes.models import Node, Slot
from webapp.nodes.reach import is_reachable
from webapp.nodes.standing import Standing, sentence, standing
from webapp.projects.access import visible
from webapp.projects.models import Project
from webapp.runs.looks import Look
from webapp.runs.models import Run


@dataclass(frozen=True)
class SlotRow:
    """One slot. `run` is None when it is free or its run is not for this person to see."""

    slot: Slot
    run: Run | None
    facts: dict[str, Any]

    @property
    def used(self) -> bool:
        return self.slot.attempt_id is not None


@dataclass(frozen=True)
class NodeRow:
    """One node as the page shows it."""

    node: Node
    look: Look
    slots: list[SlotRow]
    usable: bool  # the scheduler may place on it

    @property
    def free(self) -> int:
        return sum(not row.used for row in self.slots)

    @property
    def used(self) -> int:
        return len(self.slots) - self.free

    @property
    def runs(self) -> list[tuple[Run, int]]:
        """Each visible run on this node with the number of slots it holds."""
        held: dict[int, tuple[Run, int]] = {}
        for row in self.slots:
            if row.run:
                held[row.run.pk] = (row.run, held.get(row.run.pk, (row.run, 0))[1] + 1)
        return list(held.values())

    @property
    def hidden(self) -> int:
        """Slots held by runs of projects that this person does not see."""
        return sum(row.used and row.run is None for row in self.slots)

    @property
    def marks(self) -> list[str]:
        return ["" if row.used else "off" for row in self.slots]

    @property
    def device(self) -> str:
        """ "8 × NVIDIA H100", or the kinds of slot that there are."""
        kinds = Counter(row.slot.model or row.slot.kind.upper() for row in self.slots)
        return "; ".join(f"{count} × {name}" for name, count in kinds.items()) or "–"

    @property
    def slot_memory(self) -> int | None:
        """Bytes of one device's memory, as the first that says so."""
        return next((row.facts["memory_total"] for row in self.slots if row.facts.get("memory_total")), None)

    @property
    def clock(self) -> str:
        """ "+1.2 ms ± 0.3" of the server's clock against the node's."""
        offset, error = self.node.clock_offset, self.node.clock_error
        if offset is None:
            return "–"
        shown = round(1000 * offset, 1) + 0.0  # no "-0.0"
        return numeral(shown, "+,.1f") + " ms" + (f" ± {numeral(1000 * error, ',.1f')}" if error is not None else "")

    @property
    def memory_share(self) -> float | None:
        """Per cent of the machine's memory in use."""
        used, total = self.node.vitals.get("memory_used"), self.node.inventory.get("memory_total")
        return 100 * used / total if used is not None and total else None


@dataclass(frozen=True)
class SlotCount:
    """Slots of nodes that can be reached. `busy` also counts slots of unreachable nodes that a run still holds."""

    busy: int
    free: int
    total: int


def node_rows(user: User | AnonymousUser) -> list[NodeRow]:
    """Every node of ours that was not removed, by name."""
    now = timezone.now()
    nodes = list(Node.objects.filter(removed_at=None, attached_as="").prefetch_related("slots__attempt__run"))
    seen = set(visible(Project.objects.all(), user, "pk").values_list("pk", flat=True))
    return [_row(node, now, seen) for node in nodes]


def slot_count(rows: Iterable[NodeRow] | None = None) -> SlotCount:
    """Busy, free now and in all, from rows already read or from the database."""
    if rows is None:
        rows = node_rows(AnonymousUser())
    listed = list(rows)
    busy = sum(row.used for row in listed)
    return SlotCount(busy, sum(row.free for row in listed if row.usable), sum(len(row.slots) for row in listed))


def look(node: Node, now: datetime, *, busy: bool = True) -> Look:
    """A node's state: the one that matters most to somebody who wants to run something."""
    word = standing(node, now, busy=busy)
    hint = sentence(word, node)
    return {
        Standing.UNREACHABLE: Look("s-stale", "crit", _("Unreachable"), hint),
        Standing.DIRTY: Look("s-warn", "warn", _("Not clean"), hint),
        Standing.DRAINED: Look("s-drain", "ok", _("Drained"), hint),
        Standing.DRAINING: Look("s-drain", "idle", _("Draining"), hint),
        Standing.LATE: Look("s-late", "warn", _("Late"), hint),
        Standing.READY: Look("s-fresh", "ok", _("Ready")),
    }[word]


def _row(node: Node, now: datetime, seen: set[int]) -> NodeRow:
    by_index = {facts.get("index"): facts for facts in node.inventory.get("slots", [])}
    slots = [_slot(slot, seen, by_index.get(slot.index, {})) for slot in node.slots.all()]
    usable = is_reachable(node, now) and not node.draining and not node.vitals.get("dirty")
    return NodeRow(node, look(node, now, busy=any(slot.used for slot in slots)), slots, usable)


def _slot(slot: Slot, seen: set[int], facts: dict[str, Any]) -> SlotRow:
    run = slot.attempt.run if slot.attempt else None
    return SlotRow(slot, run if run and run.project_id in seen and run.deleted_at is None else None, facts)
