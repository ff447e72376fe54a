"""What the page of a check draws: the sentence, findings, the matrix of links, the nodes."""

from collections.abc import Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from webapp.preflight import words
from webapp.preflight.finding import GREEN, RED
from webapp.preflight.link_verdict import Cell
from webapp.preflight.models import Check, CheckedNode, Presence, Stage
from webapp.preflight.picture import picture
from webapp.preflight.read import verdict_of
from webapp.preflight.schedule import Pair
from webapp.preflight.verdict import Verdict, stored

WITH_NUMBERS = 12  # nodes whose matrix has room for numbers
MOST_LINKS = 20
MOST_FINDINGS, MOST_NODES = 100, 200  # on the page
_STAGES: dict[str, str | Promise] = {
    Stage.OPENING: gettext_lazy("The nodes look at themselves…"),
    Stage.MEASURING: gettext_lazy("The nodes measure the links between them…"),
    Stage.REPEATING: gettext_lazy("What looked bad is measured again…"),
}


def page(check: Check) -> dict[str, Any]:
    """Everything that templates/preflight/found.html draws."""
    nodes, verdict = verdict_of(check)
    done = check.stage == Stage.DONE
    findings = check.findings if done else []
    return {
        "check": check,
        "run": check.attempt.run if check.attempt else None,
        "done": done,
        "head": words.head(check.level, findings, len(nodes)) if done else _STAGES[check.stage],
        "tone": words.TONES.get(check.level, "info"),
        "next": words.next_step(findings[0]) if findings else "",
        "answered": _answered(nodes),
        "findings": [shown(finding) for finding in findings[:MOST_FINDINGS]],
        "finding_count": len(findings),
        "nodes": [_node(one) for one in _first(nodes)],
        "node_count": len(nodes),
        "expected": {"rate": words.rate(verdict.mb_s), "trip": words.trip(verdict.rtt_ms)},
        **_matrix(nodes, verdict),
    }


def live_findings(check: Check) -> list[dict[str, Any]]:
    """As far as is known now; of a check that is done, what was written."""
    return list(check.findings) if check.stage == Stage.DONE else stored(verdict_of(check)[1].findings)


def shown(finding: dict[str, Any]) -> dict[str, Any]:
    """One finding in words."""
    return {
        "level": finding["level"],
        "tone": words.TONES[finding["level"]],
        "nodes": finding["nodes"],
        "sentence": words.sentence(finding),
        "next": words.next_step(finding),
    }


def _answered(nodes: Sequence[CheckedNode]) -> str:
    there = sum(bool(one.facts) for one in nodes)
    told = {"n": there, "all": len(nodes)}
    return ngettext("%(n)d of %(all)d node answered.", "%(n)d of %(all)d nodes answered.", len(nodes)) % told


def _first(nodes: Sequence[CheckedNode]) -> Sequence[CheckedNode]:
    """Of very many those that did not answer first."""
    return nodes if len(nodes) <= MOST_NODES else sorted(nodes, key=lambda one: bool(one.facts))[:MOST_NODES]


def _node(one: CheckedNode) -> dict[str, Any]:
    facts, versions = one.facts, one.facts.get("versions") or {}
    absent = {Presence.TOO_OLD: _("agent too old"), Presence.UNREACHABLE: _("cannot be reached")}
    return {
        "name": one.node_name,
        "state": absent.get(Presence(one.presence), _("answered") if facts else _("no answer yet")),
        "here": bool(facts),
        "torch": versions.get("torch"),
        "nccl": versions.get("nccl"),
        "driver": facts.get("driver"),
        "disk": (facts.get("disk") or {}).get("free"),
        "shared": (facts.get("shared") or {}).get("free"),
        "gpus": len(facts.get("gpus") or ()),
        "offset": one.node.clock_offset if one.node else None,
        "error": one.node.clock_error if one.node else None,
    }


def _matrix(nodes: Sequence[CheckedNode], verdict: Verdict) -> dict[str, Any]:
    """A table with numbers for few nodes; for many a picture in which only what deviates has colour."""
    if len(nodes) < 2 or not verdict.cells:
        return {"table": None, "picture": None, "links": []}
    names = [one.node_name for one in nodes]
    cells = verdict.cells
    bad = [pair for pair, cell in cells.items() if cell.level != GREEN]
    worst = sorted(bad, key=lambda pair: (cells[pair].level != RED, pair))
    shown = {"links": [_link(names, p, cells[p]) for p in worst[:MOST_LINKS]], "more_links": len(worst) - MOST_LINKS}
    if len(nodes) <= WITH_NUMBERS:
        return {"table": _table(names, verdict), "picture": None, **shown}
    return {"table": None, "picture": picture(names, cells, worst, lambda p: _sentence(names, p, cells[p])), **shown}


def _table(names: Sequence[str], verdict: Verdict) -> dict[str, Any]:
    rows = [
        {"name": name, "cells": [_cell(verdict.cells.get((a, b)), own=a == b) for b in range(len(names))]}
        for a, name in enumerate(names)
    ]
    return {"names": names, "rows": rows}


def _cell(cell: Cell | None, *, own: bool) -> dict[str, Any]:
    if own or cell is None:
        return {"own": own, "tone": "", "rate": "", "trip": "", "word": "" if own else _("not measured")}
    word = _("closed") if cell.why in ("cut", "data", "meeting") else ""
    tone = "" if cell.level == GREEN else words.TONES[cell.level]
    link = cell.link
    trip = words.trip(link.rtt_ms) if link.rtt_ms is not None else ""
    return {"own": False, "tone": tone, "rate": words.rate(link.mb_s) if not word else "", "trip": trip, "word": word}


def _link(names: Sequence[str], pair: Pair, cell: Cell) -> dict[str, Any]:
    link = cell.link
    why = {
        "slow": _("slow"),
        "slower": _("slower than before"),
        "late": _("late"),
        "cut": _("cannot be reached"),
        "data": _("no data passes"),
        "meeting": _("rendezvous ports closed"),
    }[cell.why]
    told = {"a": names[pair[0]], "b": names[pair[1]], "rate": words.rate(link.mb_s), "trip": words.trip(link.rtt_ms)}
    return {**told, "tone": words.TONES[cell.level], "why": why, "usual": words.rate(link.usual_mb_s)}


def _sentence(names: Sequence[str], pair: Pair, cell: Cell) -> str:
    told = _link(names, pair, cell)
    return _("%(a)s to %(b)s: %(rate)s, %(trip)s") % told + f", {told['why']}"
