"""The keys that the search knows by name, and what each asks of a run. Pure: a term in, a condition out."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.history import matching
from webapp.history.models import Favourite, Tag
from webapp.history.terms import SearchError, Term
from webapp.incidents.models import Incident
from webapp.notes.queries import with_words
from webapp.runs.models import AttemptNode
from webapp.runs.status_words import STATUS_WORDS

INCIDENTS = (
    "straggler", "wandering", "structural", "regression", "network", "input", "hang", "device", "telemetry", "idle",
)  # fmt: skip
IS_WORDS = ("archived", "pinned", "favourite", "mine", "attached", "deleted")


@dataclass(frozen=True, slots=True)
class Asker:
    """Who searches, and when. `user_id` None: nobody."""

    user_id: int | None
    now: datetime


@dataclass(frozen=True, slots=True)
class Field:
    """One key. `ops`: what completion offers after it."""

    about: str | Promise
    condition: Callable[[Term, Asker], Q]
    ops: tuple[str, ...] = (":",)


def _status(term: Term, asker: Asker) -> Q:
    return matching.words(term, lambda value: STATUS_WORDS.get(value.lower()) or _refuse(term, value, STATUS_WORDS))


def _is(term: Term, asker: Asker) -> Q:
    known = {
        "archived": ~Q(archived_at=None),
        "pinned": ~Q(pinned_at=None),
        "favourite": Q(pk__in=Favourite.objects.filter(user=asker.user_id).values("run")),
        "mine": Q(owner=asker.user_id),
        "attached": Q(spec__attached=True),
        "deleted": ~Q(deleted_at=None),
    }
    return matching.words(term, lambda value: known.get(value.lower()) or _refuse(term, value, known))


def _owner(term: Term, asker: Asker) -> Q:
    def one(value: str) -> Q:
        return Q(owner=asker.user_id) if value == "me" else matching.text("owner__username", value)

    return matching.words(term, one)


def _incident(term: Term, asker: Asker) -> Q:
    every = Incident.objects.all()
    known = {kind: every.filter(kind=kind) for kind in INCIDENTS}
    known |= {"any": every, "open": every.filter(closed_at=None)}

    def one(value: str) -> Q:
        rows = known.get(value.lower())
        return _refuse(term, value, known) if rows is None else Q(pk__in=rows.values("attempt__run"))

    return matching.words(term, one)


def _node(term: Term, asker: Asker) -> Q:
    return matching.words(term, on_node)


def on_node(name: str) -> Q:
    """Runs with a part on a node whose name has this text."""
    return Q(pk__in=AttemptNode.objects.filter(node_name__icontains=name.strip("*")).values("attempt__run"))


def _tag(term: Term, asker: Asker) -> Q:
    return matching.words(term, lambda value: Q(pk__in=Tag.objects.filter(matching.text("name", value)).values("run")))


def _note(term: Term, asker: Asker) -> Q:
    return matching.words(term, lambda value: with_words(value.strip("*")))


def _refuse(term: Term, value: str, known: Iterable[str]) -> Q:
    told = {"value": value, "key": term.key, "at": term.value_at, "known": ", ".join(known)}
    text = _("I do not know %(key)s:%(value)s at %(at)s. It can be %(known)s.") % told
    raise SearchError(text, term.value_at)


def _text(place: str, *, within: bool = False) -> Callable[[Term, Asker], Q]:
    def condition(term: Term, asker: Asker) -> Q:
        return matching.words(term, lambda v: matching.text(place, f"*{v}*" if within else v))

    return condition


def _number(place: str) -> Callable[[Term, Asker], Q]:
    def condition(term: Term, asker: Asker) -> Q:
        return matching.numbers(term, place)

    return condition


def _duration(term: Term, asker: Asker) -> Q:
    return matching.numbers(term, "took", read=lambda asked: round(matching.span(asked).total_seconds() * 1000))


def _steps(term: Term, asker: Asker) -> Q:
    """Steps are counted from 0 in the database."""
    return matching.numbers(term, "last_step", read=lambda asked: matching.number(asked) - 1)


def _age(term: Term, asker: Asker) -> Q:
    return matching.age(term, "created_at", asker.now)


def _created(term: Term, asker: Asker) -> Q:
    return matching.moment(term, "created_at")


_ORDER = ("<", "<=", ">", ">=", "=")
FIELDS: dict[str, Field] = {
    "status": Field(gettext_lazy("queued, running, finished, failed, stopped …"), _status),
    "owner": Field(gettext_lazy("who started it; “me” is you"), _owner),
    "project": Field(gettext_lazy("by its short name"), _text("project__slug")),
    "tag": Field(gettext_lazy("has this tag"), _tag),
    "group": Field(gettext_lazy("is in this group"), _text("group")),
    "is": Field(gettext_lazy("archived, pinned, favourite, mine …"), _is),
    "incident": Field(gettext_lazy("had such an incident; open or any"), _incident),
    "cause": Field(gettext_lazy("why it ended: code, node, network …"), _text("cause")),
    "name": Field(gettext_lazy("part of its name"), _text("name", within=True)),
    "note": Field(gettext_lazy("part of its notes"), _note),
    "id": Field(gettext_lazy("its id"), _text("uid")),
    "node": Field(gettext_lazy("ran on this node"), _node),
    "nodes": Field(gettext_lazy("number of nodes"), _number("spec__nodes"), _ORDER),
    "ranks": Field(gettext_lazy("number of ranks"), _number("world_size"), _ORDER),
    "steps": Field(gettext_lazy("steps done"), _steps, _ORDER),
    "loss": Field(gettext_lazy("the newest training loss"), _number("last_loss"), _ORDER),
    "pace": Field(gettext_lazy("steps per second"), _number("steps_per_s"), _ORDER),
    "attempts": Field(gettext_lazy("how often it was launched"), _number("attempt_count"), _ORDER),
    "age": Field(gettext_lazy("since it was created: 12h, 7d, 2w"), _age, ("<", ">")),
    "duration": Field(gettext_lazy("how long it ran: 30m, 12h"), _duration, _ORDER),
    "created": Field(gettext_lazy("day of its creation: 2026-01-31"), _created, _ORDER),
}
