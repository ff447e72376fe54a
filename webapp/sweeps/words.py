"""What is said of a sweep, in whole sentences."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.language.numerals import numeral
from webapp.runs.looks import Look
from webapp.sweeps.models import Ended, State, Sweep, Trial
from webapp.sweeps.queries import best_of

_LOOK_OF = {
    State.RUNNING: ("s-run", "run"),
    State.DONE: ("s-ok", "ok"),
    State.EARLY: ("s-stop", "idle"),
    State.STOPPED: ("s-stop", "idle"),
    State.FAILED: ("s-fail", "crit"),
}


def sentence(sweep: Sweep, trials: Sequence[Trial]) -> str:
    """The first line of its page: best so far, then how far it is."""
    return " ".join([_best(sweep, best_of(sweep, trials)), _progress(sweep, trials)])


def look_of(trial: Trial) -> Look:
    shape, tone = _LOOK_OF[State(trial.state)]
    return Look(shape, tone, str(trial.get_state_display()).capitalize())


def look_of_sweep(sweep: Sweep) -> Look:
    shape, tone = {
        "": ("s-run", "run"),
        Ended.DONE: ("s-ok", "ok"),
        Ended.STOPPED: ("s-stop", "idle"),
    }.get(sweep.ended, ("s-fail", "crit"))
    words = {"": _("Running"), Ended.DONE: _("Finished"), Ended.STOPPED: _("Stopped")}
    return Look(shape, tone, words.get(sweep.ended, _("Stopped")), str(sweep.get_ended_display()))


def number(value: float | None) -> str:
    """A value of the goal as tables show it."""
    return "" if value is None else numeral(value, ".6g")


def _best(sweep: Sweep, best: Trial | None) -> str:
    if best is None:
        return _("No run has logged %(goal)s yet.") % {"goal": sweep.goal}
    arguments = ", ".join(f"{name} {value}" for name, value in best.shown.items())
    told = {"goal": sweep.goal, "value": number(best.value), "arguments": arguments, "number": best.number}
    return _("Best so far: %(goal)s %(value)s with %(arguments)s, in run %(number)s.") % told


def _progress(sweep: Sweep, trials: Sequence[Trial]) -> str:
    running = sum(trial.state == State.RUNNING for trial in trials)
    early = sum(trial.state == State.EARLY for trial in trials)
    told = {"made": len(trials), "most": sweep.most_runs, "running": running, "early": early}
    if sweep.ended:
        made = ngettext("%(made)d run was made.", "%(made)d runs were made.", len(trials)) % told
        return f"{made} {_ended(sweep)}".strip()
    if early:
        return _("%(made)d of %(most)d runs made, %(running)d running, %(early)d stopped early.") % told
    return _("%(made)d of %(most)d runs made, %(running)d running.") % told


def _ended(sweep: Sweep) -> str:
    return {
        Ended.STOPPED: _("The sweep was stopped."),
        Ended.FAILING: _("It ended because several runs in a row failed: open one to see why."),
        Ended.NO_RIGHT: _("It ended because its owner may no longer launch in this project."),
        Ended.NO_SECRETS: _("It ended because its secrets cannot be read: SECRET_KEY has changed. Start it again."),
    }.get(Ended(sweep.ended), "")
