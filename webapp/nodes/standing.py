"""How a node stands for somebody who wants to run something on it: one word, and a sentence with what to do."""

from datetime import datetime, timedelta
from enum import StrEnum

from django.utils.translation import gettext as _

from webapp.nodes.models import Node
from webapp.nodes.reach import is_reachable

LATE_AFTER_S = 6.0  # three heartbeats


class Standing(StrEnum):
    """The one that matters most comes first."""

    UNREACHABLE = "unreachable"
    DIRTY = "dirty"
    DRAINED = "drained"
    DRAINING = "draining"
    LATE = "late"
    READY = "ready"


def standing(node: Node, now: datetime, *, busy: bool) -> Standing:
    """`busy`: a run holds a slot of it."""
    if not is_reachable(node, now):
        return Standing.UNREACHABLE
    if node.vitals.get("dirty"):
        return Standing.DIRTY
    if node.draining:
        # What a node still lists it has either not ended or not handed over yet.
        return Standing.DRAINING if busy or node.vitals.get("attempts") else Standing.DRAINED
    late = node.last_heard is not None and now - node.last_heard > timedelta(seconds=LATE_AFTER_S)
    return Standing.LATE if late else Standing.READY


def word(of: Standing) -> str:
    """For people."""
    words: dict[Standing, str] = {
        Standing.UNREACHABLE: _("Unreachable"),
        Standing.DIRTY: _("Not clean"),
        Standing.DRAINED: _("Drained"),
        Standing.DRAINING: _("Draining"),
        Standing.LATE: _("Late"),
        Standing.READY: _("Ready"),
    }
    return words[of]


def sentence(word: Standing, node: Node) -> str:
    """For people; empty when nothing needs to be said."""
    texts: dict[Standing, str] = {
        Standing.UNREACHABLE: _("Runs on it are not touched. See whether its agent lives."),
        Standing.DIRTY: _("Nothing new starts here until it is clean: %s.") % node.vitals.get("dirty"),
        Standing.DRAINED: _("Drained: nothing runs here, safe to switch off."),
        Standing.DRAINING: _("Its runs go on, and no new ones are placed on it."),
        Standing.LATE: _("Its last sign of life is older than usual."),
        Standing.READY: "",
    }
    return texts[word]
