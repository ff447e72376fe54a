"""What more ranks bring: throughput against ranks, and how much of the ideal it is. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from plotly.graph_objects import Figure

from webapp.reports.figures.style import Answer, Run, Style, Tokens, escaped, layout, run_colour


def throughput(answer: Answer, runs: Sequence[Run], tokens: Tokens, words: Mapping[str, str]) -> Figure:
    """Throughput against ranks, with the ideal line from the smallest size."""
    x, y = answer["ideal"]["x"], answer["ideal"]["y"]
    line = {"color": tokens["c-quiet"], "width": 1, "dash": "dot"}
    ideal = {"type": "scatter", "mode": "lines", "x": [0, *x], "y": [0, *y], "hoverinfo": "skip", "line": line}
    said = {"x": x[1], "y": y[1], "text": words["ideal"], "xanchor": "left", "xshift": 4, "showarrow": False}
    style = _of_ranks(
        answer,
        tokens,
        words["ranks"],
        {"rangemode": "tozero", "tickformat": ",~s"},
        annotations=[said] if x[0] != x[1] else [],
    )
    told = f"{words['ranks']}: %{{y:,.4~g}} {escaped(answer['unit'])}"
    return Figure([ideal, _dots(answer, "throughput", told, runs, tokens)], style)


def efficiency(answer: Answer, runs: Sequence[Run], tokens: Tokens, words: Mapping[str, str]) -> Figure:
    """How much of the ideal it is, in per cent."""
    most = max(108, *answer["efficiency"]) * 1.04
    line = {"color": tokens["c-quiet"], "width": 1, "dash": "dot"}
    whole = {"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 100, "y1": 100, "line": line}
    axis = {"range": [0, most], "tickvals": [0, 50, 100], "ticktext": ["0 %", "50 %", "100 %"]}
    style = _of_ranks(answer, tokens, words["ranks"], axis, shapes=[whole])
    return Figure([_dots(answer, "efficiency", f"{words['ranks']}: %{{y:.0f}} %", runs, tokens)], style)


def _of_ranks(answer: Answer, tokens: Tokens, word: str, yaxis: Style, **more: Any) -> Style:
    sizes = sorted(set(answer["ranks"]))
    named = [f"{size}" if place else f"{word} {size}" for place, size in enumerate(sizes)]
    few = {"tickvals": sizes, "ticktext": named} if len(sizes) <= 8 else {"tickprefix": f"{word} "}
    xaxis = {"range": [0, max(sizes) * 1.08], "fixedrange": True, "showtickprefix": "first", **few}
    margin = {"l": 56, "r": 44}
    return layout(tokens, xaxis=xaxis, yaxis=yaxis, margin=margin, hovermode="closest", dragmode=False, **more)


def _dots(answer: Answer, what: str, told: str, runs: Sequence[Run], tokens: Tokens) -> Style:
    shown = {run["uid"]: run for run in runs}
    at = [(shown[uid], place) for place, uid in enumerate(answer["uids"]) if uid in shown]
    colours = [run_colour(tokens, run["colour"]) for run, _place in at]
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [answer["ranks"][place] for _run, place in at],
        "y": [answer[what][place] for _run, place in at],
        "text": [escaped(run["name"]) for run, _place in at],
        "marker": {"size": 8, "color": colours, "line": {"color": tokens["surface"], "width": 1}},
        "hovertemplate": f"%{{text}}<br>%{{x:,d}} {told}<extra></extra>",
    }
