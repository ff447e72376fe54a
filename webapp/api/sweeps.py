"""`/sweeps`: start a search over arguments, see how far it is, stop it."""

from typing import Annotated, Any, Literal

from django.conf import settings
from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Schema, Status
from ninja.params.functions import Query
from pydantic import Field, field_validator, model_validator

from webapp.api.auth import person
from webapp.api.create import checked
from webapp.api.schemas import Failure, RunIn
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.projects.models import Role
from webapp.sweeps import lifecycle, queries, words
from webapp.sweeps.forms import MOST_ARGUMENTS, MOST_RUNS
from webapp.sweeps.models import Sweep, Trial
from webapp.sweeps.space import grid_size, read

router = Router(tags=["sweeps"])


class SweepIn(RunIn):
    """Every run of the sweep as for `POST /runs`, and what is tried."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    space: Annotated[
        dict[str, str],
        Field(min_length=1, max_length=MOST_ARGUMENTS, description='argument to values: {"--lr": "log 1e-5..1e-1"}'),
    ]
    method: Literal["grid", "random", "optuna"] = "optuna"
    goal: Annotated[str, Field(min_length=1, max_length=500, description="name of the metric that decides")] = "loss"
    direction: Literal["minimize", "maximize"] = "minimize"
    most_runs: Annotated[int, Field(ge=1, le=MOST_RUNS)] = 20
    parallel: Annotated[int, Field(ge=1, le=1_000)] = 1
    early: Annotated[bool, Field(description="stop runs that are worse than the median")] = False
    not_before: Annotated[int, Field(ge=0, le=2**31 - 1, description="step up to which no run is stopped early")] = 20

    @field_validator("space")
    @classmethod
    def _space_is_read(cls, space: dict[str, str]) -> dict[str, str]:
        for name, text in space.items():
            if not name or len(name) > 200 or any(letter.isspace() for letter in name):
                raise ValueError(f"“{name}” is no name of an argument.")
            try:
                read(text)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        return space

    @model_validator(mode="after")
    def _a_grid_has_an_end(self) -> "SweepIn":
        if self.method == "grid":
            self.most_runs = min(self.most_runs, grid_size({name: read(text) for name, text in self.space.items()}))
        return self


class TrialOut(Schema):
    """One run of a sweep. `value`: of the goal, the last that was logged."""

    number: int
    run: str | None
    state: str
    arguments: dict[str, Any]
    value: float | None


class SweepOut(Schema):
    """One sweep. `ended`: empty while it starts runs, else done, stopped, failing, no_right or no_secrets."""

    id: str
    name: str
    project: str
    goal: str
    direction: str
    method: str
    most_runs: int
    made: int
    ended: str
    sentence: str
    best: TrialOut | None
    url: str


class SweepWhole(SweepOut):
    trials: list[TrialOut]


@router.get("", response=list[SweepOut], summary="Sweeps, newest first")
def list_sweeps(request: HttpRequest, project: str = "", limit: int = Query(50, ge=1, le=200)) -> list[dict[str, Any]]:
    found = queries.sweeps_for(person(request))
    if project:
        found = found.filter(project__slug=project)
    return [_shape(sweep) for sweep in found.prefetch_related("trials__run")[:limit]]


@router.post("", response={201: SweepWhole, 403: Failure, 404: Failure, 422: Failure}, summary="Start a sweep")
def create(request: HttpRequest, asked: SweepIn) -> Status[dict[str, Any]]:
    """Its first runs start within seconds, `parallel` of them at a time."""
    who = person(request)
    project, spec = checked(who, asked)
    search = {name: getattr(asked, name) for name in _SEARCH}
    sweep = lifecycle.create(
        project=project, owner=who, name=asked.name, spec=spec, secrets=asked.secrets,
        space=[list(pair) for pair in asked.space.items()], **search,
    )  # fmt: skip
    note(request, Verb.SWEPT, sweep, project)
    return Status(201, _whole(sweep))


@router.get("/{sweep_id}", response={200: SweepWhole, 404: Failure}, summary="Read a sweep")
def read_sweep(request: HttpRequest, sweep_id: str) -> dict[str, Any]:
    return _whole(queries.sweep_for(person(request), sweep_id, Role.VIEWER))


@router.post("/{sweep_id}/stop", response={200: SweepWhole, 403: Failure, 404: Failure}, summary="Stop a sweep")
def stop(request: HttpRequest, sweep_id: str) -> dict[str, Any]:
    """No more runs are started, and those that go on are stopped."""
    sweep = queries.sweep_for(person(request), sweep_id, Role.EDITOR)
    lifecycle.stop(sweep, person(request).username)
    note(request, Verb.SWEEP_STOPPED, sweep, sweep.project)
    sweep.refresh_from_db()
    return _whole(sweep)


_SEARCH = ("method", "goal", "direction", "most_runs", "parallel", "early", "not_before")


def _whole(sweep: Sweep) -> dict[str, Any]:
    trials = list(sweep.trials.select_related("run"))
    return {**_shape(sweep), "trials": [_trial(trial) for trial in trials]}


def _shape(sweep: Sweep) -> dict[str, Any]:
    trials = list(sweep.trials.all())
    best = queries.best_of(sweep, trials)
    plain = ("name", "goal", "direction", "method", "most_runs", "ended")
    return {name: getattr(sweep, name) for name in plain} | {
        "id": sweep.uid,
        "project": sweep.project.slug,
        "made": len(trials),
        "sentence": words.sentence(sweep, trials),
        "best": _trial(best) if best else None,
        "url": settings.PUBLIC_URL.rstrip("/") + reverse("sweeps:detail", args=[sweep.uid]),
    }


def _trial(trial: Trial) -> dict[str, Any]:
    run = trial.run.uid if trial.run else None
    return {"number": trial.number, "run": run, "state": trial.state, "arguments": trial.shown, "value": trial.value}
