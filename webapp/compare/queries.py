"""Reads of a comparison: stored points, values and settings of the chosen runs."""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from webapp.compare import curves, phase_bars, scaling
from webapp.compare.scaling import Pace
from webapp.compare.summary import Came
from webapp.history.models import ConfigValue, Key, Kind, MetricValue
from webapp.provenance.models import Provenance
from webapp.runs.models import Attempt, Run
from webapp.telemetry.models import Metric
from webapp.telemetry.panels import PHASES
from webapp.telemetry.points import STEP, STEP_END
from webapp.telemetry.run_read import RunReader

MOST_NAMES = 50
COUNTED = ("samples", "tokens")  # what a script may log of each step, or count up
Window = tuple[float, float]  # first and last x of a chart: steps, epoch seconds, or seconds since the first step
_ROWS = 256  # of a run, where one typical number is wanted
_OF_MACHINES = ("phase/", "comm/", "local/", "gpu/", "node/", "rank/")


def read_curve(
    run: Run, metric: str, axis: str, smooth: float, points: int, *, window: Window | None = None
) -> dict[str, Any] | None:
    """See `curves.curve`; None as well for a run that was never launched.

    `window`: a part of the axis, of which more is read than the whole has there.
    """
    reader = _reader(run)
    if reader is None:
        return None
    series = reader.series(metric, max_rows=4 * points)
    ends = reader.series(STEP_END, max_rows=4 * points) if series.axis != axis else None
    clock = curves.NO_CLOCK if ends is None else curves.clock_of(ends)
    if window is None:
        return curves.curve(series, clock, axis, smooth, points)
    low, high = (clock.index(x, series.axis, axis) for x in window)
    if low is None or high is None:
        return None
    before = high - low if smooth else 0  # from which the smoothed line comes
    part = reader.series(metric, math.floor(low - before), math.ceil(high), max_rows=4 * points)
    return curves.curve(part, clock, axis, smooth, points, first=math.floor(low))


def phase_seconds(run: Run) -> dict[str, float]:
    """Typical seconds of each phase that the run has."""
    reader = _reader(run)
    if reader is None:
        return {}
    return {phase: phase_bars.typical(reader.series(f"phase/{phase}", max_rows=_ROWS)) for phase in PHASES}


def pace(run: Run, counted: str = "") -> Pace:
    """Throughput of all ranks. `counted`: one of COUNTED; without it steps of ranks are counted."""
    reader = _reader(run)
    if reader is None:
        return Pace(run.uid, run.world_size, float("nan"))
    seconds = phase_bars.typical(reader.series(STEP, max_rows=_ROWS))
    done = scaling.per_step(reader.series(counted, max_rows=_ROWS)) if counted else float(run.world_size)
    return Pace(run.uid, run.world_size, done / seconds if seconds > 0 else float("nan"))


def counted_in(runs: Sequence[Run]) -> str:
    """Which of COUNTED all of the runs log; empty: none."""
    logged = MetricValue.objects.filter(run__in=runs, key__kind=Kind.METRIC, key__name__in=COUNTED)
    having = dict(logged.values_list("key__name").annotate(n=Count("run", distinct=True)))
    return next((name for name in COUNTED if having.get(name) == len(runs)), "")


def came(runs: Sequence[Run], metrics: Sequence[str]) -> dict[str, dict[str, Came]]:
    """Metric to run id to what it came to, seconds as ms. What no script logged is read from stored points."""
    rows = MetricValue.objects.filter(run__in=runs, key__kind=Kind.METRIC, key__name__in=metrics)
    found: dict[str, dict[str, Came]] = {name: {} for name in metrics}
    for name, uid, last, low, high in rows.values_list("key__name", "run__uid", "last", "low", "high"):
        found[name][uid] = Came(last, low, high)
    for name in metrics:
        if name.startswith(_OF_MACHINES):
            stored = {run.uid: _came_stored(run, name) for run in runs}
            found[name] |= {uid: one for uid, one in stored.items() if one is not None}
    return found


def _came_stored(run: Run, metric: str) -> Came | None:
    reader = _reader(run)
    return curves.came(reader.series(metric, max_rows=_ROWS)) if reader else None


def settings(runs: Sequence[Run]) -> list[dict[str, str]]:
    """Of each run: arguments, variables, and what its launch was made of."""
    found: dict[int, dict[str, str]] = {run.pk: {} for run in runs}
    rows = ConfigValue.objects.filter(run__in=runs, key__kind=Kind.CONFIG)
    for pk, name, text in rows.values_list("run", "key__name", "text"):
        found[pk][name] = text
    for run in runs:
        found[run.pk] |= _launch(run)
    for pk, made_of in _made_of(runs).items():
        found[pk] |= made_of
    return [found[run.pk] for run in runs]


def metric_names(runs: Sequence[Run], part: str = "") -> tuple[list[tuple[str, int]], int]:
    """Up to MOST_NAMES names with this text in them, and how many of the runs have each: what most have first.

    Then how many names there are. What machines tell comes behind what scripts log.
    """
    projects = {run.project_id for run in runs}
    keys = Key.objects.filter(kind=Kind.METRIC, project__in=projects, name__icontains=part)
    names = dict(keys.values_list("pk", "name"))
    values = MetricValue.objects.filter(run__in=runs)
    values = values.filter(key__in=keys) if part else values
    stored = Metric.objects.filter(attempt__run__in=runs).filter(_any_of(lambda p: Q(name__startswith=p), _OF_MACHINES))
    having: Counter[str] = Counter()
    # Counted by key, not by name: there may be thousands of keys in each of the runs.
    for key, n in values.values_list("key").annotate(n=Count("pk")):
        having[names[key]] += n
    told = stored.filter(name__icontains=part).values_list("name").annotate(n=Count("attempt__run", distinct=True))
    having |= Counter(dict(told))
    found = sorted(having.items(), key=lambda one: (-one[1], one[0].startswith(_OF_MACHINES), one[0]))
    return found[:MOST_NAMES], len(found)


def first_metrics(runs: Sequence[Run], most: int = 2) -> list[str]:
    """What a comparison starts with: losses that most of the runs have, else other logged values, else step time."""
    chosen: list[str] = []
    for part in ("loss", ""):
        if len(chosen) < most:
            names = [name for name, _n in metric_names(runs, part)[0] if not name.startswith(_OF_MACHINES)]
            chosen += [name for name in names if name not in chosen]
    return chosen[:most] or [STEP]


def slot_seconds(runs: Sequence[Run]) -> dict[str, float]:
    """Seconds for which each run held its slots, times their number, all attempts together."""
    found = dict.fromkeys((run.uid for run in runs), 0.0)
    now = timezone.now()
    for one in Attempt.objects.filter(run__in=runs).exclude(started_at=None).select_related("run"):
        if one.started_at is not None:
            found[one.run.uid] += one.world_size * max(0.0, ((one.ended_at or now) - one.started_at).total_seconds())
    return found


def _reader(run: Run) -> RunReader | None:
    return RunReader(run) if run.attempt_count or run.attempts.exists() else None


def _launch(run: Run) -> Mapping[str, str]:
    nodes = run.spec.get("nodes")
    found = {_("ranks"): str(run.world_size)}
    return found | {_("nodes"): str(nodes)} if nodes else found


def _made_of(runs: Sequence[Run]) -> dict[int, dict[str, str]]:
    """What the first node of the newest attempt told."""
    rows = Provenance.objects.filter(part__attempt__run__in=runs, part__node_rank=0).order_by("part__attempt__number")
    told = rows.values_list("part__attempt__run", "commit", "branch", "dirty", "python", "packages__packages")
    titles = (_("commit"), _("branch"), _("changes that are not committed"), _("Python"))
    found: dict[int, dict[str, str]] = {}
    for pk, commit, branch, dirty, python, packages in told:
        texts = (commit[:12], branch, "" if dirty is None else _("yes") if dirty else _("no"), python)
        found[pk] = {title: text for title, text in zip(titles, texts, strict=True) if text}
        found[pk] |= {f"package.{name}": str(version) for name, version in (packages or {}).items()}
    return found


def _any_of(condition: Callable[[str], Q], words: Sequence[str]) -> Q:
    found = Q()
    for word in words:
        found |= condition(word)
    return found
