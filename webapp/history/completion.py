"""What may follow in a search box: keys, or values of the key that is being typed."""

import re
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser
from django.utils.translation import gettext as _

from webapp.accounts.models import User
from webapp.history.fields import FIELDS, INCIDENTS, IS_WORDS
from webapp.history.grammar import LONGEST, quoted
from webapp.history.keys import named_like
from webapp.history.models import Kind, Tag
from webapp.history.numbered import Numbered, numbered
from webapp.projects import access
from webapp.projects.models import Project
from webapp.runs.models import AttemptNode, Cause, Run
from webapp.runs.status_words import STATUS_WORDS

MOST = 12
_WORD = re.compile(r'-?(?:"[^"]*"?|[^\s()"])*$')


@dataclass(frozen=True, slots=True)
class Suggestion:
    """`text` replaces the search from `start` (from 0) to the cursor."""

    text: str
    about: str
    start: int


def suggestions(user: User | AnonymousUser, before: str, project: str = "") -> list[Suggestion]:
    """For the text before the cursor, the likeliest first."""
    found = _WORD.search(before[-LONGEST:])
    word = found[0] if found else ""
    start = len(before) - len(word)
    minus = "-" if word.startswith("-") else ""
    key, colon, value = word[len(minus) :].partition(":")
    if colon:
        kept, comma, last = value.rpartition(",")
        texts = _values(user, key, last.strip('"'), project)
        return [Suggestion(f"{minus}{key}:{kept}{comma}{quoted(text)} ", "", start) for text in texts]
    return [Suggestion(f"{minus}{text}", about, start) for text, about in _keys(user, key.strip('"'), project)][:MOST]


def _keys(user: User | AnonymousUser, part: str, project: str) -> list[tuple[str, str]]:
    fields = [
        (f"{word}{field.ops[0]}", str(field.about)) for word, field in FIELDS.items() if word.startswith(part.lower())
    ]
    if not part:
        return fields
    prefix, dot, name = part.partition(".")
    of_kind = {"metric": Kind.METRIC, "config": Kind.CONFIG}.get(prefix) if dot else None
    asked, _total = named_like(user, name if of_kind else part, project, of_kind or "")
    return fields + [(_typed(one), _("metric") if one.kind == Kind.METRIC else _("setting")) for one in asked[:MOST]]


def _typed(one: Numbered) -> str:
    """As short as it can be: a metric needs no prefix unless a key of ours has its name."""
    word = one.word
    if one.kind == Kind.METRIC and one.name not in FIELDS and numbered(one.name) is None:
        word = one.name
    plain = quoted(word)
    return f"{plain}<" if one.kind == Kind.METRIC else f"{plain}:"


def _values(user: User | AnonymousUser, key: str, part: str, project: str) -> list[str]:
    fixed = {
        "status": tuple(STATUS_WORDS),
        "is": IS_WORDS,
        "incident": ("open", "any", *INCIDENTS),
        "cause": tuple(Cause.values),
    }.get(key)
    if fixed is not None:
        return [word for word in fixed if word.startswith(part.lower())]
    return _values_of_runs(user, key, part, project)


def _values_of_runs(user: User | AnonymousUser, key: str, part: str, project: str) -> list[str]:
    runs = access.visible(Run.objects.filter(deleted_at=None), user)
    runs = runs.filter(project__slug=project) if project else runs
    projects = access.visible(Project.objects.all(), user, "pk")
    sources = {
        "owner": (runs, "owner__username"),
        "project": (projects, "slug"),
        "group": (runs.exclude(group=""), "group"),
        "tag": (Tag.objects.filter(run__in=runs), "name"),
        "node": (AttemptNode.objects.filter(attempt__run__in=runs), "node_name"),
    }
    if key not in sources:
        return []
    rows, place = sources[key]
    found = rows.filter(**{f"{place}__icontains": part}).order_by(place).values_list(place, flat=True).distinct()
    me = ["me"] if key == "owner" and "me".startswith(part) else []
    return me + [str(text) for text in found[:MOST]]
