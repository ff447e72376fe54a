"""Where a step's time goes: one bar per run. Pure."""

from collections.abc import Mapping, Sequence

from plotly.graph_objects import Figure

from webapp.compare.phase_bars import WAITING
from webapp.reports.figures.style import Answer, Run, Style, Tokens, escaped, layout, short

_LEAST_PX, _MOST_PX, _USUAL_PX, _ROOM_PX = 24, 48, 240, 44  # of a bar; of all bars while they are few; of the axis


def phases(answer: Answer, runs: Sequence[Run], tokens: Tokens, words: Mapping[str, str]) -> Figure:
    """Where a step's time goes: one bar per run, phases in their fixed order, waiting hatched."""
    drawn = [run for run in reversed(runs) if run["uid"] in answer["runs"]]
    names = [escaped(short(run["name"])) for run in drawn]
    places = list(range(len(drawn)))
    style = layout(
        tokens,
        xaxis={"ticksuffix": " ms", "tickformat": ",~g", "rangemode": "tozero", "showgrid": True, "fixedrange": True},
        yaxis={"tickvals": places, "ticktext": names, "showgrid": False, "range": [-0.6, len(drawn) - 0.4]},
        margin={"t": 2},
        barmode="stack",
        bargap=0.3,
        dragmode=False,
        hovermode="closest",
    )
    return Figure([_bar(phase, drawn, answer, tokens, words[f"phase_{phase}"]) for phase in answer["phases"]], style)


def _bar(phase: str, drawn: Sequence[Run], answer: Answer, tokens: Tokens, word: str) -> Style:
    colour = tokens[f"ph-{phase}"]
    marker: Style = {"color": colour, "line": {"color": tokens["surface"], "width": 0.75}}
    if phase == WAITING:
        hatch = {"shape": "/", "size": 5, "solidity": 0.55, "fillmode": "replace"}
        marker["pattern"] = {**hatch, "fgcolor": colour, "bgcolor": tokens["surface"]}
    return {
        "type": "bar",
        "orientation": "h",
        "name": word,
        "y": list(range(len(drawn))),
        "x": [answer["runs"][run["uid"]].get(phase, 0) for run in drawn],
        "text": [escaped(run["name"]) for run in drawn],
        "textposition": "none",
        "marker": marker,
        "hovertemplate": f"%{{text}}<br>{word}: %{{x:,.1f}} ms<extra></extra>",
    }


def height(answer: Answer) -> int:
    """Pixels that its bars take."""
    count = len(answer["runs"])
    return round(count * min(_MOST_PX, max(_LEAST_PX, _USUAL_PX / max(1, count))) + _ROOM_PX)
