"""Sentences about incidents: what is wrong, what it costs, what to do next."""

from collections.abc import Callable

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from webapp.incidents import presence_words
from webapp.incidents.hang import words as hang_words
from webapp.incidents.models import Incident
from webapp.language.numerals import numeral
from webapp.runs.templatetags.figures import ms

_lazy = gettext_lazy

PARTS: dict[str, str | Promise] = {
    "data": _lazy("waiting for data"),
    "forward": _lazy("the forward pass"),
    "backward": _lazy("the backward pass"),
    "optimizer": _lazy("the optimizer"),
    "other": _lazy("code between the phases"),
    "cpu": _lazy("a short processor"),
    "gpu": _lazy("a slow device"),
    "network": _lazy("the network"),
    "code": _lazy("an uneven split of the work"),
    "unknown": _lazy("several phases"),
}
OF_A_STEP = ("data", "forward", "backward", "optimizer", "other")  # causes that are a part of a rank's own step
CAUSES = tuple(cause for cause in PARTS if cause != "unknown")  # that a person can name

_NEXT: dict[str, str | Promise] = {
    "data": _lazy("Look at this loader's workers, its disk and its cache. More workers or prefetching often help."),
    "forward": _lazy("Compare the input sizes of the ranks, and look for code that only this one runs."),
    "backward": _lazy("Look for hooks, checks or recomputation that only this rank does."),
    "optimizer": _lazy("Look for work that only this rank does after the backward pass: averaging, clipping, logging."),
    "other": _lazy("Look for evaluation, checkpoints, logging or garbage collection between the steps."),
    "cpu": _lazy("Look at what else runs on the node's processor, and at its quota."),
    "gpu": _lazy("Look at the device's clocks, temperature and power; if they are low, take the node out."),
    "network": _lazy(
        "Look at the node's network card, its cable and the switch; measure the link before the next run."
    ),
    "code": _lazy("Split the layers or the batch anew, so that all ranks have about the same work."),
    "unknown": _lazy("Open the phases of this run and compare before and after."),
}


# Where the kind says more than the cause.
_NEXT_OF_KIND: dict[str, str | Promise] = {
    "wandering": _lazy(
        "Compare what the ranks are given: inputs of different lengths make another rank late each time. Even them out."
    ),
    "structural": _NEXT["code"],
    "regression": _lazy(
        "See what changed at this step: input sizes, a new part of the script, clocks, or other jobs on the nodes."
    ),
    "overlap": _lazy(
        "Look for a collective that the script now waits for, another bucket size, or gradients that are ready in "
        "another order than before."
    ),
    "input": _lazy("Give the loaders more workers, or look at the storage that all of them read from."),
    "hang": _lazy("Look at this rank's stack and its last log lines. Then stop the run and resume from a checkpoint."),
}


def sentence(row: Incident) -> str:
    """What is wrong and what it costs, in one sentence or two."""
    return _SAYS.get(row.kind, _other)(row)


def next_step(row: Incident) -> str:
    """What a person does next."""
    if row.evidence.get("hang"):
        return hang_words.next_step(row.evidence["hang"])
    if row.kind in presence_words.SAYS:
        return presence_words.next_step(row.kind, row.evidence)
    return str(_NEXT_OF_KIND.get(row.kind) or _NEXT.get(row.cause, _NEXT["unknown"]))


def where(row: Incident) -> str:
    """The subject in people's words: Rank 2 on gpu-b, All ranks of gpu-b, The link from gpu-a to gpu-b, The job."""
    if row.rank is not None:
        if row.node_rank is None:
            return _("Rank %s") % row.rank
        return _("Rank %(rank)s on %(node)s") % {"rank": row.rank, "node": _node(row, row.node_rank)}
    if row.link:
        return _("The link from %(a)s to %(b)s") % {"a": _node(row, row.link[0]), "b": _node(row, row.link[1])}
    if row.node_rank is not None:
        return _("Every rank of %s") % _node(row, row.node_rank)
    return _("The job")


def short(row: Incident) -> str:
    """“rank 2”, “gpu-b”, “gpu-a → gpu-b”, “the job”."""
    if row.rank is not None:
        return _("rank %s") % row.rank
    if row.link:
        return f"{_node(row, row.link[0])} → {_node(row, row.link[1])}"
    return _node(row, row.node_rank) if row.node_rank is not None else _("the job")


def ranks_of(row: Incident) -> list[int]:
    """The ranks that are the subject; none of a link or the job."""
    if row.rank is not None:
        return [row.rank]
    if row.node_rank is None:
        return []
    return [rank.rank for rank in row.attempt.ranks.all() if rank.node_rank == row.node_rank]


def cause(row: Incident) -> str:
    """“Probable cause: a slow device.” until a second signal or a person confirms it."""
    if row.evidence.get("hang") or row.kind in presence_words.SAYS:
        return ""
    if row.cause in ("", "unknown"):
        return _("The cause is not known yet.")
    told = PARTS.get(row.cause, row.cause)
    if row.cause_by:
        return _("Cause: %(cause)s, as %(who)s confirmed.") % {"cause": told, "who": row.cause_by}
    return _("Probable cause: %s.") % told if row.probable else _("Cause: %s.") % told


def cost(row: Incident) -> str:
    """“Steps take 25 % longer.”; empty where nothing is known."""
    share = round(100 * row.slowdown)
    return _("Steps take %s %% longer.") % share if share >= 1 else ""


def _late(row: Incident) -> str:
    told = {
        "who": where(row),
        "more": ms(row.evidence.get("excess", 0.0)),
        "part": PARTS.get(row.cause, row.cause),
        "step": _step(row),
    }
    if row.cause in OF_A_STEP:
        text = _("%(who)s needs %(more)s more for %(part)s than its peers since step %(step)s.")
    elif row.cause == "unknown":
        text = _("%(who)s needs %(more)s more for a step than its peers since step %(step)s, in %(part)s.")
    elif row.probable:
        text = _("%(who)s needs %(more)s more for a step than its peers since step %(step)s, probably by %(part)s.")
    else:
        text = _("%(who)s needs %(more)s more for a step than its peers since step %(step)s, by %(part)s.")
    return _with_cost(row, text % told)


def _wandering(row: Incident) -> str:
    text = _(
        "In most steps since step %(step)s some rank is late by %(part)s, each time another one: no rank is to blame."
    )
    return _with_cost(row, text % {"step": _step(row), "part": PARTS.get(row.cause, row.cause)})


def _structural(row: Incident) -> str:
    ranks = int(row.evidence.get("ranks", 0))
    if row.evidence.get("by_work"):
        text = ngettext(
            "%(n)s rank takes longer because it is given more in each step; for the same work it is as fast.",
            "%(n)s ranks take longer because they are given more in each step; for the same work they are as fast.",
            ranks,
        )
        return _with_cost(row, text % {"n": ranks})
    text = ngettext(
        "%(n)s rank has more work than the others in every step: the split is uneven, no rank is bad.",
        "%(n)s ranks have more work than the others in every step: the split is uneven, no rank is bad.",
        ranks,
    )
    return _with_cost(row, text % {"n": ranks})


def _regression(row: Incident) -> str:
    told = {
        "step": _step(row),
        "now": ms(row.evidence.get("step", 0.0)),
        "usual": ms(row.evidence.get("usual", 0.0)),
        "part": PARTS.get(row.cause, row.cause),
    }
    return (
        _("Every rank is slower since step %(step)s: %(now)s a step instead of %(usual)s, most of it in %(part)s.")
        % told
    )


def _network(row: Incident) -> str:
    told = {
        "who": where(row),
        "step": _step(row),
        "now": ms(row.evidence.get("transfer", 0.0)),
        "usual": ms(row.evidence.get("usual", 0.0)),
    }
    if "transfer" not in row.evidence:
        share = numeral(100 * float(row.evidence.get("retransmitted", 0.0)), ".1f")
        text = _("%(who)s loses packets since step %(step)s: %(share)s %% of the bytes are sent again.")
        return _with_cost(row, text % {**told, "share": share})
    if row.link or row.node_rank is not None:
        text = _("%(who)s is slow since step %(step)s: transfers take %(now)s instead of %(usual)s.")
    else:
        text = _("Since step %(step)s transfers take %(now)s instead of %(usual)s, while every rank works as before.")
    return _with_cost(row, text % told)


def _overlap(row: Incident) -> str:
    told = {
        "step": _step(row),
        "now": ms(row.evidence.get("transfer", 0.0)),
        "usual": ms(row.evidence.get("usual", 0.0)),
    }
    text = _(
        "Since step %(step)s every rank waits %(now)s for communication instead of %(usual)s, though it takes no "
        "longer: less of it is hidden behind the backward pass."
    )
    return _with_cost(row, text % told)


def _device(row: Incident) -> str:
    clock, usual = float(row.evidence.get("clock", 0.0)), float(row.evidence.get("usual", 0.0))
    told = {"who": where(row), "clock": numeral(clock, ",.0f"), "usual": numeral(usual, ",.0f")}
    text = _("%(who)s: its GPU runs at %(clock)s MHz, those of the other ranks at %(usual)s MHz.") % told
    heat = row.evidence.get("temperature")
    return text if heat is None else f"{text} " + _("It is %s °C hot.") % f"{float(heat):.0f}"


def _input(row: Incident) -> str:
    data, step = float(row.evidence.get("data", 0.0)), float(row.evidence.get("step", 0.0))
    share = round(100 * data / step) if step else 0
    return _("Every rank waits for data during %s %% of each step.") % share


def _hang(row: Incident) -> str:
    if row.evidence.get("hang"):
        return hang_words.sentence(row.evidence["hang"], _standstill(row), "" if row.subject == "job" else where(row))
    told = {"who": where(row), "step": _step(row), "doing": row.evidence.get("doing", "")}
    if row.rank is None and row.node_rank is None:
        return _("Nothing moves since step %(step)s, and every rank is at the same place.") % told
    if told["doing"]:
        return _("Nothing moves since step %(step)s. %(who)s did not come along: %(doing)s.") % told
    return _("Nothing moves since step %(step)s. %(who)s did not come along.") % told


def _standstill(row: Incident) -> str:
    if row.opened_step is None:
        return _("No step was made since the ranks started.")
    return _("Nothing moves since step %s.") % _step(row)


def _presence(row: Incident) -> str:
    name = _node(row, row.node_rank) if row.node_rank is not None else ""
    return presence_words.SAYS[row.kind](row.evidence, name)


def _other(row: Incident) -> str:
    return str(row.evidence.get("text") or where(row))


_SAYS: dict[str, Callable[[Incident], str]] = {
    "straggler": _late,
    "wandering": _wandering,
    "structural": _structural,
    "regression": _regression,
    "network": _network,
    "input": _input,
    "overlap": _overlap,
    "device": _device,
    "hang": _hang,
    **dict.fromkeys(presence_words.SAYS, _presence),
}


def _with_cost(row: Incident, text: str) -> str:
    return f"{text} {cost(row)}".strip()


def _step(row: Incident) -> str:
    return numeral(row.opened_step) if row.opened_step is not None else "?"


def _node(row: Incident, node_rank: int | None) -> str:
    names = {part.node_rank: part.node_name for part in row.attempt.parts.all()}
    return names.get(node_rank or 0) or _("node %s") % node_rank
