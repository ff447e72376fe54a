"""The numbers of each card, read and worded: what the page's scripts and those of reports draw."""

from collections.abc import Sequence
from typing import Any

from webapp.compare import chosen, curves, dimensions, phase_bars, queries, summary, words
from webapp.compare import scaling as scale
from webapp.compare.difference import difference
from webapp.runs.models import Run
from webapp.telemetry.units import unit_of

Answer = dict[str, Any]


def curve(
    runs: Sequence[Run],
    metric: str,
    axis: str,
    smooth: float,
    width: int,
    *,
    turned: bool = False,
    window: queries.Window | None = None,
) -> Answer:
    """`{metric, title, unit, axis, base, lines: {uid: {x, y, s, of}}, finding}`; times are seconds since `base`."""
    points = curves.points_for(width, len(runs))
    found = {run.uid: queries.read_curve(run, metric, axis, smooth, points, window=window) for run in runs}
    lines = {uid: line for uid, line in found.items() if line is not None}
    base = min((line["x"][0] for line in lines.values()), default=0.0) if axis == "time" else 0.0
    for line in lines.values() if base else ():
        line["x"] = [round(x - base, 1) for x in line["x"]]
    unit = unit_of(metric)
    more = summary.more_is_better(metric) != turned
    came = queries.came(runs, [metric])[metric]
    said = words.curve(metric, summary.best(came, more=more), came, chosen.labels(runs), more=more)
    return {
        "metric": metric,
        "title": words.title(metric),
        "unit": "ms" if unit == "s" else unit,
        "axis": axis,
        "base": base,
        "lines": lines,
        "finding": said,
    }


def phases(runs: Sequence[Run]) -> Answer:
    """`{phases, runs: {uid: {phase: ms}}, finding}`."""
    seconds = {run.uid: queries.phase_seconds(run) for run in runs}
    shares = phase_bars.waiting_shares(seconds)
    return {**phase_bars.bars(seconds), "finding": words.phases(shares, chosen.labels(runs))}


def scaling(runs: Sequence[Run]) -> Answer:
    """`{uids, ranks, throughput, efficiency, ideal, unit, finding}`."""
    counted = queries.counted_in(runs)
    found = scale.points([queries.pace(run, counted) for run in runs])
    return {**scale.chart(found), "unit": words.unit_of_pace(counted), "finding": words.scaling(found)}


def values(runs: Sequence[Run], metrics: Sequence[str]) -> Answer:
    """`{uids, settings, results}`, see `dimensions`."""
    uids = [run.uid for run in runs]
    came = queries.came(runs, metrics)
    results = [
        dimensions.of_numbers(f"metric.{name}", name, {uid: one.last for uid, one in came[name].items()}, uids)
        for name in metrics
    ]
    paces = dimensions.of_numbers("pace", words.pace(), {run.uid: run.steps_per_s for run in runs}, uids)
    return {
        "uids": uids,
        "settings": dimensions.of_settings(difference(queries.settings(runs))),
        "results": [one for one in [*results, paces] if any(value is not None for value in one["values"])],
    }


def names(runs: Sequence[Run], part: str) -> Answer:
    """`{found: [{name, title, runs}], total}`: some of the names, what most runs have first, and how many there are."""
    found, total = queries.metric_names(runs, part)
    shown = [{"name": name, "title": words.title(name), "runs": n} for name, n in found]
    return {"found": shown, "total": total}
