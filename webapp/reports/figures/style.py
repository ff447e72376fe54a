"""How charts of a report's file look: the colours of the pages' style sheets, and axes as the pages draw them. Pure."""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.formats import get_format
from django.utils.translation import gettext as _

Style = dict[str, Any]
Answer = Mapping[str, Any]  # what `page.numbers` gives
Run = Mapping[str, Any]  # uid, name, colour

_BLOCK = re.compile(r'^:root(\[data-theme="dark"\])? \{(.*?)\}', re.MULTILINE | re.DOTALL)
_TOKEN = re.compile(r"--([\w-]+):\s*([^;]+);")


class Tokens:
    """The named values of style sheets; `[name]` is a light one."""

    def __init__(self, css: str) -> None:
        self._of: dict[bool, dict[str, str]] = {False: {}, True: {}}
        for dark, content in _BLOCK.findall(css):
            self._of[bool(dark)] |= dict(_TOKEN.findall(content))

    def __getitem__(self, name: str) -> str:
        return self._of[False][name]

    def dark(self) -> dict[str, str]:
        """Each light colour and the dark one in its place. Where names share a light one, the first counts."""
        found: dict[str, str] = {}
        for name, light in self._of[False].items():
            if light.startswith("#"):
                found.setdefault(light, self._of[True].get(name, light))
        return found


def escaped(text: str) -> str:
    """A name as a chart writes it, which takes some HTML for style."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def short(text: str, longest: int = 22) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def run_colour(tokens: Tokens, colour: int | None) -> str:
    """Runs beyond the first ten are grey."""
    return tokens["c-quiet" if colour is None else f"run-{colour}"]


def layout(tokens: Tokens, *, xaxis: Style, yaxis: Style, margin: Mapping[str, int], **more: Any) -> Style:
    """A chart's layout; what is given goes before the usual."""
    words = {"family": tokens["font"], "size": 11, "color": tokens["c-tick"]}
    axis = {"gridcolor": tokens["c-grid"], "zeroline": False, "ticks": "", "separatethousands": True}
    across = {"showgrid": False, "showline": True, "linecolor": tokens["c-axis"], "spikecolor": tokens["c-quiet"]}
    across |= {"spikethickness": 1, "spikedash": "solid", "nticks": 7}
    return {
        "template": "none",
        "font": words,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": tokens["surface"],
        "showlegend": False,
        "separators": get_format("DECIMAL_SEPARATOR") + get_format("THOUSAND_SEPARATOR"),
        "hoverlabel": {
            "bgcolor": tokens["surface"],
            "bordercolor": tokens["line-strong"],
            "font": words | {"size": 12, "color": tokens["ink"]},
        },
        "uirevision": "one",  # another theme keeps the part that somebody looks at
        "margin": {"l": 48, "r": 14, "t": 10, "b": 26, **margin},
        "xaxis": {**axis, **across, **xaxis},
        "yaxis": {**axis, "nticks": 5, "ticklabelstandoff": 6, "automargin": True, **yaxis},
        **more,
    }


def by_steps() -> Style:
    """An axis of steps says so on its first number."""
    return {"tickprefix": _("step") + " ", "showtickprefix": "first", "tickformat": ",d", "hoverformat": ",d"}
