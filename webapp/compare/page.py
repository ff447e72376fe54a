"""What the page of a comparison shows without its charts: the list of runs, the summary, the settings."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.urls import reverse

from webapp.accounts.models import User
from webapp.compare import chosen, queries, summary, words
from webapp.compare.chosen import Chosen, Drawn
from webapp.compare.colours import colours
from webapp.compare.difference import difference
from webapp.compare.summary import Came
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import Run

_MOST_CELLS, _MOST_EQUAL = 3_000, 400  # of the table of settings: one reply stays under 300 kB


@dataclass(frozen=True, slots=True)
class Value:
    """A metric of one run. `best`, `reached`: the last value, and the one on the way, are the best of all runs."""

    came: Came | None
    best: bool
    reached_low: bool
    reached_high: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One run. `colour`: None is grey. `slot_seconds`: what it held, all attempts."""

    run: Run
    colour: int | None
    slot_seconds: float
    values: list[Value]


@dataclass(frozen=True, slots=True)
class Head:
    """A metric of the summary. `turn`: the address with the other end as the better one."""

    metric: str
    title: str
    more: bool
    turn: str
    without: str


def context(user: User, found: Chosen, query: QueryDict) -> dict[str, Any]:
    """For templates/compare/page.html, which asks for its parts and numbers itself."""
    asked, runs = chosen.drawn(query), found.runs
    numbers = colours([run.uid for run in runs])
    metrics = asked.metrics or (queries.first_metrics(runs) if runs else [])
    kept = query.copy()
    kept["runs"], kept["metrics"] = chosen.joined([run.uid for run in runs]), chosen.joined(metrics)
    return {
        "rows": [{"run": run, "colour": numbers.get(run.uid)} for run in runs],
        "heads": [_head(metrics, name, asked, query) for name in metrics],
        "more_words": ",".join(["pace", *(f"metric.{name}" for name in metrics if _more(name, asked))]),
        "left_out": words.left_out(found),
        "words": words.page(),
        "state": _state(runs, metrics, asked, numbers),
        "part_query": "?" + kept.urlencode(safe=","),
        "asked": asked,
        "may_write": access.projects_where(user, Role.EDITOR).exists(),
        "list_address": reverse("runs:list"),
    }


def summary_of(runs: Sequence[Run], query: QueryDict) -> dict[str, Any]:
    """For templates/compare/summary.html."""
    asked = chosen.drawn(query)
    return {
        "rows": _rows(runs, asked, colours([run.uid for run in runs])),
        "heads": [_head(asked.metrics, name, asked, query) for name in asked.metrics],
    }


def settings(runs: Sequence[Run], find: str) -> dict[str, Any]:
    """For templates/compare/config.html."""
    whole = difference(queries.settings(runs))
    fits = [row for row in whole.different if find.lower() in row.name.lower()]
    numbers = colours([run.uid for run in runs])
    most = max(1, _MOST_CELLS // max(1, len(runs)))
    equal = [pair for pair in whole.equal if find.lower() in pair[0].lower()]
    return {
        "runs": [{"run": run, "colour": numbers.get(run.uid)} for run in runs],
        "different": fits[:most],
        "more_different": max(0, len(fits) - most),
        "equal": equal[:_MOST_EQUAL],
        "more_equal": max(0, len(equal) - _MOST_EQUAL),
        "equal_count": len(equal),
        "finding": words.settings(whole, len(runs)),
        "find": find,
        "uids": chosen.joined([run.uid for run in runs]),
    }


def _state(runs: Sequence[Run], metrics: Sequence[str], asked: Drawn, numbers: dict[str, int]) -> dict[str, Any]:
    """For the scripts; all of it is in the address too."""
    names = chosen.labels(runs)
    return {
        "runs": [
            {"uid": run.uid, "name": names[run.uid], "colour": numbers.get(run.uid), "ranks": run.world_size}
            for run in runs
        ],
        "metrics": list(metrics),
        "turned": sorted(asked.turned),
    }


def _rows(runs: Sequence[Run], asked: Drawn, numbers: dict[str, int]) -> list[Row]:
    metrics = asked.metrics
    came = queries.came(runs, metrics)
    held = queries.slot_seconds(runs)
    best = {name: summary.best(came[name], more=_more(name, asked)) for name in metrics}

    def value(name: str, uid: str) -> Value:
        reached = best[name].reached == uid
        more = _more(name, asked)
        return Value(came[name].get(uid), best[name].uid == uid, reached and not more, reached and more)

    return [Row(run, numbers.get(run.uid), held[run.uid], [value(name, run.uid) for name in metrics]) for run in runs]


def _head(metrics: Sequence[str], name: str, asked: Drawn, query: QueryDict) -> Head:
    turned = sorted(asked.turned ^ {name})
    others = [one for one in metrics if one != name]
    return Head(
        name,
        words.title(name),
        _more(name, asked),
        _address(query, metrics=metrics, turned=turned),
        _address(query, metrics=others, turned=sorted(asked.turned - {name})),
    )


def _address(query: QueryDict, **lists: Sequence[str]) -> str:
    kept = query.copy()
    for name, many in lists.items():
        kept.pop(name, None)
        if many:
            kept[name] = chosen.joined(many)
    return "?" + kept.urlencode(safe=",")


def _more(name: str, asked: Drawn) -> bool:
    return summary.more_is_better(name) != (name in asked.turned)
