"""The only writer of what runs are searched by: settings at the launch, values of metrics as they are stored."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from trainer_agent.wire.hidden import looks_secret
from webapp.history.models import LONGEST_TEXT, ConfigValue, Key, Kind, MetricValue
from webapp.history.settings_of import MOST, number, settings_of
from webapp.runs.models import Run
from webapp.runs.secrets import redact
from webapp.runs.spec import RunSpec

_BETWEEN = "\x1f"
_AT_ONCE = 200  # SQLite takes a thousand and some variables in one statement


@dataclass(slots=True)
class Came:
    """What a metric came to so far. None: no finite number yet."""

    step: int
    last: float | None
    low: float | None = None
    high: float | None = None


def note_spec(run: Run) -> None:
    """Arguments and variables of the run as it was asked for. Safe to call again."""
    spec = RunSpec.stored(run.spec)
    note_settings(run, settings_of(spec.argv, spec.env, attached=spec.attached))


def note_told(run: Run, told: Mapping[str, Any]) -> None:
    """Settings that the script itself told, without those that look secret."""
    texts = {str(name)[:LONGEST_TEXT]: str(value) for name, value in list(told.items())[:MOST]}
    kept = {name: text.replace(_BETWEEN, " ") for name, text in texts.items() if not looks_secret(name)}
    shown = redact(run, _BETWEEN.join(kept.values())).split(_BETWEEN)  # a secret is looked for once, not per setting
    note_settings(run, dict(zip(kept, shown, strict=True)) if kept else {})


def note_settings(run: Run, settings: Mapping[str, str]) -> None:
    """Add settings; a name that is there takes the new value."""
    with transaction.atomic():
        keys = key_ids(run.project_id, Kind.CONFIG, settings)
        rows = [
            ConfigValue(run=run, key_id=keys[name], text=text[:LONGEST_TEXT], number=number(text))
            for name, text in settings.items()
        ]
        ConfigValue.objects.bulk_create(
            rows, _AT_ONCE, update_conflicts=True, unique_fields=["run", "key"], update_fields=["text", "number"]
        )


def note_metrics(run: Run, attempt: int, came: Mapping[str, Came], keys: dict[str, int]) -> None:
    """Values of the newest attempt. `keys` remembers what was looked up; called inside ingest's transaction."""
    unknown = [name for name in came if name not in keys]
    if unknown:
        keys |= key_ids(run.project_id, Kind.METRIC, unknown)
    rows = [
        MetricValue(
            run=run, key_id=keys[name], attempt=attempt, step=one.step, last=one.last, low=one.low, high=one.high
        )
        for name, one in came.items()
    ]
    MetricValue.objects.bulk_create(
        rows,
        _AT_ONCE,
        update_conflicts=True,
        unique_fields=["run", "key"],
        update_fields=["attempt", "step", "last", "low", "high"],
    )


def metrics_of(run: Run) -> dict[str, MetricValue]:
    """What is known, by name."""
    return {row.key.name: row for row in MetricValue.objects.filter(run=run).select_related("key")}


def key_ids(project: int, kind: Kind, names: Collection[str]) -> dict[str, int]:
    """The keys of these names; those that the project has not yet are made."""
    wanted = list(names)
    known: dict[str, int] = {}
    for at in range(0, len(wanted), _AT_ONCE):
        some = wanted[at : at + _AT_ONCE]
        rows = Key.objects.filter(project=project, kind=kind, name__in=some)
        found = dict(rows.values_list("name", "pk"))
        missing = [Key(project_id=project, kind=kind, name=name) for name in some if name not in found]
        if missing:
            Key.objects.bulk_create(missing, ignore_conflicts=True)
            found = dict(rows.values_list("name", "pk"))
        known |= found
    return known
