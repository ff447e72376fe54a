"""The few words that the runs list has for a run's worst open incident (`Run.health`). Pure."""

from collections.abc import Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

# Of incidents that name no rank, node or link.
_JOB: dict[str, str | Promise] = {
    "straggler": gettext_lazy("slow rank"),
    "wandering": gettext_lazy("late ranks take turns"),
    "structural": gettext_lazy("uneven split"),
    "regression": gettext_lazy("slower than before"),
    "network": gettext_lazy("network slow"),
    "input": gettext_lazy("waits for data"),
    "overlap": gettext_lazy("communication not hidden"),
    "hang": gettext_lazy("hung"),
    "device": gettext_lazy("device slow"),
    "telemetry": gettext_lazy("numbers missing"),
    "idle": gettext_lazy("slots held, nothing runs"),
    "alone": gettext_lazy("ranks train alone"),
}
_NAMED: dict[str, str | Promise] = {
    "straggler": gettext_lazy("%s slow"),
    "network": gettext_lazy("%s: network slow"),
    "hang": gettext_lazy("hung, %s"),
    "device": gettext_lazy("%s: device slow"),
    "telemetry": gettext_lazy("%s: numbers missing"),
    "idle": gettext_lazy("%s held, nothing runs"),
}


def badge(health: Mapping[str, Any]) -> str:
    """“rank 2 slow, 31 %”, “uneven split, 12 %”, “hung, rank 3”: who, what, and what it costs."""
    kind, who, slowdown = str(health["kind"]), _who(health), health.get("slowdown")
    what = str(_NAMED[kind]) % who if who and kind in _NAMED else str(_JOB.get(kind, kind))
    return f"{what}, {100 * slowdown:.0f} %" if slowdown and kind not in ("hang", "idle") else what


def _who(health: Mapping[str, Any]) -> str:
    if health.get("rank") is not None:
        return str(_("rank %s") % health["rank"])
    if health.get("node_name"):
        return str(health["node_name"])
    return str(_("node %s") % health["node"]) if health.get("node") is not None else ""
