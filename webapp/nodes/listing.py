"""The list of nodes: what is asked for, and one page of it, by name."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.http import QueryDict
from django.utils.translation import gettext as _

from webapp.nodes.queries import NodeLine
from webapp.nodes.standing import Standing, word

PAGE_SIZE = 30


@dataclass(frozen=True)
class Asked:
    """What the address asks for. Empty: everything."""

    state: str = ""  # a Standing
    q: str = ""  # part of the name

    @classmethod
    def of(cls, query: QueryDict) -> "Asked":
        """An unknown state asks for nothing in particular."""
        state = query.get("state", "")
        return cls(state if state in frozenset(Standing) else "", query.get("q", "").strip())

    def __bool__(self) -> bool:
        return self != Asked()

    def query(self, page: int = 1) -> str:
        """The address's question."""
        asked = {**vars(self), "page": str(page) if page > 1 else ""}
        return "?" + urlencode({name: value for name, value in asked.items() if value})


@dataclass(frozen=True)
class Chip:
    """One choice of state, with how many nodes it would show."""

    word: str
    count: int
    query: str
    on: bool


def page_of(lines: Sequence[NodeLine], asked: Asked, number: str) -> Page[NodeLine]:
    """Of all nodes those that are asked for."""
    found = [line for line in _named(lines, asked.q) if asked.state in ("", line.standing)]
    return Paginator(found, PAGE_SIZE).get_page(number)


def chips(lines: Sequence[NodeLine], asked: Asked) -> list[Chip]:
    """All, and each state that there is."""
    counts = Counter(line.standing for line in _named(lines, asked.q))
    states = [state for state in Standing if counts[state] or asked.state == state]
    every = Chip(_("All"), counts.total(), replace(asked, state="").query(), not asked.state)
    found = [Chip(word(s), counts[s], replace(asked, state=s.value).query(), asked.state == s) for s in states]
    return [every, *found]


def _named(lines: Sequence[NodeLine], part: str) -> list[NodeLine]:
    return [line for line in lines if part.lower() in line.node.name.lower()]
