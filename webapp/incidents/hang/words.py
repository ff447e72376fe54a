"""Sentences about a hang: who is missing, since when, doing what, and what to do next.

`told` is a verdict as it is stored: the fields of `verdict.Verdict` as plain values.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.incidents.dump_words import rank_list
from webapp.runs.templatetags.figures import duration

Told = Mapping[str, Any]
_lazy = gettext_lazy

PHASES: dict[str, str | Promise] = {
    "data": _lazy("data loading"),
    "forward": _lazy("the forward pass"),
    "backward": _lazy("the backward pass"),
    "exposed_comm": _lazy("a collective"),
    "optimizer": _lazy("the optimizer"),
    "other": _lazy("code between the phases"),
}
TASKS: dict[str, str | Promise] = {
    "saving": _lazy("writing a checkpoint"),
    "compiling": _lazy("compiling the model"),
}
_NO_HANG: dict[str, str | Promise] = {
    "moving": _lazy("Nothing is stuck: every rank is at work."),
    "over": _lazy("No rank lives any more."),
}
_NEXT: dict[str, str | Promise] = {
    "gone": _lazy("Read the rank's last log lines and the node's kernel log, then start the run again."),
    "stopped": _lazy("Find out who stopped it: a debugger, Ctrl-Z, a frozen container. SIGCONT lets it go on."),
    "node": _lazy("Look at the node and its network. If it does not come back, stop the run and start it elsewhere."),
    "call": _lazy("Make every rank take the same path through the code around these lines."),
    "busy": _lazy("Look at the native code on its stack: it neither ends nor lets other threads run."),
    "storage": _lazy("Look at the disk or network file system of its node, and at the kernel log."),
    "partition": _lazy("Look at the network between these nodes: link, firewall, routes. Then start the run again."),
    "device": _lazy("Look at the GPU and the network card of this rank: Xid errors, power, link state."),
    "library": _lazy("Compare the stacks of all ranks, and look at the GPUs' errors and at NCCL's own log."),
    "together": _lazy("If this is evaluation or a checkpoint, all is well. Else look at this line."),
    "unknown": _lazy("Look at the nodes whose ranks did not answer."),
}


def doing(told: Told) -> str:
    """What the culprit does instead of coming along, without its name; empty where nobody is to blame."""
    kind = str(told.get("kind"))
    return _DOING[kind](told) if kind in _DOING else str(_PLAINLY.get(kind, ""))


def sentence(told: Told, since: str, who: str) -> str:
    """`since`: "Nothing moves since step 12."; `who`: the culprit's name, empty for the job as a whole."""
    if who and told.get("ranks"):
        what = doing(told)
        return _("%(since)s %(who)s did not come along: %(doing)s.") % {"since": since, "who": who, "doing": what}
    return f"{since} {_JOB.get(str(told.get('kind')), _unknown)(told)}"


def head(told: Told) -> str:
    """The one sentence of an autopsy."""
    ranks = list(told.get("ranks", ()))
    if told.get("kind") in _NO_HANG:
        return str(_NO_HANG[told["kind"]])
    if not ranks:
        return _JOB.get(str(told.get("kind")), _unknown)(told)
    return _("%(ranks)s did not come along: %(doing)s.") % {"ranks": rank_list(ranks), "doing": doing(told)}


def next_step(told: Told) -> str:
    """What a person does next."""
    kind = str(told.get("kind"))
    if kind in _NO_HANG:
        return _("Look again if the run neither goes on nor ends.")
    if kind == "behind":
        return str(_of_phase(str(told.get("phase")), str(told.get("task"))))
    return str(_NEXT.get(kind, _NEXT["unknown"]))


def place(frame: Mapping[str, Any] | None) -> str:
    """“train.py:18 in think_long”."""
    if not frame or not frame.get("filename"):
        return ""
    told = {"file": str(frame["filename"]).rpartition("/")[2], "line": frame.get("line"), "name": frame.get("name")}
    return _("%(file)s:%(line)s in %(name)s") % told


def phase(name: str) -> str:
    """A phase in people's words."""
    return str(PHASES.get(name, "")) or _("code that is not watched")


def _of_phase(name: str, task: str) -> str:
    if task:
        return _("Wait for it, or look at the disk that it writes to.")
    if name == "data":
        return _("Look at this rank's loader: its workers, its files, a lock.")
    return _("Look at this line: a lock, a long computation, or a branch that only this rank takes.")


def _where(told: Told) -> str:
    at = place(told.get("frame"))
    return _(", at %s") % at if at else ""


def _behind(told: Told) -> str:
    task = TASKS.get(str(told.get("task")))
    part = str(task) if task else phase(str(told.get("phase")))
    words = {"part": part, "at": _where(told)}
    if told.get("seconds") is None:
        return _("in %(part)s%(at)s") % words
    return _("in %(part)s for %(time)s%(at)s") % {**words, "time": duration(float(told["seconds"]))}


def _call(told: Told) -> str:
    calls = told.get("calls") or []
    mine = next((call for call in calls if set(call["ranks"]) <= set(told.get("ranks", ()))), None)
    others = next((call for call in calls if call is not mine), None)
    if mine is None or others is None:
        return _("called something else than the others")
    words = {"mine": _called(mine), "others": _called(others)}
    return _("called %(mine)s where the others called %(others)s") % words


def _called(call: Mapping[str, Any]) -> str:
    at = place(call.get("frame"))
    return f"{call['what']} ({at})" if at else str(call["what"])


def _different(told: Told) -> str:
    calls = "; ".join(f"{rank_list(call['ranks'])}: {_called(call)}" for call in told.get("calls") or [])
    return _("The ranks called different collectives. %s.") % calls


def _partition(told: Told) -> str:
    links = told.get("links") or []
    ends = ", ".join(sorted({_("rank %(rank)s to %(peer)s") % {"rank": rank, "peer": peer} for rank, peer in links}))
    return _("Every rank waits in a collective, and what was sent from %s is not acknowledged.") % ends


def _together(told: Told) -> str:
    words = {"part": phase(str(told.get("phase"))), "at": _where(told)}
    return _("Every rank is at the same place: in %(part)s%(at)s.") % words


def _library(told: Told) -> str:
    return _("Every rank waits in the same collective, and nothing is on the wire.")


def _unknown(told: Told) -> str:
    return _("Not enough ranks could tell what they do to name one.")


_PLAINLY: dict[str, str | Promise] = {
    "gone": _lazy("the process is gone"),
    "stopped": _lazy("stopped, by a signal, a debugger or a frozen container"),
    "node": _lazy("the node cannot be reached"),
    "device": _lazy("still in a collective that the others have left"),
}
_DOING: dict[str, Callable[[Told], str]] = {
    "busy": lambda told: _("native code computes and lets no other thread run%s") % _where(told),
    "storage": lambda told: _("waiting in the kernel for a disk or a driver%s") % _where(told),
    "call": _call,
    "behind": _behind,
}
_JOB: dict[str, Callable[[Told], str]] = {
    "call": _different,
    "partition": _partition,
    "together": _together,
    "library": _library,
}
