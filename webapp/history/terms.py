"""What a search says, as typed parts. Pure."""

from dataclasses import dataclass


class SearchError(ValueError):
    """A search that cannot be understood. `at`: the place in the text, from 1; the message is a sentence."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass(frozen=True, slots=True)
class Word:
    """Bare or quoted text."""

    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Term:
    """`key op value,value`; `op` is one of : = != < <= > >=."""

    key: str
    op: str
    values: tuple[str, ...]
    at: int
    value_at: int


@dataclass(frozen=True, slots=True)
class Not:
    part: "Part"


@dataclass(frozen=True, slots=True)
class All:
    parts: tuple["Part", ...]


@dataclass(frozen=True, slots=True)
class Some:
    """At least one of them."""

    parts: tuple["Part", ...]


Part = Word | Term | Not | All | Some


def terms_in(part: Part) -> list[Term]:
    """Every term, however deep."""
    if isinstance(part, Term):
        return [part]
    if isinstance(part, Not):
        return terms_in(part.part)
    if isinstance(part, All | Some):
        return [term for inner in part.parts for term in terms_in(inner)]
    return []
