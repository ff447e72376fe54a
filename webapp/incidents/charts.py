"""Charts that show an incident's evidence, from series: pure. Seconds in, ms out; steps are the script's own.

`against`: {id, unit, axis, x, columns: {low, high, ground, subject}, names: {subject, ground}, finding}
`parts`: {id, unit, rows: [part], subject: [ms], ground: [ms], names, finding}
`links`: {id, unit, nodes: [name], z: [[ms per MB | null]], finding}
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils.translation import gettext as _

from webapp.language.numerals import numeral
from webapp.telemetry.blocks import Floats, Ints
from webapp.telemetry.findings import PHASE_WORDS
from webapp.telemetry.panel_lines import Panel, numbers
from webapp.telemetry.series import Series
from webapp.telemetry.spread import median

_NOISES = 3.0  # as many times the noise around the usual value are nothing special
_NOTABLE = 0.04  # of the ground: less is not worth colour


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose incident it is: its ranks, what it is called, and since which step (None: not known)."""

    ranks: frozenset[int]
    name: str
    title: str  # the same at the head of a sentence
    since: int | None


def against_others(series: Series, subject: Subject, part: str) -> Panel:
    """The subject step by step against the median of the others, and where the others lie."""
    mine, others = _split(series, subject)
    ground = median(others, 1)
    more = mean_since(series.index, mine - ground, subject.since)
    told = {"who": subject.title, "part": PHASE_WORDS[part](), "more": _ms(more)}
    finding = [[_("No numbers of this part."), ""]]
    if np.isfinite(more) and more < _NOTABLE * mean_since(series.index, ground, subject.since):
        finding = [[_("%(who)s is like the others in %(part)s.") % told, ""]]
    elif np.isfinite(more):
        finding = [[_("%(who)s takes %(more)s more") % told, "warn"], [_(" than the others in %(part)s.") % told, ""]]
    columns = {"low": _edge(others, np.fmin), "high": _edge(others, np.fmax), "ground": ground, "subject": mine}
    return _lines(series.index, columns, _named(subject), finding)


def against_usual(index: Ints, now: Floats, usual: Sequence[float], what: str, since: int | None) -> Panel:
    """The job step by step against what was usual for it. `usual`: [middle, noise]; `what`: step | transfer."""
    middle, noise = usual[0], _NOISES * usual[1]
    flat = np.ones(index.size)
    columns = {"low": flat * (middle - noise), "high": flat * (middle + noise), "ground": flat * middle, "subject": now}
    finding = _changed(middle_since(index, now, since), middle, what)
    return _lines(index, columns, {"subject": _("now"), "ground": _("usual")}, finding)


def parts_of(parts: Mapping[str, Series], subject: Subject) -> Panel:
    """Each part of a step since the onset: the subject beside the median of the others."""
    mine, others = {}, {}
    for name, series in parts.items():
        own, rest = _split(series, subject)
        mine[name] = mean_since(series.index, own, subject.since)
        others[name] = mean_since(series.index, median(rest, 1), subject.since)
    return _bars(mine, others, _named(subject))


def parts_now(parts: Mapping[str, Series], usual: Mapping[str, Sequence[float]], since: int | None) -> Panel:
    """Each part of the median rank's step since the onset, beside what was usual."""
    now = {name: mean_since(series.index, median(series.values, 1), since) for name, series in parts.items()}
    before = {name: usual[_USUAL.get(name, name)][0] for name in parts if _USUAL.get(name, name) in usual}
    return _bars(now, before, {"subject": _("now"), "ground": _("usual")})


def links(costs: Mapping[str, float], names: Mapping[int, str], hot: Sequence[int] | None) -> Panel:
    """What a megabyte costs on each link. `costs`: {"0-1": busy ms per MB} by node ranks."""
    pairs = {tuple(int(end) for end in key.split("-")): cost for key, cost in costs.items()}
    ends = sorted({end for pair in pairs for end in pair})
    z = [[None if a == b else pairs.get((a, b)) for b in ends] for a in ends]
    worst = tuple(hot) if hot else max(pairs, key=lambda pair: pairs[pair])
    usual = float(np.median(list(pairs.values())))
    called = {end: names.get(end) or _("node %s") % end for end in ends}
    told = {
        "a": called.get(worst[0], ""),
        "b": called.get(worst[1], ""),
        "cost": numeral(pairs.get(worst, 0.0), ",.1f"),
    }
    finding = [
        [_("From %(a)s to %(b)s a megabyte takes %(cost)s ms") % told, "warn"],
        [_(", on the usual link %s.") % numeral(usual, ",.1f"), ""],
    ]
    return {"id": "links", "unit": "ms/MB", "nodes": list(called.values()), "z": z, "finding": finding}


def middle_since(index: Ints, values: Floats, since: int | None) -> float:
    """The median of the steps since the onset; NaN without any."""
    known = _since(index, values, since)
    return float(np.median(known)) if known.size else float("nan")


def mean_since(index: Ints, values: Floats, since: int | None) -> float:
    """The mean, which shows also what is late now and then."""
    known = _since(index, values, since)
    return float(np.mean(known)) if known.size else float("nan")


_USUAL = {"exposed_comm": "exposed"}  # the detectors' name of it


def _split(series: Series, subject: Subject) -> tuple[Floats, Floats]:
    mine = np.isin(series.columns, list(subject.ranks))
    return median(series.values[:, mine], 1), series.values[:, ~mine]


def _since(index: Ints, values: Floats, since: int | None) -> Floats:
    chosen = values if since is None else values[index >= since]
    return np.asarray(chosen[~np.isnan(chosen)])


def _edge(values: Floats, most: Any) -> Floats:
    return np.asarray(most.reduce(values, axis=1)) if values.shape[1] else np.full(values.shape[0], np.nan)


def _lines(index: Ints, columns: Mapping[str, Floats], names: Mapping[str, str], finding: list[list[str]]) -> Panel:
    told = {name: numbers(column * 1e3, 3) for name, column in columns.items()}
    return {"unit": "ms", "axis": "step", "x": index.tolist(), "columns": told, "names": names, "finding": finding}


def _named(subject: Subject) -> dict[str, str]:
    return {"subject": subject.name, "ground": _("median of the others")}


def _changed(now: float, usual: float, what: str) -> list[list[str]]:
    told = {"now": _ms(now), "usual": _ms(usual)}
    if not np.isfinite(now):
        return [[_("No steps here."), ""]]
    head = _("Transfers take %(now)s") if what == "transfer" else _("A step takes %(now)s")
    if now < (1 + _NOTABLE) * usual:
        return [[head % told, ""], [_(", as usual."), ""]]
    return [[head % told, "warn"], [_(" instead of %(usual)s.") % told, ""]]


def _bars(mine: Mapping[str, float], others: Mapping[str, float], names: Mapping[str, str]) -> Panel:
    rows = [name for name in mine if np.isfinite(mine[name])]
    more = {name: mine[name] - others[name] for name in rows if np.isfinite(others.get(name, float("nan")))}
    top = max(more, key=lambda name: more[name]) if more else None
    finding, hot = [[_("No part of the step differs."), ""]], None
    if top is not None and more[top] > _NOTABLE * sum(others[name] for name in more):
        told = {"part": PHASE_WORDS[top](), "more": _ms(more[top])}
        finding, hot = [[_("%(more)s more in %(part)s.") % told, "warn"]], top
    return {
        "unit": "ms",
        "rows": rows,
        "subject": [round(1e3 * mine[name], 2) for name in rows],
        "ground": [round(1e3 * others[name], 2) if name in more else None for name in rows],
        "hot": hot,
        "names": names,
        "finding": finding,
    }


def _ms(seconds: float) -> str:
    return numeral(seconds * 1e3, ",.0f" if abs(seconds) >= 0.01 else ",.1f") + " ms"
