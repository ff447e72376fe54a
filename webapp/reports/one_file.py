"""A report as one HTML file that opens without a server and without a network, with live charts. Pure but for files
of the product's own that go into it: style sheets, two scripts and the charts' library.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from plotly.graph_objects import Figure
from plotly.io import to_html

from webapp.compare import words
from webapp.reports.figures.curves import curves
from webapp.reports.figures.phases import height, phases
from webapp.reports.figures.scaling import efficiency, throughput
from webapp.reports.figures.style import Tokens
from webapp.reports.models import Kind, Report

WIDTH_PX = 1_600  # for which lines are thinned: room to look closer
_STYLES = ("tokens", "base", "status", "card", "table", "compare", "notes", "reports", "one_file")
_LIBRARY = "vendor/plotly-cartesian.min.js"
_CONFIG = {"displayModeBar": False, "doubleClick": "reset", "showTips": False}


def html(report: Report, blocks: Iterable[Mapping[str, Any]], address: str, made_at: datetime) -> str:
    """`blocks`: as `page.shown` gives them, each chart with its `numbers` too. `address`: of the report's page."""
    css = "\n".join(_own(f"css/{name}.css") for name in _STYLES)
    tokens = Tokens(css)
    context = {
        "report": report,
        "blocks": [{**one, **_charts(one, tokens)} for one in blocks],
        "address": address,
        "made_at": made_at,
        "styles": _inline(css),
        "print_styles": _inline(_own("css/print.css")),
        "library": _inline(_own(_LIBRARY)),
        "scripts": [_inline(_own(f"js/{name}.js")) for name in ("print", "reports/one_file")],
        "dark": tokens.dark(),
        "shared": True,  # without links to pages of single runs
    }
    return render_to_string("reports/one_file.html", context)


def file_name(report: Report) -> str:
    """Letters that every system takes."""
    return f"{slugify(report.title)[:80]}-{report.uid}.html".lstrip("-")


def _charts(one: Mapping[str, Any], tokens: Tokens) -> dict[str, Any]:
    if "numbers" not in one:
        return {}
    answer, runs, said = one["numbers"], one["runs"], words.page()
    place = f"chart-{one['block'].pk}"
    told = {"unit": answer.get("unit", ""), "finding": answer["finding"]}
    if one["block"].kind == Kind.PHASES:
        keys = [{"phase": phase, "word": said[f"phase_{phase}"]} for phase in answer["phases"]]
        told |= {"keys": keys, "height": height(answer)}
        return told | ({"chart": _drawn(phases(answer, runs, tokens, said), place)} if keys else {})
    if one["block"].kind == Kind.SCALING:
        if not answer["uids"]:
            return told
        told["chart"] = _drawn(throughput(answer, runs, tokens, said), place)
        return told | {"below": _drawn(efficiency(answer, runs, tokens, said), f"{place}-below")}
    zone = " (UTC)" if answer["axis"] == "time" else ""
    told["unit"] = " · ".join(filter(None, (answer["unit"], said[f"by_{answer['axis']}"] + zone)))
    return told | ({"chart": _drawn(curves(answer, runs, tokens), place)} if answer["lines"] else {})


def _drawn(figure: Figure, place: str) -> SafeString:
    made: str = to_html(figure, _CONFIG, include_plotlyjs=False, full_html=False, div_id=place)
    return SafeString(made)  # its numbers and names are JSON in which no tag can end or begin


def _inline(text: str) -> SafeString:
    return mark_safe(text)  # noqa: S308 - files of the product


def _own(name: str) -> str:
    found = finders.find(name)
    assert isinstance(found, str), f"{name} is no file of the product"
    return Path(found).read_text(encoding="utf-8")
