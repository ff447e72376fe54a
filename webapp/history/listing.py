"""The runs list as a page shows it: what its address asks for, the rows, and the links to its other states."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import QueryDict

from webapp.accounts.models import User
from webapp.history import columns, orders
from webapp.history.columns import Cell, Column
from webapp.history.models import Favourite, Tag
from webapp.history.paging import Page, page
from webapp.history.search import search
from webapp.history.terms import SearchError
from webapp.runs import looks
from webapp.runs.models import Attempt, Run, Status
from webapp.runs.wording import waits_sentence

QUESTIONS = ("q", "project", "status", "owner", "sort", "cols")
MOST_PINNED = 20
_SEARCHED = 5_000  # pinned runs of all projects among which those of this list are looked for


@dataclass(frozen=True, slots=True)
class Row:
    """`waits`: what it waits for, empty unless queued; `badge`: whether its health has one."""

    run: Run
    waits: str
    badge: bool
    cells: list[Cell]
    tags: list[str]
    starred: bool


@dataclass(frozen=True, slots=True)
class Head:
    """A column's title. `sort`: "", ascending or descending; `link`: the list sorted by it, then the other way."""

    column: Column
    sort: str
    link: str


def state(query: QueryDict) -> dict[str, str]:
    """The questions of an address, without the page."""
    return {key: query.get(key, "").strip() for key in QUESTIONS}


def address(asked: dict[str, str], **changes: str) -> str:
    """The list's address with some of its questions changed."""
    return "?" + urlencode({key: value for key, value in {**asked, **changes}.items() if value})


def found(user: User, asked: dict[str, str]) -> QuerySet[Run]:
    """The runs; SearchError when the search cannot be understood."""
    return search(user, asked["q"], asked["status"], asked["project"], asked["owner"])


def found_or_none(user: User, asked: dict[str, str]) -> tuple[QuerySet[Run], SearchError | None]:
    """The same for a page that shows the error beside the box: then no run."""
    try:
        return found(user, asked), None
    except SearchError as error:
        return Run.objects.none(), error


def pinned_and_page(
    runs: QuerySet[Run], asked: dict[str, str], cursor: str, total: int | None = None
) -> tuple[list[Run], Page]:
    """What is pinned stands on top of the first page only; the pages go through all runs in their order."""
    order = asked["sort"] if orders.known(asked["sort"]) else orders.NEWEST
    shown = page(runs, cursor, order=order, total=total)
    if shown.newer:
        return [], shown
    # Few runs are pinned, so that they are found first and searched then.
    pinned = list(Run.objects.exclude(pinned_at=None).order_by("-pinned_at").values_list("pk", flat=True)[:_SEARCHED])
    on_top = runs.filter(pk__in=pinned).select_related("project", "owner").order_by("-pinned_at", "-pk")
    return list(on_top[:MOST_PINNED]) if pinned else [], shown


def rows(runs: Sequence[Run], chosen: Sequence[Column], user: User) -> list[Row]:
    """In a fixed number of queries."""
    queued = [run.pk for run in runs if run.status == Status.QUEUED]
    newest = {a.run_id: a for a in Attempt.objects.filter(run__in=queued, status=Status.QUEUED).order_by("number")}
    tags: dict[int, list[str]] = {}
    for run_id, name in Tag.objects.filter(run__in=runs).values_list("run", "name"):
        tags.setdefault(run_id, []).append(name)
    starred = set(Favourite.objects.filter(user=user, run__in=runs).values_list("run", flat=True))
    cells = columns.cells(runs, chosen)

    def waits(run: Run) -> str:
        return waits_sentence(newest[run.pk]) if run.pk in newest else ""

    return [
        Row(run, waits(run), looks.health(run) is not None, cells[run.pk], tags.get(run.pk, []), run.pk in starred)
        for run in runs
    ]


def heads(chosen: Sequence[Column], asked: dict[str, str]) -> list[Head]:
    """The titles with their links. Text is sorted upwards first, numbers and times downwards."""
    return [_head(column, asked) for column in chosen]


def _head(column: Column, asked: dict[str, str]) -> Head:
    now = asked["sort"] if orders.known(asked["sort"]) else orders.NEWEST
    first, other = (column.word, f"-{column.word}") if column.is_text else (f"-{column.word}", column.word)
    sort = {column.word: "ascending", f"-{column.word}": "descending"}.get(now, "")
    following = other if now == first else first
    return Head(column, sort, address(asked, sort="" if following == orders.NEWEST else following))


def fixed_heads(asked: dict[str, str]) -> dict[str, Any]:
    """Titles of the two columns that every list has."""
    return {word: _head(Column(word, word, ""), asked) for word in ("status", "name")}
