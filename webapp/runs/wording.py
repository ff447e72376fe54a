"""Sentences for people: what happened, and what to do next. The fixed words come from `lifecycle`."""

import signal as signals
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from webapp.runs import retold
from webapp.runs.models import Attempt, Outcome, RunEvent, Status

_lazy = gettext_lazy

REASONS: dict[str, str | Promise] = {
    "rank_exit": _lazy("Rank %(rank)s on %(node)s ended with exit code %(code)s. %(text)s"),
    "killed_by_signal": _lazy("Rank %(rank)s on %(node)s was ended by %(signal_name)s. %(text)s"),
    "out_of_memory": _lazy("Rank %(rank)s on %(node)s ran out of GPU memory. %(text)s"),
    "host_memory": _lazy("Rank %(rank)s on %(node)s could not get more of the node's memory. %(text)s"),
    "oom_killed": _lazy("The kernel of %(node)s ended rank %(rank)s because memory had run out. %(evidence)s"),
    "syntax_error": _lazy("The script has a syntax error. %(text)s"),
    "import_error": _lazy("Rank %(rank)s on %(node)s could not import a module. %(text)s"),
    "port_in_use": _lazy("A port that the ranks need is in use on %(node)s. %(text)s"),
    "collective_timeout": _lazy(
        "Rank %(rank)s on %(node)s waited in vain in a collective operation: one of the ranks had not arrived. %(text)s"
    ),
    "collective_late": _lazy(
        "Rank %(late)s had not arrived when rank %(rank)s on %(node)s gave up waiting for a collective. %(text)s"
    ),
    "collective_mismatch": _lazy(
        "The ranks called different collectives, or one with different sizes. Rank %(rank)s on %(node)s noticed it. "
        "%(text)s"
    ),
    "peer_gone": _lazy("Rank %(rank)s on %(node)s lost its connection to another rank. %(text)s"),
    "no_exit_record": _lazy("Rank %(rank)s vanished without telling how it ended."),
    "launcher_killed": _lazy("The launcher on %(node)s was ended by %(signal_name)s."),
    "launcher_exit": _lazy("The launcher on %(node)s ended with code %(code)s before any rank started. %(text)s"),
    "command_exit": _lazy("The command on %(node)s ended with exit code %(code)s. %(text)s"),
    "superseded": _lazy("It was launched again before %(node)s had told how it ended."),
    "rendezvous": _lazy("The ranks of %(node)s could not meet those of the other nodes. %(text)s"),
    "no_script": _lazy("The script is not there on %(node)s. %(text)s"),
    "no_workdir": _lazy("The working folder is not there on %(node)s. %(text)s"),
    "git": _lazy("The code could not be fetched from git on %(node)s. %(text)s"),
    "upload": _lazy("The uploaded code could not be fetched on %(node)s. %(text)s"),
    "spawn": _lazy("The launcher could not be started on %(node)s. %(text)s"),
    "shim_lost": _lazy("The process that holds the launcher on %(node)s is gone."),
    "node_signal": _lazy("Stopped on %(node)s by a signal from outside of Paceline."),
    "node_restarted": _lazy("%(node)s was restarted."),
    "node_lost": _lazy("%(node)s has been silent for %(silent)s s, longer than the limit for lost nodes."),
    "node_silent": _lazy("%(node)s has been silent for %(silent)s s while ranks of other nodes failed."),
    "start_unanswered": _lazy("%(node)s is there but did not take the order to start for %(seconds)s s."),
    "node_vanished": _lazy("%(node)s could not be reached any more while the run was starting."),
    "node_removed": _lazy("%(node)s was removed from the list of nodes."),
    "attempt_unknown": _lazy("%(node)s is back but knows nothing of this run any more."),
    "secret_unreadable": _lazy("A secret of this run cannot be read: the server's SECRET_KEY has changed."),
    "preflight": _lazy("Not started: the check of the nodes found what would break or slow it. %(text)s"),
    "user_stop": _lazy("Stopped by %(actor)s."),
    "time_limit": _lazy("Stopped at its time limit of %(seconds)s s."),
}

NEXT_STEP: dict[str, str | Promise] = {
    "rank_exit": _lazy("Read this rank's last log lines, fix the script, then run it again."),
    "killed_by_signal": _lazy("Somebody or the system ended the process. If nobody did, look at the node's memory."),
    "out_of_memory": _lazy("Use a smaller batch or model part per rank, then run it again."),
    "host_memory": _lazy("Use fewer data loader workers or smaller caches in the script, then run it again."),
    "oom_killed": _lazy(
        "Use less of the node's memory (data loader workers, caches) or raise its limit, then run it again."
    ),
    "syntax_error": _lazy("Fix the line that the log names, then run it again."),
    "import_error": _lazy("Install the module for the Python that the node uses, then run it again."),
    "port_in_use": _lazy("Run it again: another port will be chosen. If it stays, see what listens on the node."),
    "collective_timeout": _lazy(
        "See at which step each rank stood; the one that differs is stuck or slow. Read its log."
    ),
    "collective_late": _lazy("Read the log of the rank that had not arrived: it was stuck, or had less to do."),
    "collective_mismatch": _lazy(
        "Make every rank take the same path through the code. "
        "With TORCH_DISTRIBUTED_DEBUG=DETAIL in its environment torch names both calls."
    ),
    "peer_gone": _lazy("Read the logs of the other ranks: one of them ended first. If none did, check the network."),
    "no_exit_record": _lazy("Read this rank's log and the launcher's log, then run it again."),
    "launcher_killed": _lazy("Look at the node's memory and system log, then run it again."),
    "launcher_exit": _lazy("Read the launcher's log; often torch is not installed for the node's Python."),
    "command_exit": _lazy("Read the log's last lines, then launch it again where you did."),
    "superseded": _lazy("Look at the newest attempt. If it goes on from a checkpoint, nothing needs doing."),
    "rendezvous": _lazy("Check that the nodes reach each other on the rendezvous ports, then run it again."),
    "no_script": _lazy("Give a path that exists on every node, or upload the code with the run."),
    "no_workdir": _lazy("Give a folder that exists on every node, or upload the code with the run."),
    "git": _lazy("Check the address, the branch and that the node may read it, then run it again."),
    "upload": _lazy("Upload the folder again, then run it again."),
    "spawn": _lazy("Check that Python and torch are installed on the node, then run it again."),
    "shim_lost": _lazy("Run it again. The node stopped what was left."),
    "node_signal": _lazy("Ask who works on the node; then run it again from its last checkpoint."),
    "node_restarted": _lazy("Run it again from its last checkpoint."),
    "node_lost": _lazy("Check the node and its network. Run it again from its last checkpoint."),
    "node_silent": _lazy("Check the node and its network. Run it again from its last checkpoint."),
    "start_unanswered": _lazy("Restart the agent on that node and read its log, then run it again."),
    "node_vanished": _lazy("Check the node and its network, then run it again."),
    "node_removed": _lazy("Run it again on the nodes that are left."),
    "attempt_unknown": _lazy("Run it again from its last checkpoint."),
    "secret_unreadable": _lazy("Run it again and give the secret anew."),
    "preflight": _lazy("Open the check on the page Nodes, mend what it names or drain the node, then run it again."),
    "user_stop": _lazy("Run it again whenever you like."),
    "time_limit": _lazy("Give it more time, or run it again from its last checkpoint."),
}

EVENTS: dict[str, str | Promise] = {
    "created": _lazy("Created by %(actor)s."),
    "restarted": _lazy("Run again by %(actor)s, as attempt %(attempt)s."),
    "retried": _lazy("Tried again on its own, as attempt %(attempt)s."),
    "placed": _lazy("Placed on %(nodes)s, rendezvous port %(port)s."),
    "checking": _lazy("The nodes and the links between them are checked before the start."),
    "checked": _lazy("The nodes are checked. %(text)s"),
    "port_moved": _lazy("The rendezvous port was in use on %(node)s; trying %(port)s."),
    "accepted": _lazy("%(node)s took the order to start."),
    "launched": _lazy("%(node)s started the launcher."),
    "imported": _lazy("Imported by %(actor)s; it was logged by %(source)s."),
    "attached": _lazy("Launched outside of Paceline by %(actor)s, as attempt %(attempt)s."),
    "node_attached": _lazy("%(node)s is watched."),
    "first_rank": _lazy("The first rank is there: %(rank)s on %(node)s."),
    "running": _lazy("All %(ranks)s ranks are running."),
    "rank_exited": _lazy("Rank %(rank)s on %(node)s ended with %(ending)s."),
    "finding_out": _lazy("Rank %(rank)s on %(node)s lost the others: all are stopped, and the first is looked for."),
    "first_failure": _lazy("The first to fail was rank %(rank)s on %(node)s. %(text)s"),
    "dropped": _lazy("%(node)s dropped %(count)s of %(what)s: %(reason)s."),
    "node_stopping": _lazy("%(node)s is stopping its ranks with %(signal)s, up to %(grace)s s."),
    "resumed_apart": _lazy(
        "The ranks go on from different steps: %(groups)s. Each node has a checkpoint folder of its own."
    ),
    "rank_claimed_twice": _lazy(
        "Two processes on %(node)s say that they are rank %(rank)s: %(pids)s. Only the numbers of the second are kept; "
        "give each process a RANK of its own."
    ),
    "incident_opened": _lazy("%(text)s"),
    "incident_closed": _lazy("Over: %(text)s"),
    "survivors": _lazy("%(node)s could not end all processes: %(survivors)s."),
    "clean": _lazy("%(node)s is clean again: the last process that could not be ended is gone."),
    "requeued": _lazy("%(node)s could not be reached before the start; back to the queue."),
    "not_accepted": _lazy("%(node)s did not take the order to start for %(seconds)s s; back to the queue."),
    "deleted": _lazy("Deleted by %(actor)s."),
    "restored": _lazy("Brought back by %(actor)s."),
}

# What says that the kernel killed a rank for want of memory: `oom_by` of the node.
_EVIDENCE: dict[str, str | Promise] = {
    "cgroup": _lazy("The memory count of its control group says so."),
    "kernel_log": _lazy("The kernel's log names it."),
    "kernel_count": _lazy("The kernel's count of such ends rose meanwhile."),
}

_OUTCOMES: dict[str, str | Promise] = {
    Outcome.SUCCEEDED: _lazy("Finished: every rank ended with exit code 0."),
    Outcome.FAILED: _lazy("Failed."),
    Outcome.STOPPED: _lazy("Stopped."),
    Outcome.LOST: _lazy("Lost."),
}


def outcome_sentence(attempt: Attempt) -> str:
    """How it ended, or is about to; empty while nothing is decided."""
    if not attempt.outcome:
        return _("A rank failed. Finding out which was the first.") if attempt.is_undecided else ""
    text = REASONS.get(_word(attempt.reason, attempt.detail))
    return _fill(text, attempt.detail, actor=attempt.actor) if text else str(_OUTCOMES[attempt.outcome])


def next_step(attempt: Attempt) -> str:
    """What a person does next about the outcome; empty when nothing needs doing."""
    return str(NEXT_STEP.get(_word(attempt.reason, attempt.detail), ""))


def cleanup_sentence(attempt: Attempt) -> str:
    """Names the processes that its nodes could not end; empty when nothing is left of it."""
    left = [(part.node_name, process_names(part.survivors)) for part in attempt.parts.all() if part.survivors]
    if not left:
        return ""
    told = "; ".join(_("%(names)s on %(node)s") % {"names": names, "node": node} for node, names in left)
    return _(
        "Not cleaned up: %(told)s could not be ended, even by SIGKILL. Their slots stay taken until they are gone; "
        "restart the node if they stay."
    ) % {"told": told}


def process_names(processes: Iterable[dict[str, Any]]) -> str:
    """ "python (pid 5), python (pid 6)"."""
    return ", ".join(f"{one.get('name') or _('a process')} (pid {one['pid']})" for one in processes)


def event_text(event: RunEvent) -> str:
    """One line of the run's own log."""
    if event.kind == "ended":
        return str(_OUTCOMES.get(event.data.get("outcome", ""), _("Ended.")))
    text = EVENTS.get(event.kind) or REASONS.get(_word(event.data.get("reason", event.kind), event.data))
    if text is None:
        return event.kind.replace("_", " ").capitalize() + "."
    return _fill(text, event.data, actor=event.actor, rank=event.rank)


def waits_sentence(attempt: Attempt) -> str:
    """What a queued attempt waits for; empty otherwise."""
    if attempt.status != Status.QUEUED:
        return ""
    wait = attempt.waits_for
    told = _WAITS.get(wait.get("reason", ""), _wait_for_turn)(wait)
    return told if wait.get("reason") == "behind" else " ".join(filter(None, (told, _kept_out(wait))))


def _kept_out(wait: dict[str, Any]) -> str:
    """Nodes that can be reached and are not placed on."""
    whys = {"draining": _("draining"), "dirty": _("not clean")}
    names = [f"{name} ({whys.get(why, why)})" for name, why in wait.get("kept_out", ())]
    return _("Not used: %(names)s.") % {"names": ", ".join(names)} if names else ""


def _word(reason: str, detail: dict[str, Any]) -> str:
    """A wait in vain reads differently when it is known who did not come."""
    return "collective_late" if reason == "collective_timeout" and detail.get("late") is not None else reason


def _wait_for_turn(_wait: dict[str, Any]) -> str:
    return _("Waits for its turn.")


def _wait_for_node(wait: dict[str, Any]) -> str:
    if wait.get("kept_out"):
        return _("No node takes runs now.")
    return _("No node is reachable. Start an agent, or add a node on the Nodes page.")


def _wait_for_port(_wait: dict[str, Any]) -> str:
    return _("Every rendezvous port is in use. It starts when another run ends.")


def _wait_behind(wait: dict[str, Any]) -> str:
    ahead = int(wait["ahead"])
    return ngettext("Waits behind %(n)d other run.", "Waits behind %(n)d other runs.", ahead) % {"n": ahead}


def _wait_for_slots(wait: dict[str, Any]) -> str:
    free = int(wait["free"])
    return _wanted(wait) + " " + ngettext("%(n)d is free.", "%(n)d are free.", free) % {"n": free}


def _wait_for_larger_nodes(wait: dict[str, Any]) -> str:
    return _wanted(wait) + " " + _("The nodes that can be reached have too few; add or start one.")


def _wanted(wait: dict[str, Any]) -> str:
    slots, nodes = int(wait["slots"]), int(wait["nodes"])
    if slots == 1:
        return _("Waits for 1 slot.")
    told = {"slots": slots, "nodes": nodes}
    return (
        ngettext(
            "Waits for %(slots)d slots on %(nodes)d node.",
            "Waits for %(slots)d slots on %(nodes)d nodes.",
            nodes,
        )
        % told
    )


_WAITS = {
    "no_node": _wait_for_node,
    "too_large": _wait_for_larger_nodes,
    "slots": _wait_for_slots,
    "behind": _wait_behind,
    "ports": _wait_for_port,
}


def _fill(text: str | Promise, detail: dict[str, Any], **more: Any) -> str:
    given = {name: value for name, value in more.items() if value is not None}
    values: defaultdict[str, Any] = defaultdict(lambda: "?", {**detail, **given})
    values["text"] = retold.text(detail)
    values["evidence"] = _EVIDENCE.get(detail.get("oom_by", ""), "")
    values["signal_name"] = signal_name(detail.get("signal"))
    code = detail.get("code")
    values["ending"] = _("exit code %(code)s") % {"code": code} if code is not None else values["signal_name"]
    if isinstance(values["groups"], dict):
        values["groups"] = "; ".join(_resumed(step, ranks) for step, ranks in sorted(values["groups"].items()))
    if isinstance(values["nodes"], list):
        values["nodes"] = ", ".join(values["nodes"])
    return (str(text) % values).strip()


def _resumed(step: str, ranks: list[int]) -> str:
    told = {"ranks": ", ".join(map(str, ranks)), "step": step}
    return ngettext("rank %(ranks)s at step %(step)s", "ranks %(ranks)s at step %(step)s", len(ranks)) % told


def signal_name(number: object) -> str:
    """SIGKILL for 9; the number itself when it has no name."""
    try:
        return signals.Signals(number).name  # type: ignore[arg-type]
    except ValueError:
        return _("signal %(number)s") % {"number": number}
