"""Reads of nodes for pages: each node's state, and which run holds which slot."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import Count
from django.utils import timezone

from webapp.accounts.models import User
from webapp.language.numerals import numeral
from webapp.nodes.models import Node, Slot
from webapp.nodes.reach import is_clean, is_reachable, own
from webapp.nodes.standing import Standing, sentence, standing, word
from webapp.projects.access import visible
from webapp.projects.models import Project
from webapp.runs.looks import Look
from webapp.runs.models import Run

_OF_EVERY = ("uid", "name", "vitals", "last_heard", "draining", "removed_at")
_LOOKS = {
    Standing.UNREACHABLE: ("s-stale", "crit"),
    Standing.DIRTY: ("s-warn", "warn"),
    Standing.DRAINED: ("s-drain", "ok"),
    Standing.DRAINING: ("s-drain", "idle"),
    Standing.LATE: ("s-late", "warn"),
    Standing.READY: ("s-fresh", "ok"),
}


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
class NodeLine:
    """What is read of every node at once. `used` of `total` slots are held by runs."""

    node: Node  # with _OF_EVERY alone
    standing: Standing
    usable: bool  # the scheduler may place on it
    used: int
    total: int

    @property
    def free(self) -> int:
        return self.total - self.used

    @cached_property
    def look(self) -> Look:
        """The state that matters most to somebody who wants to run something."""
        shape, tone = _LOOKS[self.standing]
        return Look(shape, tone, word(self.standing), sentence(self.standing, self.node))


@dataclass(frozen=True)
class NodeRow:
    """One node as its own page would show it."""

    line: NodeLine
    node: Node
    slots: list[SlotRow]

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


def node_lines() -> list[NodeLine]:
    """Every node of ours that was not removed, by name."""
    now = timezone.now()
    nodes = own().only(*_OF_EVERY).annotate(used=Count("slots__attempt"), total=Count("slots"))
    return [_line(node, now, node.used, node.total) for node in nodes]


def node_rows(user: User | AnonymousUser, lines: Iterable[NodeLine]) -> list[NodeRow]:
    """Some of them with all that there is to show."""
    by_key = {line.node.pk: line for line in lines}
    nodes = Node.objects.filter(pk__in=by_key).prefetch_related("slots__attempt__run")
    seen = set(visible(Project.objects.all(), user, "pk").values_list("pk", flat=True))
    found = {node.pk: NodeRow(by_key[node.pk], node, _slots(node, seen)) for node in nodes}
    return [found[key] for key in by_key if key in found]


def slot_count(lines: Iterable[NodeLine] | None = None) -> SlotCount:
    """Busy, free now and in all, from lines already read or from the database."""
    listed = node_lines() if lines is None else list(lines)
    free = sum(line.free for line in listed if line.usable)
    return SlotCount(sum(line.used for line in listed), free, sum(line.total for line in listed))


def _line(node: Node, now: datetime, used: int, total: int) -> NodeLine:
    usable = is_reachable(node, now) and not node.draining and is_clean(node)
    return NodeLine(node, standing(node, now, busy=used > 0), usable, used, total)


def _slots(node: Node, seen: set[int]) -> list[SlotRow]:
    by_index = {facts.get("index"): facts for facts in node.inventory.get("slots", [])}
    return [_slot(slot, seen, by_index.get(slot.index, {})) for slot in node.slots.all()]


def _slot(slot: Slot, seen: set[int], facts: dict[str, Any]) -> SlotRow:
    run = slot.attempt.run if slot.attempt else None
    return SlotRow(slot, run if run and run.project_id in seen and run.deleted_at is None else None, facts)
