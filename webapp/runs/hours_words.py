"""Where the slot time of a run went, in words and as one bar. Pure.

Hours are slot-seconds: `{slots, wall_s, queued, starting, useful, repeated, waiting, stalled, idle}`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

PARTS: dict[str, tuple[str | Promise, str | Promise]] = {
    "queued": (gettext_lazy("queued"), gettext_lazy("Waited for slots; nothing was held.")),
    "starting": (gettext_lazy("starting"), gettext_lazy("From placement to the first step: imports, data, meeting.")),
    "useful": (gettext_lazy("useful steps"), gettext_lazy("Work on steps that count.")),
    "repeated": (gettext_lazy("repeated steps"), gettext_lazy("Steps that a later attempt did once more.")),
    "waiting": (gettext_lazy("waiting for stragglers"), gettext_lazy("Ranks that waited for the slowest one.")),
    "stalled": (gettext_lazy("stalled"), gettext_lazy("Ranks lived, but the step did not move.")),
    "idle": (gettext_lazy("idle but held"), gettext_lazy("Slots were held, and no rank lived.")),
}
_LOSSES = ("repeated", "waiting", "stalled", "idle")
_LITTLE = 1.0  # per cent


@dataclass(frozen=True)
class Piece:
    """One part of a bar; `start` and `share` in per cent of the whole."""

    key: str
    name: str
    hint: str
    seconds: float
    start: float
    share: float

    @property
    def share_text(self) -> str:
        if 0 < self.share < _LITTLE:
            return "< 1\N{NO-BREAK SPACE}%"
        if 100 - _LITTLE < self.share < 100:
            return "> 99\N{NO-BREAK SPACE}%"
        return f"{self.share:.0f}\N{NO-BREAK SPACE}%"


def whole(hours: Mapping[str, Any]) -> float:
    """All slot-seconds of the seven parts."""
    return float(sum(max(0.0, float(hours.get(key) or 0)) for key in PARTS))


def pieces(hours: Mapping[str, Any]) -> list[Piece]:
    """The seven parts in their order; [] while there is nothing to share out."""
    total, start = whole(hours), 0.0
    found: list[Piece] = []
    for key, (name, hint) in PARTS.items() if total else ():
        seconds = max(0.0, float(hours.get(key) or 0))
        share = 100 * seconds / total
        found.append(Piece(key, str(name), str(hint), seconds, round(start, 3), round(share, 3)))
        start += share
    return found


def sentence(hours: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What counted, and the largest loss, as [(text, tone), …]; empty while there is nothing."""
    parts = {piece.key: piece for piece in pieces(hours)}
    if not parts:
        return []
    useful = _("%(share)s of the slot time went into useful steps") % {"share": parts["useful"].share_text}
    worst = max((parts[key] for key in _LOSSES), key=lambda piece: piece.share)
    if worst.share < _LITTLE:
        return [(useful + ".", "")]
    lost = _("%(share)s %(name)s") % {"share": worst.share_text, "name": _LOST_TO[worst.key]}
    return [(useful + "; ", ""), (lost, "warn"), (".", "")]


_LOST_TO: dict[str, str | Promise] = {
    "repeated": gettext_lazy("into steps that had to be repeated"),
    "waiting": gettext_lazy("into waiting for stragglers"),
    "stalled": gettext_lazy("was stalled"),
    "idle": gettext_lazy("was idle but held"),
}
