"""The incidents that a list shows: filtered by what the address asks for, open ones first, page by page."""

from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import Case, Count, F, IntegerField, Q, QuerySet, Value, When
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from webapp.accounts.models import User
from webapp.incidents import queries
from webapp.incidents.models import Incident, Severity

PAGE_SIZE = 50
KINDS: dict[str, str | Promise] = {
    "straggler": _("slow rank or node"),
    "wandering": _("late in turns"),
    "structural": _("uneven split"),
    "overlap": _("communication not hidden"),
    "regression": _("slower than before"),
    "network": _("network"),
    "input": _("waiting for data"),
    "hang": _("hang"),
    "device": _("device"),
    "telemetry": _("numbers missing"),
    "idle": _("idle slots"),
    "alone": _("ranks train alone"),
}
_STATES = {"open": Q(closed_at=None), "closed": Q(closed_at__isnull=False)}


@dataclass(frozen=True)
class Asked:
    """Of the address; empty: all."""

    state: str = ""  # open | closed
    project: str = ""
    kind: str = ""
    mine: str = ""  # 1: those given to the person

    @classmethod
    def of(cls, query: QueryDict) -> "Asked":
        """Unknown states and kinds ask for nothing in particular."""
        state, kind = query.get("state", ""), query.get("kind", "")
        return cls(
            state if state in _STATES else "",
            query.get("project", "").strip(),
            kind if kind in KINDS else "",
            "1" if query.get("mine") == "1" else "",
        )

    def __bool__(self) -> bool:
        return self != Asked()

    def query(self, page: int = 1) -> str:
        """The address's question."""
        asked = {**vars(self), "page": str(page) if page > 1 else ""}
        return "?" + urlencode({name: value for name, value in asked.items() if value})


@dataclass(frozen=True)
class Chip:
    """One choice of state or person, with how many incidents it would show."""

    word: str | Promise
    count: int
    query: str
    on: bool


def page_of(user: User, asked: Asked, number: str) -> Page[Incident]:
    """One page: the open ones first, the worst of them on top; then the closed ones, the newest on top."""
    rows = _found(user, asked).select_related("attempt__run__project", "acknowledged_by", "assignee")
    return Paginator(_ordered(rows.prefetch_related("attempt__parts")), PAGE_SIZE).get_page(number)


def chips(user: User, asked: Asked) -> list[Chip]:
    """All, open, closed, mine."""
    every = _found(user, replace(asked, state="", mine=""))
    counts = every.order_by().aggregate(
        all=Count("pk"),
        mine=Count("pk", filter=Q(assignee=user)),
        **{name: Count("pk", filter=state) for name, state in _STATES.items()},
    )
    chosen = [(state, replace(asked, state=state, mine="")) for state in ("", *_STATES)]
    words: dict[str, str | Promise] = {"": _("All"), "open": _("Open"), "closed": _("Closed")}
    found = [Chip(words[s], counts[s or "all"], a.query(), asked.state == s and not asked.mine) for s, a in chosen]
    return [*found, Chip(_("Mine"), counts["mine"], replace(asked, state="", mine="1").query(), bool(asked.mine))]


def _found(user: User, asked: Asked) -> QuerySet[Incident]:
    rows = queries.visible(user)
    if asked.state:
        rows = rows.filter(_STATES[asked.state])
    if asked.project:
        rows = rows.filter(attempt__run__project__slug=asked.project)
    if asked.kind:
        rows = rows.filter(kind=asked.kind)
    return rows.filter(assignee=user) if asked.mine else rows


def _ordered(rows: QuerySet[Incident]) -> QuerySet[Incident]:
    weight = {severity: place for place, severity in enumerate(reversed(Severity.values))}
    worst = [When(closed_at=None, kind="hang", then=Value(-1))]
    worst += [When(closed_at=None, severity=severity, then=Value(place)) for severity, place in weight.items()]
    rows = rows.annotate(place=Case(*worst, default=Value(len(weight)), output_field=IntegerField()))
    return rows.order_by("place", F("closed_at").desc(nulls_first=True), "-slowdown", "-opened_at", "-pk")
