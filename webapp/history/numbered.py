"""What names a number or setting of a run: `loss`, `metric.val/loss`, `min(loss)`, `config.lr`, `env.SEED`. Pure."""

import re
from dataclasses import dataclass

from django.db.models import Q

from webapp.history import matching
from webapp.history.models import ConfigValue, Kind, MetricValue
from webapp.history.terms import SearchError, Term

_OF = {"last": "last", "min": "low", "max": "high"}


@dataclass(frozen=True, slots=True)
class Numbered:
    """`place`: the column of the table that holds it: last, low or high of a metric, "" for a setting."""

    kind: Kind
    name: str
    place: str = ""

    @property
    def word(self) -> str:
        """As it is typed and as addresses have it."""
        if self.kind == Kind.CONFIG:
            return f"config.{self.name}"
        of = {place: word for word, place in _OF.items()}[self.place]
        return f"metric.{self.name}" if of == "last" else f"{of}({self.name})"


def numbered(word: str) -> Numbered | None:
    """What a word with one of our prefixes names; None for another word."""
    of = re.fullmatch(r"(last|min|max)\((.+)\)", word)
    if of:
        return Numbered(Kind.METRIC, of[2], _OF[of[1]])
    prefix, _dot, name = word.partition(".")
    if not name:
        return None
    if prefix == "metric":
        return Numbered(Kind.METRIC, name, "last")
    if prefix in ("config", "env"):
        return Numbered(Kind.CONFIG, name if prefix == "config" else f"env.{name}")
    return None


def condition(asked: Numbered, term: Term) -> Q:
    """Runs whose value fits."""
    if asked.kind == Kind.METRIC:
        return _metric(asked, term)
    rows = ConfigValue.objects.filter(key__kind=Kind.CONFIG, key__name=asked.name)
    if term.op in ("<", "<=", ">", ">="):
        return Q(pk__in=rows.filter(matching.numbers(term, "number")).values("run"))
    fits = matching.words(Term(term.key, ":", term.values, term.at, term.value_at), _setting)
    found = Q(pk__in=rows.filter(fits).values("run"))
    return Q(pk__in=rows.values("run")) & ~found if term.op == "!=" else found


def _metric(asked: Numbered, term: Term) -> Q:
    rows = MetricValue.objects.filter(key__kind=Kind.METRIC, key__name=asked.name)
    if term.values == ("*",) and term.op in (":", "="):
        return Q(pk__in=rows.values("run"))
    return Q(pk__in=rows.filter(matching.numbers(term, asked.place)).values("run"))


def _setting(value: str) -> Q:
    try:
        same = Q(number=matching.number(Term("", "=", (value,), 0, 0)))
    except SearchError:
        same = matching.NOTHING
    return matching.text("text", value) | same
