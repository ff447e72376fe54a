"""What the page about uploaded dumps says: the sentence, the next step, and the rows that prove it."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.incidents.flight_recorder.verdict import Verdict

MOST_ROWS = 200


def told(verdict: Verdict) -> dict[str, Any]:
    """{tone, head, next, absent, lags, calls} for templates/incidents/dumps.html."""
    head, then = _SAYS[verdict.kind](verdict)
    return {
        "kind": verdict.kind,
        "tone": "info" if verdict.kind == "none" else "crit",
        "head": head,
        "next": then,
        "ranks": verdict.ranks,
        "absent": _absent(verdict),
        "lags": verdict.lags[:MOST_ROWS],
        "calls": verdict.calls,
        "dumps": verdict.dumps,
    }


def rank_list(ranks: Sequence[int]) -> str:
    """“Rank 3”, “Ranks 9 and 14”, “Ranks 1, 2 and 3”; many are cut."""
    if len(ranks) == 1:
        return _("Rank %s") % ranks[0]
    shown = [str(rank) for rank in ranks[:8]]
    if len(ranks) > len(shown):
        return _("%(n)s ranks (%(some)s, …)") % {"n": len(ranks), "some": ", ".join(shown)}
    return _("Ranks %(some)s and %(last)s") % {"some": ", ".join(shown[:-1]), "last": shown[-1]}


def _device(verdict: Verdict) -> tuple[str, str]:
    text = ngettext(
        "%(ranks)s is stuck in a collective that its peers have completed.",
        "%(ranks)s are stuck in collectives that their peers have completed.",
        len(verdict.ranks),
    )
    then = _(
        "Look at the GPU and the network card of these ranks: Xid errors, power, link state. Then restart without them."
    )
    return text % {"ranks": rank_list(verdict.ranks)}, then


def _host(verdict: Verdict) -> tuple[str, str]:
    text = ngettext(
        "%(ranks)s did not come to the collective in which the others wait.",
        "%(ranks)s did not come to the collective in which the others wait.",
        len(verdict.ranks),
    )
    then = _("Look at what their Python code does: data loading, a lock, a branch that only they take.")
    return text % {"ranks": rank_list(verdict.ranks)}, then


def _call(verdict: Verdict) -> tuple[str, str]:
    told = {"group": verdict.group, "seq": verdict.seq, "ranks": rank_list(verdict.ranks) if verdict.ranks else ""}
    then = _("Make every rank take the same path through the code around these lines.")
    if verdict.ranks:
        return _("%(ranks)s called something else than the others as collective %(seq)s of %(group)s.") % told, then
    return _("The ranks called different things as collective %(seq)s of %(group)s.") % told, then


def _none(verdict: Verdict) -> tuple[str, str]:
    head = ngettext(
        "The dump of one rank cannot name a culprit: it takes those of its peers.",
        "All %(n)s ranks are at the same place: the dumps name no culprit.",
        verdict.dumps,
    )
    then = _(
        "If dumps are missing, add them. Else look at the network between the nodes, and at the stacks of all ranks."
    )
    return head % {"n": verdict.dumps}, then


_SAYS = {"device": _device, "host": _host, "call": _call, "none": _none}


def _absent(verdict: Verdict) -> str:
    if not verdict.absent:
        return ""
    return _("There is no dump of: %s. A rank that could not write one may have been dead.") % rank_list(verdict.absent)
