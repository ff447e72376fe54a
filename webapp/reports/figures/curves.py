"""One metric of all runs: a line each. Pure."""

import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from django.utils.translation import gettext as _
from plotly.graph_objects import Figure

from webapp.reports.figures.style import Answer, Run, Style, Tokens, by_steps, escaped, layout, run_colour, short

_UNITS = ((172_800, 3_600, "h"), (7_200, 60, "min"), (0, 1, "s"))  # from so many seconds on: seconds of one, its name
_FEW_POINTS, _FEW_LINES = 25, 10


def curves(answer: Answer, runs: Sequence[Run], tokens: Tokens) -> Figure:
    """One metric of all runs: a line each; with smoothing the raw line stays, thin and faint."""
    drawn = sorted((run for run in runs if run["uid"] in answer["lines"]), key=lambda run: run["colour"] is not None)
    lines = [answer["lines"][run["uid"]] for run in drawn]
    seconds = max((line["x"][-1] for line in lines if line["x"]), default=0.0)
    style = layout(
        tokens,
        xaxis=_horizontal(answer["axis"], seconds),
        yaxis={"range": _span([y for line in lines for y in line["y"]]), "tickformat": "~g", "hoverformat": ".5~g"},
        margin={},
        hovermode="closest" if len(drawn) > _FEW_LINES else "x unified",
    )
    traces = [one for run, line in zip(drawn, lines, strict=True) for one in _line(run, line, answer, seconds, tokens)]
    return Figure(traces, style)


def _line(run: Run, line: Answer, answer: Answer, seconds: float, tokens: Tokens) -> Iterable[Style]:
    colour = run_colour(tokens, run["colour"])
    common = {"type": "scatter", "x": _places(line["x"], answer, seconds), "name": escaped(short(run["name"]))}
    smooth = line.get("s")
    if smooth is not None:
        thin = {"color": colour, "width": 1}
        yield {**common, "y": line["y"], "mode": "lines", "hoverinfo": "skip", "opacity": 0.28, "line": thin}
    unit = f" {escaped(answer['unit'])}" if answer["unit"] else ""
    yield {
        **common,
        "y": line["y"] if smooth is None else smooth,
        "mode": "lines+markers" if len(line["x"]) < _FEW_POINTS else "lines",
        "opacity": 0.5 if run["colour"] is None else 1,
        "marker": {"size": 4, "color": colour},
        "line": {"color": colour, "width": 1 if run["colour"] is None else 1.75},
        "hovertemplate": f"%{{y}}{unit}<extra>%{{fullData.name}}</extra>",
    }


def _places(x: Sequence[float], answer: Answer, seconds: float) -> Sequence[Any]:
    if answer["axis"] == "step":
        return x
    if answer["axis"] == "time":
        return [datetime.fromtimestamp(answer["base"] + second, UTC).replace(tzinfo=None) for second in x]
    return [second / _unit(seconds)[0] for second in x]


def _horizontal(axis: str, seconds: float) -> Style:
    if axis == "step":
        return by_steps() | {"unifiedhovertitle": {"text": f"{_('step')} %{{x:,d}}"}}
    if axis == "time":
        return {"type": "date", "automargin": True, "hoverformat": "%Y-%m-%d %H:%M:%S UTC"}
    suffix = f" {_unit(seconds)[1]}"
    return {"ticksuffix": suffix, "tickformat": ",~g", "hoverformat": ",.3~g"}


def _unit(seconds: float) -> tuple[int, str]:
    return next((size, name) for least, size, name in _UNITS if seconds >= least)


def _span(values: Iterable[float | None]) -> list[float]:
    """All values, but a lone spike, such as a first step that compiles, does not press the rest flat."""
    known = sorted(y for y in values if y is not None and math.isfinite(y))
    if not known:
        return [0, 1]
    least, most, usual = known[0], known[-1], known[min(len(known) - 1, int(0.97 * len(known)))]
    top = usual * 1.25 if len(known) >= 20 and most > 2 * usual > 0 else most
    pad = max((top - least) * 0.08, abs(top) * 0.01, 1e-12)
    return [least - pad, top + pad]
