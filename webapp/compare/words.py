"""What a comparison says of what it shows, in whole sentences with their number."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.compare.chosen import MOST_RUNS, Chosen
from webapp.compare.difference import Difference
from webapp.compare.scaling import Point
from webapp.compare.summary import Best, Came
from webapp.language.numerals import numeral
from webapp.runs.templatetags.figures import figure

_TITLES = {"phase/step": lambda: _("Step time"), "local/step": lambda: _("Own work"), "step/end": lambda: _("Step end")}


def title(metric: str) -> str:
    """What people call a metric."""
    return _TITLES[metric]() if metric in _TITLES else metric


def left_out(chosen: Chosen) -> list[str]:
    """What is not shown, and why."""
    said = []
    if chosen.missing:
        said.append(
            ngettext("%(n)d run is not there or not yours.", "%(n)d runs are not there or not yours.", chosen.missing)
            % {"n": chosen.missing}
        )
    if chosen.more:
        told = {"most": MOST_RUNS, "n": numeral(chosen.more)}
        said.append(
            ngettext(
                "At most %(most)s runs are compared at once, so %(n)s is left out.",
                "At most %(most)s runs are compared at once, so %(n)s are left out.",
                chosen.more,
            )
            % told
        )
    return said


def curve(metric: str, best: Best, came: Mapping[str, Came], names: Mapping[str, str], *, more: bool) -> str:
    """Which run is best now."""
    if best.uid is None or best.uid not in names:
        return ""
    told = {"metric": title(metric), "run": names[best.uid], "value": figure(came[best.uid].last)}
    if more:
        return _("%(metric)s ends highest in %(run)s: %(value)s.") % told
    return _("%(metric)s ends lowest in %(run)s: %(value)s.") % told


def settings(found: Difference, runs: int) -> str:
    """How many settings differ."""
    if runs < 2:
        return _("Choose a second run to see what differs.")
    if not found.different:
        return _("All settings are equal.")
    n = len(found.different)
    return ngettext("%(n)s setting differs.", "%(n)s settings differ.", n) % {"n": numeral(n)}


def phases(shares: Mapping[str, float], names: Mapping[str, str]) -> str:
    """Which run waits most, and which least."""
    if not shares:
        return _("No run has told how its steps divide.")
    most, least = max(shares, key=lambda uid: shares[uid]), min(shares, key=lambda uid: shares[uid])
    told = {"most": names[most], "a": f"{shares[most]:.0%}", "least": names[least], "b": f"{shares[least]:.0%}"}
    told = {key: value.replace("%", " %") if key in "ab" else value for key, value in told.items()}
    if most == least:
        return _("%(most)s waits for %(a)s of its step.") % told
    return _("%(most)s waits for %(a)s of its step, %(least)s for %(b)s.") % told


def scaling(points: Sequence[Point]) -> str:
    """What the largest world size brings of what the smallest promises."""
    if not points:
        return _("No run has timed its steps yet.")
    first, last = points[0], max(points, key=lambda p: (p.ranks, p.efficiency))
    if first.ranks == last.ranks:
        same = ngettext("All runs have %(n)s rank", "All runs have %(n)s ranks", first.ranks) % {"n": first.ranks}
        return _("%(same)s: choose runs of other sizes to see how it scales.") % {"same": same}
    told = {"ranks": last.ranks, "share": f"{100 * last.efficiency:.0f}", "base": first.ranks}
    return _("%(ranks)s ranks bring %(share)s %% of what %(base)s promise.") % told


def unit_of_pace(counted: str) -> str:
    """Of the scaling view's throughput."""
    return {"samples": _("samples/s"), "tokens": _("tokens/s")}.get(counted, _("rank steps/s"))


def page() -> dict[str, str]:
    """What the page's scripts say; names in braces are filled in there."""
    return {
        "steps_hover": _("step {x}"),
        "by_step": _("by step"),
        "by_time": _("by time of day"),
        "by_relative": _("by time since the first step"),
        "lacks": _("{n} of {of} runs have no such value."),
        "nothing": _("No run has this value yet."),
        "no_times": _("No run has timed its steps, so this can be drawn by step only."),
        "failed": _("The numbers cannot be read now. Reload the page."),
        "reading": _("Reading…"),
        "ideal": _("ideal"),
        "efficiency": _("efficiency"),
        "ranks": _("ranks"),
        "phase_data": _("data"),
        "phase_forward": _("forward"),
        "phase_backward": _("backward"),
        "phase_exposed_comm": _("exposed comm"),
        "phase_optimizer": _("optimizer"),
        "phase_other": _("other"),
        "remove": _("Remove {name}"),
        "in_runs": _("{n} of {of} runs"),
        "no_metric": _("No run has a metric with this in its name."),
        "few_dimensions": _("Nothing that differs between these runs can be drawn yet."),
        "in_ranges": _("{n} of {of} runs are in the chosen ranges: {ranges}."),
        "range_from": _("{name}, from"),
        "range_to": _("{name}, to"),
        "range_whole": _("{name}, whole range"),
        "range_all": _("all"),
        "none_hidden": _("All runs are hidden. Tick one in the list."),
    }


def pace() -> str:
    """Title of a run's steps per second."""
    return _("Steps per second")
