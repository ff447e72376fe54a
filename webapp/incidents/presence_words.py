"""Sentences about what is not there: numbers, processes, steps, talk between the ranks."""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

Evidence = Mapping[str, Any]


def telemetry(evidence: Evidence, node: str) -> str:
    """`node`: its name, empty when none of them is heard."""
    if node:
        return _("Nothing is heard of %s: its ranks are not judged until it is back.") % node
    return _("No numbers arrive. Whether the ranks work is not known, and they are not judged until they do.")


def idle(evidence: Evidence, node: str) -> str:
    """Slots without a process."""
    slots = int(evidence.get("slots", 0))
    text = ngettext(
        "%(node)s holds %(n)s slot, but no rank has lived there for a minute.",
        "%(node)s holds %(n)s slots, but no rank has lived there for a minute.",
        slots,
    )
    return text % {"node": node, "n": slots}


def alone(evidence: Evidence, node: str) -> str:
    """Ranks that only look like one job."""
    told = {"n": int(evidence.get("ranks", 0))}
    return (_ALONE.get(str(evidence.get("why"))) or _no_call)(told)


def next_step(kind: str, evidence: Evidence) -> str:
    """What a person does next."""
    if kind == "telemetry":
        return _("Look whether the agent on the node runs and reaches this server. Training goes on without it.")
    if kind == "idle":
        return _("Stop the run if nothing is to come, so that others get its slots.")
    if evidence.get("why") == "no_step":
        return _("Look at the rank's log: the script may have ended before its training loop.")
    return _("Call torch.distributed.init_process_group and wrap the model in DistributedDataParallel or FSDP.")


def _no_step(told: Evidence) -> str:
    return _("All %(n)s ranks ended with exit code 0, but none of them made a step: nothing was trained.") % told


def _no_group(told: Evidence) -> str:
    return _("%(n)s ranks train the same thing %(n)s times: no process group was ever formed.") % told


def _no_call(told: Evidence) -> str:
    return _("%(n)s ranks train the same thing %(n)s times: they never talk to each other.") % told


_ALONE: dict[str, Callable[[Evidence], str]] = {"no_step": _no_step, "no_group": _no_group, "no_call": _no_call}
SAYS: dict[str, Callable[[Evidence, str], str]] = {"telemetry": telemetry, "idle": idle, "alone": alone}
