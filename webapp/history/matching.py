"""One term's operator and values as a condition on one place. Pure; a SearchError says what does not fit."""

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.db.models import Q
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _

from webapp.history.terms import SearchError, Term

_LOOKUPS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte", "=": "exact", ":": "exact"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800, "y": 31_536_000}
_LONGEST_SPAN = 100 * 31_536_000.0
NOTHING = Q(pk__in=[])


def words(term: Term, condition: Callable[[str], Q]) -> Q:
    """Any of the values, or none of them for `!=`."""
    if term.op not in (":", "=", "!="):
        raise SearchError(_("“%(key)s” has no order: write %(key)s:VALUE.") % {"key": term.key}, term.at)
    found = NOTHING
    for value in term.values:
        found |= condition(value)
    return ~found if term.op == "!=" else found


def text(place: str, value: str) -> Q:
    """Exactly this text; `*` at an end stands for anything there."""
    core, starts, ends = value.strip("*"), value.endswith("*"), value.startswith("*")
    if not core and (starts or ends):
        return Q(**{f"{place}__isnull": False})
    how = "icontains" if starts and ends else "istartswith" if starts else "iendswith" if ends else "iexact"
    return Q(**{f"{place}__{how}": core})


def numbers(term: Term, place: str, *, read: Callable[[Term], float] | None = None) -> Q:
    """The place compared with the one number of the term."""
    value = (read or number)(term)
    if term.op == "!=":
        return ~Q(**{place: value}) & Q(**{f"{place}__isnull": False})
    return Q(**{f"{place}__{_LOOKUPS[term.op]}": value})


def number(term: Term) -> float:
    """The term's one value."""
    value = _only(term)
    try:
        found = float(value)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        told = {"value": value, "at": term.value_at}
        raise SearchError(_("“%(value)s” at %(at)s is no number.") % told, term.value_at)
    return found


def span(term: Term) -> timedelta:
    """`90s`, `30m`, `12h`, `7d`, `2w` or `1y`."""
    value = _only(term)
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smhdwy])", value)
    seconds = float(found[1]) * _UNITS[found[2]] if found else math.inf
    if seconds > _LONGEST_SPAN:
        told = {"value": value, "at": term.value_at}
        raise SearchError(_("“%(value)s” at %(at)s is no time: write 30m, 12h, 7d or 2w.") % told, term.value_at)
    return timedelta(seconds=seconds)


def age(term: Term, place: str, now: datetime) -> Q:
    """A time that lies so long ago."""
    op = _TURNED.get(term.op)
    if op is None:
        raise SearchError(_("Compare the age with < or >, such as age<7d."), term.at)
    return Q(**{f"{place}__{_LOOKUPS[op]}": now - span(term)})


def moment(term: Term, place: str) -> Q:
    """A day or time; `=` is the whole day."""
    value = _only(term)
    try:
        day, at = parse_date(value), parse_datetime(value)
    except ValueError:
        day, at = None, None
    if at is None and day is None:
        told = {"value": value, "at": term.value_at}
        raise SearchError(_("“%(value)s” at %(at)s is no day: write 2026-01-31.") % told, term.value_at)
    first = at or datetime(day.year, day.month, day.day)  # type: ignore[union-attr]
    first = first if first.tzinfo else first.replace(tzinfo=UTC)
    after = first + timedelta(days=1)
    within = Q(**{f"{place}__gte": first, f"{place}__lt": after})
    whole_day = len(value) <= 10
    end = Q(**{f"{place}__lt": after}) if whole_day else Q(**{f"{place}__lte": first})
    return {
        ":": within,
        "=": within,
        "!=": ~within,
        "<": Q(**{f"{place}__lt": first}),
        ">=": Q(**{f"{place}__gte": first}),
        "<=": end,
        ">": ~end,
    }[term.op]


def _only(term: Term) -> str:
    if len(term.values) != 1:
        raise SearchError(_("“%s” takes one value.") % term.key, term.value_at)
    return term.values[0]
