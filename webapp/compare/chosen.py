"""What an address of a comparison asks for: the runs, and how they are drawn. Strangers' runs are as if not there."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict

from webapp.accounts.models import User
from webapp.compare.curves import AXES
from webapp.compare.smoothing import STRONGEST
from webapp.history import listing, orders
from webapp.history.paging import page
from webapp.projects import access
from webapp.runs.models import Run

MOST_RUNS, MOST_METRICS = 50, 12
_MOST_WIDTH = 4_000
_FURTHEST = float(1 << 52)  # steps or seconds


@dataclass(frozen=True, slots=True)
class Chosen:
    """`missing`: how many of the ids are of no run that the person may see; `more`: found, but beyond MOST_RUNS."""

    runs: list[Run]
    missing: int = 0
    more: int = 0


@dataclass(frozen=True, slots=True)
class Drawn:
    """How curves are drawn. `turned`: metrics of which the other end is better than their name lets one think."""

    metrics: list[str]
    axis: str
    smooth: float
    log: bool
    turned: frozenset[str]


def runs_of(user: User | AnonymousUser, query: QueryDict) -> Chosen:
    """The runs of `runs=` in their order; without it the first that the list's own questions (`q=` …) find."""
    if "runs" in query or not isinstance(user, User):
        return by_id(user, words(query.get("runs", "")))
    asked = listing.state(query)
    if not any(asked.values()):
        return Chosen([])
    found, _error = listing.found_or_none(user, asked)
    first = page(found, size=MOST_RUNS, order=asked["sort"] if orders.known(asked["sort"]) else orders.NEWEST)
    return Chosen(list(first.rows), more=max(0, first.total - len(first.rows)))


def by_id(user: User | AnonymousUser, uids: Sequence[str]) -> Chosen:
    """Runs by their ids."""
    wanted = list(dict.fromkeys(uids))
    rows = access.visible(Run.objects.filter(deleted_at=None, uid__in=wanted[:MOST_RUNS]), user)
    found = {run.uid: run for run in rows.select_related("project", "owner")}
    kept = wanted[:MOST_RUNS]
    return Chosen([found[uid] for uid in kept if uid in found], len(kept) - len(found), len(wanted) - len(kept))


def labels(runs: Sequence[Run]) -> dict[str, str]:
    """What each run is called: its name, with the id where another one has the same name."""
    often = Counter(run.name for run in runs)
    return {run.uid: run.name if often[run.name] == 1 else f"{run.name} ({run.uid})" for run in runs}


def drawn(query: QueryDict) -> Drawn:
    """Senseless values become the usual ones."""
    axis = query.get("axis", "")
    return Drawn(
        metrics=words(query.get("metrics", ""))[:MOST_METRICS],
        axis=axis if axis in AXES else AXES[0],
        smooth=smoothness(query.get("smooth", "")),
        log=query.get("log") == "1",
        turned=frozenset(words(query.get("turned", ""))),
    )


def smoothness(text: str) -> float:
    """0 to STRONGEST; 0 for what is no number."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return min(max(value, 0.0), STRONGEST) if math.isfinite(value) else 0.0


def window(low: str, high: str) -> tuple[float, float] | None:
    """The part of a chart between two x; None for what is no such part: all of it."""
    try:
        found = float(low), float(high)
    except ValueError:
        return None
    usual = all(abs(x) <= _FURTHEST for x in found)  # False for NaN too
    return found if usual and found[0] < found[1] else None


def width(text: str) -> int:
    """Pixels of a chart."""
    return min(int(text), _MOST_WIDTH) if text.isascii() and text.isdigit() and text else 600


def words(text: str) -> list[str]:
    """A list in an address: parts between commas, each quoted, so that a name may hold a comma."""
    return list(dict.fromkeys(unquote(part) for part in text.split(",") if part))


def joined(many: Sequence[str]) -> str:
    """The text that `words` reads."""
    return ",".join(quote(one, safe="") for one in many)
