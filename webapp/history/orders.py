"""What a list can be sorted by: each order is a few bands of runs, one after the other, each sorted by one value.

The bands make "no value" come last in both directions, and let every band be read straight from an index.
"""

from dataclasses import dataclass

from django.db.models import F, Q, QuerySet

from webapp.history.models import ConfigValue, Key, Kind, MetricValue
from webapp.history.numbered import Numbered, numbered
from webapp.history.took import Took
from webapp.runs.models import Run

NEWEST = "-created"
# The words of an order, and where its value is.
PLACES = {
    "created": "created_at",
    "name": "name",
    "status": "status",
    "owner": "owner__username",
    "project": "project__slug",
    "group": "group",
    "ranks": "world_size",
    "nodes": "spec__nodes",
    "steps": "last_step",
    "loss": "last_loss",
    "pace": "steps_per_s",
    "attempts": "attempt_count",
    "duration": "took",
}
_NULLABLE = {"steps", "loss", "pace", "duration"}
_EMPTY = {"group"}


@dataclass(frozen=True, slots=True)
class Band:
    """Runs sorted by `place`, then by id, both downwards if `down`."""

    runs: QuerySet[Run]
    place: str
    down: bool


def known(word: str) -> bool:
    """Whether a list can be sorted by this, with or without a minus in front."""
    bare = word.removeprefix("-")
    return bare in PLACES or numbered(bare) is not None


def bands(runs: QuerySet[Run], word: str = NEWEST) -> list[Band]:
    """The runs in this order. `-` in front: downwards; an unknown word: the newest first."""
    down, bare = word.startswith("-"), word.removeprefix("-")
    named = numbered(bare)
    if named is not None:
        return _by_number(runs, named, down) if named.kind == Kind.METRIC else _by_setting(runs, named, down)
    place = PLACES.get(bare)
    if place is None:
        return bands(runs)
    if bare == "duration":
        runs = runs.annotate(took=Took())
    if bare in _NULLABLE:
        missing = Q(**{f"{'started_at' if bare == 'duration' else place}": None})
        return [Band(runs.exclude(missing), place, down), _newest(runs.filter(missing))]
    if bare in _EMPTY:
        return [Band(runs.exclude(**{place: ""}), place, down), _newest(runs.filter(**{place: ""}))]
    return [Band(runs, place, down)]


def _by_number(runs: QuerySet[Run], named: Numbered, down: bool) -> list[Band]:
    keys = key_ids(named)
    have = MetricValue.objects.filter(key__in=keys).exclude(**{named.place: None})
    here = {"metric_values__key__in": keys, f"metric_values__{named.place}__isnull": False}
    found = runs.filter(**here).annotate(at=F(f"metric_values__{named.place}"))
    return [Band(found, "at", down), _newest(runs.exclude(pk__in=have.values("run")))]


def _by_setting(runs: QuerySet[Run], named: Numbered, down: bool) -> list[Band]:
    keys = key_ids(named)
    have = ConfigValue.objects.filter(key__in=keys)
    numbers = runs.filter(config_values__key__in=keys, config_values__number__isnull=False)
    texts = runs.filter(config_values__key__in=keys, config_values__number=None)
    found = [
        Band(numbers.annotate(at=F("config_values__number")), "at", down),
        Band(texts.annotate(at=F("config_values__text")), "at", down),
    ]
    return [*found, _newest(runs.exclude(pk__in=have.values("run")))]


def key_ids(named: Numbered) -> list[int]:
    """The key in every project that has it."""
    return list(Key.objects.filter(kind=named.kind, name=named.name).values_list("pk", flat=True))


def _newest(runs: QuerySet[Run]) -> Band:
    return Band(runs, "created_at", True)
