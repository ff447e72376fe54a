"""Typed terms to a condition on runs. Pure."""

import difflib

from django.db.models import Q
from django.utils.translation import gettext as _

from webapp.history import matching
from webapp.history.fields import FIELDS, Asker, on_node
from webapp.history.models import Kind, Tag
from webapp.history.numbered import Numbered, condition, numbered
from webapp.history.terms import All, Not, Part, SearchError, Term, Word
from webapp.notes.queries import with_words

_ANYWHERE = ("name", "uid", "group", "project__slug", "project__name", "owner__username")


def meaning(part: Part, asker: Asker) -> Q:
    """What runs must fulfil; SearchError where a term makes no sense."""
    if isinstance(part, Word):
        return _anywhere(part.text)
    if isinstance(part, Term):
        return _term(part, asker)
    if isinstance(part, Not):
        return ~meaning(part.part, asker)
    found = Q() if isinstance(part, All) else matching.NOTHING
    for inner in part.parts:
        found = found & meaning(inner, asker) if isinstance(part, All) else found | meaning(inner, asker)
    return found


def _anywhere(text: str) -> Q:
    places = Q(*[(f"{place}__icontains", text) for place in _ANYWHERE], _connector=Q.OR)
    return places | Q(pk__in=Tag.objects.filter(name__icontains=text).values("run")) | on_node(text) | with_words(text)


def _term(term: Term, asker: Asker) -> Q:
    field = FIELDS.get(term.key)
    if field is not None:
        return field.condition(term, asker)
    named = numbered(term.key)
    if named is not None:
        return condition(named, term)
    if term.op == ":":
        raise _unknown(term)
    try:
        matching.number(term)
    except SearchError:
        raise _unknown(term) from None
    return condition(Numbered(Kind.METRIC, term.key, "last"), term)


def _unknown(term: Term) -> SearchError:
    near = difflib.get_close_matches(term.key, FIELDS, n=1)
    told = {"key": term.key, "at": term.at, "near": near[0] if near else ""}
    if near:
        return SearchError(_("I do not know “%(key)s” at %(at)s; did you mean “%(near)s”?") % told, term.at)
    text = _("I do not know “%(key)s” at %(at)s. Put it in quotes to search for it as text.") % told
    return SearchError(text, term.at)
