"""Sentences for what a check found, and what to do about it. The fixed words come from the verdict."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from webapp.language.numerals import numeral
from webapp.preflight.finding import AMBER, GREEN, RED
from webapp.runs.templatetags.figures import bytes_

TONES = {RED: "crit", AMBER: "warn", GREEN: "ok"}
_lazy = gettext_lazy
Told = Mapping[str, Any]

_SENTENCES: dict[str, str | Promise] = {
    "link_slow": _lazy("%(a)s to %(b)s carries %(rate)s, %(share)s of what the others carry."),
    "link_slower": _lazy("%(a)s to %(b)s carries %(rate)s, %(share)s of what it carried before."),
    "link_late": _lazy("Between %(a)s and %(b)s a round trip takes %(trip)s; %(usual_trip)s is usual."),
    "link_cut": _lazy("%(a)s and %(b)s cannot reach each other: %(error)s."),
    "link_data": _lazy("%(a)s and %(b)s meet, but cannot exchange data on other ports: %(error)s."),
    "link_meeting": _lazy("%(a)s cannot reach the rendezvous ports of %(b)s."),
    "node_slow": _lazy("%(a)s %(ways)s %(rate)s, %(share)s of what the others carry, on %(links)s links."),
    "node_slower": _lazy("%(a)s %(ways)s %(rate)s, %(share)s of what it did before, on %(links)s links."),
    "node_late": _lazy("Round trips to %(a)s take %(trip)s; %(usual_trip)s is usual."),
    "node_cut": _lazy("%(a)s and %(links)s other nodes cannot reach each other."),
    "node_data": _lazy("%(a)s can be met by the others, but exchanges no data with %(links)s of them."),
    "node_meeting": _lazy("The rendezvous ports of %(a)s cannot be reached by %(links)s other nodes."),
    "too_old": _lazy("The agent on %(names)s is too old to be checked."),
    "unreachable": _lazy("%(names)s cannot be reached by the server, so it was not checked."),
    "silent": _lazy("%(names)s did not answer in time, so it was not checked."),
    "unmeasured": _lazy("%(names)s did not tell in time what its links carry."),
    "loopback": _lazy("%(names)s gives %(address)s as its address, which leads every other node to itself."),
    "disk": _lazy("%(names)s has only %(free)s free in %(path)s."),
    "shared": _lazy("%(names)s has only %(free)s of shared memory free in %(path)s."),
    "no_folder": _lazy("%(path)s is not there on %(names)s."),
    "not_writable": _lazy("%(path)s on %(names)s cannot be written to."),
    "gpu_lost": _lazy("GPU %(gpu)s of %(names)s has fallen off the bus."),
    "gpu_remap_failed": _lazy("GPU %(gpu)s of %(names)s has memory that can no longer be repaired."),
    "gpu_uncorrected": _lazy("GPU %(gpu)s of %(names)s had %(count)s memory errors that could not be corrected."),
    "gpu_retire_pending": _lazy("GPU %(gpu)s of %(names)s has bad memory that waits for a reset to be taken out."),
    "gpu_slowed": _lazy("GPU %(gpu)s of %(names)s is slowed down (%(by)s)."),
    "gpu_hot": _lazy("GPU %(gpu)s of %(names)s is at %(temperature).0f °C and slows down at %(limit).0f °C."),
    "unlike": _lazy("%(names)s: %(what)s %(has)s, the others have %(others)s."),
    "unlike_none": _lazy("%(names)s: %(what)s %(has)s, the others: %(others)s."),
    "clock": _lazy("The clock of %(names)s is %(seconds)s s off the server's."),
}

_NEXT: dict[str, str | Promise] = {
    "link_slow": _lazy("Check the cable and the switch port between them."),
    "link_slower": _lazy("Something has changed between them: check cable, switch port and other traffic."),
    "link_late": _lazy("Look for a detour or a full queue on the way between them."),
    "link_cut": _lazy("Check the network between them and their firewalls."),
    "link_data": _lazy("Open all ports between the nodes: NCCL and gloo use any of them."),
    "link_meeting": _lazy("Open the ports of RENDEZVOUS_PORTS in its firewall."),
    "node_slow": _lazy("Check its network card, cable and switch port."),
    "node_slower": _lazy("Something has changed there: check its network card, cable and switch port."),
    "node_late": _lazy("Check its network card, its load, and the way to it."),
    "node_cut": _lazy("Check its network and its firewall."),
    "node_data": _lazy("Open all its ports for the other nodes: NCCL and gloo use any of them."),
    "node_meeting": _lazy("Open the ports of RENDEZVOUS_PORTS in its firewall."),
    "too_old": _lazy("Install the newest agent there and restart it."),
    "unreachable": _lazy("See whether its agent lives."),
    "silent": _lazy("See its agent's log; it may be busy or cut off from the server's address."),
    "unmeasured": _lazy("Check again; if it stays, see its agent's log."),
    "loopback": _lazy("Join it again by the server's real address."),
    "disk": _lazy("Make room there before checkpoints fill it."),
    "shared": _lazy("Data loaders need it: make /dev/shm larger (Docker: --shm-size)."),
    "no_folder": _lazy("Make the folder, or choose one that exists on every node."),
    "not_writable": _lazy("Give the agent's user the right to write there."),
    "gpu_lost": _lazy("Restart the node; if it comes again, have the GPU replaced."),
    "gpu_remap_failed": _lazy("Have the GPU replaced."),
    "gpu_uncorrected": _lazy("Reset the GPU, and have it replaced if the errors come again."),
    "gpu_retire_pending": _lazy("Reset the GPU when nothing runs on it."),
    "gpu_slowed": _lazy("Check its cooling and power supply."),
    "gpu_hot": _lazy("Check its cooling."),
    "unlike": _lazy("Install the same version on all of them."),
    "unlike_none": _lazy("Install the same on all of them."),
    "clock": _lazy("Let NTP set it."),
}

_ERRORS: dict[str, str | Promise] = {
    "refused": _lazy("the connection is refused"),
    "unreachable": _lazy("there is no way to the address"),
    "silent": _lazy("nothing answers"),
    "broken": _lazy("the connection breaks"),
}

_WAYS: dict[str, str | Promise] = {
    "out": _lazy("sends"),
    "in": _lazy("receives"),
    "both": _lazy("sends and receives"),
}

_SHARES: tuple[tuple[float, str | Promise], ...] = (
    (0.75, _lazy("less than it should")),
    (0.42, _lazy("half")),
    (0.29, _lazy("a third")),
    (0.225, _lazy("a quarter")),
    (0.18, _lazy("a fifth")),
    (0.145, _lazy("a sixth")),
    (0.09, _lazy("a tenth")),
    (0.0, _lazy("a small part")),
)
_WHATS: dict[str, str | Promise] = {
    "torch": "torch",
    "nccl": "NCCL",
    "python": "Python",
    "driver": _lazy("driver"),
    "gpu": _lazy("GPUs"),
}


def head(level: str, findings: Sequence[Told], count: int = 0) -> str:
    """The one sentence that counts: the worst finding's, or that all is well."""
    if findings:
        text = sentence(findings[0])
        more = len(findings) - 1
        return text + (" " + ngettext("And %(n)d more.", "And %(n)d more.", more) % {"n": more} if more else "")
    if level:
        return ngettext("The node is in line.", "All %(n)d nodes and their links are in line.", count) % {"n": count}
    return _("Checking…")


def sentence(finding: Told) -> str:
    """One finding as a sentence."""
    return str(_SENTENCES[finding["kind"]]) % _filled(finding)


def next_step(finding: Told) -> str:
    """What a person does about it."""
    return str(_NEXT[finding["kind"]])


def rate(mb_s: float | None) -> str:
    """ "118 MB/s", "1.2 GB/s"; a dash for what is not known."""
    if mb_s is None:
        return "–"
    if mb_s >= 1000:
        return numeral(mb_s / 1000, ",.1f") + " GB/s"
    return numeral(mb_s, ",.0f" if mb_s >= 10 else ",.1f") + " MB/s"


def trip(ms: float | None) -> str:
    """ "0.21 ms", "52 ms"."""
    if ms is None:
        return "–"
    return numeral(ms, ",.0f" if ms >= 10 else ",.2f") + " ms"


def share(value: float, expected: float) -> str:
    """ "a sixth": how much of what is expected."""
    part = value / expected if expected else 0.0
    return str(next(text for least, text in _SHARES if part >= least))


def _filled(finding: Told) -> dict[str, Any]:
    nodes, told = list(finding["nodes"]), finding["told"]
    value, expected = told.get("value"), told.get("expected")
    filled: dict[str, Any] = {
        **told,
        "a": nodes[0],
        "b": nodes[-1],
        "names": ", ".join(nodes[:6]) + (", …" if len(nodes) > 6 else ""),
        "rate": rate(value),
        "trip": trip(value),
        "usual_trip": trip(expected),
        "share": share(value, expected) if value is not None and expected is not None else "",
        "ways": _WAYS.get(told.get("direction", ""), ""),
        "error": _ERRORS.get(told.get("error", ""), told.get("error", "")),
        "what": _WHATS.get(told.get("what", ""), ""),
        "free": bytes_(told.get("free")),
        "seconds": numeral(told.get("seconds", 0.0), "+.1f"),
    }
    filled["has"], filled["others"] = told.get("has") or _("none"), told.get("others") or _("none")
    return filled
