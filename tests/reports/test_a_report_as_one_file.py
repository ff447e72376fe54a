"""A report that was saved as one file says what its page says, without a server."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from playwright.sync_api import Browser
from plotly.graph_objects import Figure
from plotly.io import to_html

from tests import builders
from tests.browser_complaints import Complaints
from tests.compare import made
from webapp.accounts.models import User
from webapp.projects.models import Project, Role
from webapp.reports import lifecycle
from webapp.reports.figures.curves import curves
from webapp.reports.figures.style import Tokens
from webapp.reports.models import Report

STYLE = Path("webapp/static/css/compare.css")
EVIL = "</script><b>fast & co</b>"
CSS = """
:root { --font: Arial; --surface: #FFFFFF; --ink: #111111; --run-0: #0B6385; --c-grid: #222222; --c-axis: #222222;
  --c-tick: #222222; --c-quiet: #222222; --line-strong: #222222; }
:root[data-theme="dark"] { --run-0: #63BEDF; }
"""


@pytest.fixture
def project() -> Project:
    return builders.project("demo", ana=Role.EDITOR, vic=Role.VIEWER)


def report_of(project: Project, *blocks: Mapping[str, Any], title: str = "Week 12: ünder 2 h/ok") -> Report:
    return lifecycle.make(project, User.objects.get(username="ana"), title, [dict(one) for one in blocks])


def client_of(name: str) -> Client:
    client = Client()
    client.force_login(User.objects.get(username=name))
    return client


def test_a_smoothed_curve_keeps_its_raw_line_faint_below_it_and_no_name_is_taken_for_html() -> None:
    tokens = Tokens(CSS)
    line = {"x": [0, 3600, 7200], "y": [3.0, None, 1.0], "s": [3.0, 2.0, 1.5]}
    answer = {"axis": "relative", "base": 0.0, "unit": "ms", "lines": {"r-1": line}}
    figure: Figure = curves(
        answer, [{"uid": "r-1", "name": EVIL, "colour": 0}, {"uid": "r-2", "name": "-", "colour": 1}], tokens
    )
    raw, top = figure.data
    assert (list(raw.x), list(raw.y), list(top.y)) == ([0, 60, 120], line["y"], line["s"])
    assert raw.opacity < 0.5 < top.opacity
    assert top.line.color == "#0B6385"
    assert tokens.dark()["#0B6385"] == "#63BEDF"
    assert figure.layout.xaxis.ticksuffix == " min"
    assert " ms" in top.hovertemplate
    assert top.name == "&lt;/script&gt;&lt;b&gt;fast &amp; co…"
    assert "</script><b>" not in to_html({"data": [{"type": "scatter", "text": [EVIL]}]}, include_plotlyjs=False)


@pytest.mark.django_db
def test_a_link_saves_the_file_with_the_runs_that_it_shows_and_not_itself(project: Project) -> None:
    run, other = made.run(project, EVIL), made.run(builders.project("other", ana=Role.EDITOR), "their secret")
    report = report_of(project, {"kind": "table", "runs": [run.uid, other.uid], "metrics": ["loss"]})
    secret = lifecycle.link(report, 30)
    answer = Client().get(f"/reports/by-link/{secret}/file")
    saved = answer.content.decode()
    assert answer["Content-Disposition"] == f'attachment; filename="week-12-under-2-hok-{report.uid}.html"'
    assert (answer["X-Content-Type-Options"], answer["Referrer-Policy"]) == ("nosniff", "no-referrer")
    assert "&lt;b&gt;fast &amp; co" in saved
    assert EVIL not in saved
    assert "their secret" not in saved
    assert secret not in saved


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_the_file_draws_its_charts_with_nothing_but_itself(
    project: Project, browser: Browser, complaints: Complaints, tmp_path: Path
) -> None:
    runs = {"runs": [made.run(project, EVIL).uid, made.run(project, "wide", nodes=2).uid], "metrics": ["loss"]}
    charts = [{"kind": kind, "smooth": 0.6, **runs} for kind in ("curves", "phases", "scaling")]
    report = report_of(project, {"kind": "text", "text": "# Found\n*it*"}, *charts, {"kind": "table", **runs})
    answer = client_of("vic").get(f"/reports/{report.uid}/file")
    file = tmp_path / "report.html"
    file.write_bytes(answer.content)
    context = browser.new_context(color_scheme="dark")
    complaints.listen(context)
    page, asked = context.new_page(), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    assert page.locator(".plotly-graph-div .main-svg .trace").count() >= 4 * 2
    drawn = page.evaluate("document.querySelector('.plotly-graph-div').data.map(({line, y}) => [line.color, y.length])")
    assert [length for _colour, length in drawn] == [40] * 4
    assert {colour for colour, _length in drawn} <= set(Tokens(STYLE.read_text()).dark().values())
    assert "<b>fast & co</b>" in page.locator("figure").first.inner_text()
    assert answer.content.count(b"* plotly.js") == 1
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    context.close()
