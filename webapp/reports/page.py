"""What a report shows: each block with its text, its runs, and what its scripts draw."""

from collections.abc import Callable
from typing import Any

from django.http import QueryDict

from webapp.compare import answers, chosen, words
from webapp.compare import page as compared
from webapp.compare.chosen import Chosen
from webapp.compare.colours import colours
from webapp.markdown import render
from webapp.reports.models import Block, Kind, Report

RunsOf = Callable[[Block], Chosen]


def shown(report: Report, runs_of: RunsOf, address: Callable[[Block], str]) -> list[dict[str, Any]]:
    """Every block for templates/reports/block.html. `address`: of the numbers of its chart."""
    return [_shown(block, runs_of, address) for block in report.blocks.all()]


def numbers(block: Block, found: Chosen, width: int) -> dict[str, Any]:
    """What a block's chart draws."""
    if block.kind == Kind.PHASES:
        return answers.phases(found.runs)
    if block.kind == Kind.SCALING:
        return answers.scaling(found.runs)
    metric = block.metrics[0] if block.metrics else ""
    return answers.curve(found.runs, metric, block.axis, block.smooth, width)


def _shown(block: Block, runs_of: RunsOf, address: Callable[[Block], str]) -> dict[str, Any]:
    plain: dict[str, Any] = {"block": block, "text": render(block.text) if block.text else ""}
    if block.kind == Kind.TEXT:
        return plain
    found = runs_of(block)
    tones, names = colours([run.uid for run in found.runs]), chosen.labels(found.runs)
    runs = [
        {"uid": run.uid, "name": names[run.uid], "colour": tones.get(run.uid), "ranks": run.world_size}
        for run in found.runs
    ]
    plain |= {"left_out": words.left_out(found), "runs": runs, "metric": words.title((block.metrics or [""])[0])}
    if block.kind == Kind.TABLE:
        asked = QueryDict(mutable=True)
        asked["metrics"] = chosen.joined(block.metrics)
        return plain | {"table": compared.summary_of(found.runs, asked)}
    return plain | {"address": address(block)}
