"""What the page of a check draws: the sentence, findings, the matrix of links, the nodes."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from webapp.preflight import words
from webapp.preflight.finding import AMBER, GREEN, RED
from webapp.preflight.link_verdict import Cell
from webapp.preflight.models import Check, CheckedNode, Presence, Stage
from webapp.preflight.read import verdict_of
from webapp.preflight.verdict import Verdict, stored

WITH_NUMBERS = 12  # nodes whose matrix has room for numbers
MOST_NAMED = 40  # nodes whose names fit along the picture; of more only those of bad links
MOST_LINKS = 20
TEXT_SHARE, MARGIN_SHARE, LONGEST_NAME = 0.018, 0.16, 14  # of the picture's width; letters
TONES = {RED: "crit", AMBER: "warn", GREEN: "ok"}
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
        "tone": TONES.get(check.level, "info"),
        "next": words.next_step(findings[0]) if findings else "",
        "answered": _answered(nodes),
        "findings": [shown(finding) for finding in findings],
        "nodes": [_node(one) for one in nodes],
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
        "tone": TONES[finding["level"]],
        "nodes": finding["nodes"],
        "sentence": words.sentence(finding),
        "next": words.next_step(finding),
    }


def _answered(nodes: Sequence[CheckedNode]) -> str:
    there = sum(bool(one.facts) for one in nodes)
    told = {"n": there, "all": len(nodes)}
    return ngettext("%(n)d of %(all)d node answered.", "%(n)d of %(all)d nodes answered.", len(nodes)) % told


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
    bad = {pair: cell for pair, cell in verdict.cells.items() if cell.level != GREEN}
    links = [_link(names, pair, bad[pair]) for pair in sorted(bad, key=lambda pair: (bad[pair].level != RED, pair))]
    small = len(nodes) <= WITH_NUMBERS
    return {
        "table": _table(names, verdict) if small else None,
        "picture": None if small else _picture(names, verdict, bad),
        "links": links[:MOST_LINKS],
        "more_links": max(0, len(links) - MOST_LINKS),
    }


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
    tone = "" if cell.level == GREEN else TONES[cell.level]
    link = cell.link
    trip = words.trip(link.rtt_ms) if link.rtt_ms is not None else ""
    return {"own": False, "tone": tone, "rate": words.rate(link.mb_s) if not word else "", "trip": trip, "word": word}


def _picture(names: Sequence[str], verdict: Verdict, bad: dict[tuple[int, int], Cell]) -> dict[str, Any]:
    """Squares of one unit; rows send, columns receive. What is in line is the ground and needs no square."""
    count = len(names)
    touched = {place for pair in bad for place in pair}
    squares = [
        {"x": b, "y": a, "tone": TONES[cell.level], "title": _link(names, (a, b), cell)["sentence"]}
        for (a, b), cell in bad.items()
    ]
    pairs = ((a, b) for a in range(count) for b in range(count) if a != b)
    unknown = [{"x": b, "y": a} for a, b in pairs if (a, b) not in verdict.cells or _is_unknown(verdict.cells[a, b])]
    shown_rows = range(count) if count <= MOST_NAMED else sorted(touched)
    text = TEXT_SHARE * count
    return {
        "margin": MARGIN_SHARE * count,
        "size": (1 + MARGIN_SHARE) * count,
        "n": count,
        "lined": count <= MOST_NAMED,
        "text": text,
        "squares": squares,
        "unknown": unknown,
        "own": range(count),
        "labels": _labels(names, shown_rows, text),
    }


def _labels(names: Sequence[str], rows: Iterable[int], height: float) -> list[dict[str, Any]]:
    """Names beside their rows, as far as they do not overlap; the table below names all that deviates."""
    found: list[dict[str, Any]] = []
    for row in rows:
        if not found or row + 0.5 - found[-1]["at"] >= height:
            short = names[row] if len(names[row]) <= LONGEST_NAME else names[row][: LONGEST_NAME - 1] + "…"
            found.append({"at": row + 0.5, "name": short})
    return found


def _is_unknown(cell: Cell) -> bool:
    return cell.level == GREEN and cell.link.mb_s is None


def _link(names: Sequence[str], pair: tuple[int, int], cell: Cell) -> dict[str, Any]:
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
    return {
        **told,
        "tone": TONES[cell.level],
        "why": why,
        "usual": words.rate(link.usual_mb_s),
        "sentence": _("%(a)s to %(b)s: %(rate)s, %(trip)s") % told + f", {why}",
    }
