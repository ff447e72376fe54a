"""The only writer of sweeps and trials. Each function may be called twice: `workers/sweeps.py` does so."""

import json
from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.projects.models import Project
from webapp.runs import lifecycle as runs
from webapp.runs.models import Outcome, Run, Status
from webapp.runs.secrets import decrypt, encrypt
from webapp.runs.spec import RunSpec
from webapp.sweeps.models import Ended, State, Sweep, Trial
from webapp.sweeps.space import as_arguments

FAILED_IN_A_ROW = 5  # then something is wrong with all of them
_STATE_OF = {Outcome.SUCCEEDED: State.DONE, Outcome.FAILED: State.FAILED, Outcome.LOST: State.FAILED}


def create(*, project: Project, owner: User, spec: RunSpec, secrets: dict[str, str], **asked: Any) -> Sweep:
    """A sweep that starts its first runs within seconds."""
    spec = spec.model_copy(update={"secret_names": sorted(secrets)})
    kept = encrypt(json.dumps(secrets)) if secrets else b""
    return Sweep.objects.create(project=project, owner=owner, spec=spec.model_dump(mode="json"), secrets=kept, **asked)


@transaction.atomic
def start_trial(sweep: Sweep, number: int, arguments: dict[str, Any]) -> Trial:
    """The sweep's next run. SecretUnreadable when its secrets cannot be read any more."""
    spec = RunSpec.stored(sweep.spec)
    spec = spec.model_copy(update={"argv": as_arguments(spec.argv, arguments)})
    kept = json.loads(decrypt(bytes(sweep.secrets))) if sweep.secrets else {}
    run = runs.create(
        project=sweep.project, owner=sweep.owner, name=f"{sweep.name} {number}"[:120], spec=spec, secrets=kept
    )
    Run.objects.filter(pk=run.pk).update(group=sweep.name)
    return Trial.objects.create(sweep=sweep, number=number, run=run, arguments=arguments)


def note(trial: Trial, curve: list[tuple[int, float]]) -> None:
    """What the trial has reached by now, and, when its run has ended, how."""
    trial.curve = [[step, value] for step, value in curve]
    trial.value = curve[-1][1] if curve else None
    run = trial.run
    if run is None or run.deleted_at is not None:
        trial.state = State.STOPPED
    elif run.status == Status.ENDED and not _is_tried_again(run):
        trial.state = State.EARLY if trial.given_up and run.outcome == Outcome.STOPPED else _state_of(run)
    trial.save(update_fields=["curve", "value", "state"])


def give_up(trial: Trial) -> None:
    """Stop a run that falls behind the others."""
    Trial.objects.filter(pk=trial.pk).update(given_up=True)
    trial.given_up = True
    if trial.run is not None:
        runs.request_stop(trial.run, actor_of(trial.sweep))


def end(sweep: Sweep, why: Ended) -> bool:
    """No more runs are started. False when it had ended before."""
    return bool(Sweep.objects.filter(pk=sweep.pk, ended="").update(ended=why, ended_at=timezone.now()))


def stop(sweep: Sweep, actor: str) -> None:
    """End the sweep, and stop those of its runs that go on."""
    end(sweep, Ended.STOPPED)
    for trial in sweep.trials.filter(state=State.RUNNING).exclude(run=None).select_related("run"):
        if trial.run is not None:
            runs.request_stop(trial.run, actor)


def actor_of(sweep: Sweep) -> str:
    """Who has stopped a run, as its page says it."""
    return f"sweep {sweep.name}"


def _state_of(run: Run) -> State:
    return _STATE_OF.get(Outcome(run.outcome), State.STOPPED)


def _is_tried_again(run: Run) -> bool:
    """It failed, but has retries left: its next attempt comes in a moment."""
    newest = run.attempts.order_by("-number")[0]
    used = run.events.filter(kind="retried").count()
    failed = run.outcome in (Outcome.FAILED, Outcome.LOST)
    return failed and newest.stop_requested_at is None and used < run.spec.get("retries", 0)
