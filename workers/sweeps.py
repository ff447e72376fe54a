"""Every two seconds each sweep is looked at: what its runs have reached, who falls behind, which run comes next.

All that a decision needs is in the rows; a round may be missed or done twice.
"""

import logging

from django.db import DatabaseError, transaction

from webapp.celery import app
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.secrets import SecretUnreadable
from webapp.sweeps import lifecycle
from webapp.sweeps.curves import curve_of
from webapp.sweeps.median import falls_behind
from webapp.sweeps.models import Ended, State, Sweep, Trial
from webapp.sweeps.proposals import Told, propose

log = logging.getLogger(__name__)


@app.task(name="workers.sweeps.turn")  # type: ignore[untyped-decorator]
def turn() -> None:
    """One round."""
    going = Sweep.objects.filter(ended="") | Sweep.objects.filter(trials__state=State.RUNNING)
    for sweep in going.distinct().select_related("project", "owner"):
        try:
            look_at(sweep)
        except SecretUnreadable:
            lifecycle.end(sweep, Ended.NO_SECRETS)
        except DatabaseError:
            log.exception("sweep %s: the next round tries again", sweep.uid)


def look_at(sweep: Sweep) -> None:
    """Note, stop early, start."""
    trials = list(sweep.trials.select_related("run"))
    for trial in trials:
        if trial.state == State.RUNNING:
            lifecycle.note(trial, curve_of(trial.run, sweep.goal) if trial.run else [])
    if sweep.ended:
        return
    if sweep.early:
        _give_up(sweep, trials)
    if why := _is_over(sweep, trials):
        lifecycle.end(sweep, why)
    else:
        _start(sweep)


def _give_up(sweep: Sweep, trials: list[Trial]) -> None:
    for trial in trials:
        others = [one.curve for one in trials if one.pk != trial.pk]
        behind = falls_behind(trial.curve, others, minimize=sweep.minimize, not_before=sweep.not_before)
        if trial.state == State.RUNNING and not trial.given_up and behind:
            lifecycle.give_up(trial)


def _is_over(sweep: Sweep, trials: list[Trial]) -> Ended | None:
    ended = [trial for trial in trials if trial.state != State.RUNNING]
    last = ended[-lifecycle.FAILED_IN_A_ROW :]
    if len(last) == lifecycle.FAILED_IN_A_ROW and all(trial.state == State.FAILED for trial in last):
        return Ended.FAILING
    if not access.allows(sweep.owner, sweep.project, Role.EDITOR):
        return Ended.NO_RIGHT
    return Ended.DONE if len(trials) >= sweep.most_runs and len(ended) == len(trials) else None


@transaction.atomic
def _start(sweep: Sweep) -> None:
    """As many runs as may go beside each other. The lock keeps two rounds from starting the same one."""
    sweep = Sweep.objects.select_for_update(of=("self",)).select_related("project", "owner").get(pk=sweep.pk)
    trials = list(sweep.trials.all())
    running = sum(trial.state == State.RUNNING for trial in trials)
    while not sweep.ended and running < sweep.parallel and len(trials) < sweep.most_runs:
        told = [Told(one.arguments, one.value, one.state == State.RUNNING) for one in trials]
        arguments = propose(sweep.method, sweep.choices, sweep.seed, told, minimize=sweep.minimize)
        if arguments is None:
            return
        trials.append(lifecycle.start_trial(sweep, len(trials) + 1, arguments))
        running += 1
