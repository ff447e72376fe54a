"""One act on many runs: those that were chosen, or all that a search finds."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.accounts.models import User
from webapp.history import arrange
from webapp.language.numerals import numeral
from webapp.projects.access import projects_where
from webapp.projects.models import Role
from webapp.runs import lifecycle
from webapp.runs.models import Run, Status

UNDO = "deleted_runs"  # of a session: ids of what the person has just deleted
MOST_SLOW = 1_000  # runs that one request stops, deletes or restores


class Refused(ValueError):
    """The message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Done:
    """`uids`: what it was done to. `left`: how many were left alone, since the person's role there is too small."""

    uids: list[str]
    left: int


def act(user: User, found: QuerySet[Run], what: str, word: str = "") -> Done:
    """Do it; a person who may only look can still have favourites."""
    if what in ("star", "unstar"):
        starred = dict(found.order_by().values_list("pk", "uid"))
        (arrange.star if what == "star" else arrange.unstar)(list(starred), user)
        return Done(list(starred.values()), 0)
    mine = found.filter(project__in=projects_where(user, Role.EDITOR).values("pk")).order_by()
    uids = dict(mine.values_list("pk", "uid"))
    runs, left = list(uids), found.count() - len(uids)
    if what in _SLOW:
        _one_by_one(user, runs, what)
    elif what in _NAMED:
        _NAMED[what](runs, _checked(what, word))
    elif what in _PLAIN:
        _PLAIN[what](runs)
    else:
        raise Refused(_("Choose what to do with these runs."))
    return Done(list(uids.values()), left)


def sentence(what: str, done: Done) -> str:
    """What happened, for the person who asked."""
    n = len(done.uids)
    said = ngettext("%(n)s run: %(what)s.", "%(n)s runs: %(what)s.", n) % {"n": numeral(n), "what": _WORDS[what]()}
    if done.left:
        left = ngettext(
            "%s was left alone: you may only look at it.", "%s were left alone: you may only look at them.", done.left
        )
        said += " " + left % numeral(done.left)
    return said


def _checked(what: str, word: str) -> str:
    word = " ".join(word.replace('"', "").split())
    if not word and what != "group":
        raise Refused(_("Type the tag first."))
    if len(word) > (arrange.LONGEST_GROUP if what == "group" else arrange.LONGEST_TAG):
        raise Refused(_("This name is too long."))
    return word


def _one_by_one(user: User, runs: Sequence[int], what: str) -> None:
    if len(runs) > MOST_SLOW:
        told = {"most": numeral(MOST_SLOW), "n": numeral(len(runs))}
        raise Refused(_("This can be done to %(most)s runs at once, and %(n)s are chosen. Narrow the search.") % told)
    for run in Run.objects.filter(pk__in=runs).select_related("project", "owner"):
        if what == "stop" and run.status != Status.ENDED:
            lifecycle.request_stop(run, user.get_username())
        elif what == "delete":
            lifecycle.delete(run, user.get_username())
        elif what == "restore":
            lifecycle.restore(run, user.get_username())


_SLOW = ("stop", "delete", "restore")
_NAMED: dict[str, Callable[[Sequence[int], str], None]] = {
    "tag": arrange.tag,
    "untag": arrange.untag,
    "group": arrange.group,
}
_PLAIN: dict[str, Callable[[Sequence[int]], None]] = {
    "archive": lambda runs: arrange.archive(runs, away=True),
    "unarchive": lambda runs: arrange.archive(runs, away=False),
    "pin": lambda runs: arrange.pin(runs, on_top=True),
    "unpin": lambda runs: arrange.pin(runs, on_top=False),
}
_WORDS: dict[str, Callable[[], str]] = {
    "star": lambda: _("added to your favourites"),
    "unstar": lambda: _("taken from your favourites"),
    "tag": lambda: _("tagged"),
    "untag": lambda: _("tag removed"),
    "group": lambda: _("grouped"),
    "archive": lambda: _("archived"),
    "unarchive": lambda: _("brought back from the archive"),
    "pin": lambda: _("pinned"),
    "unpin": lambda: _("unpinned"),
    "stop": lambda: _("asked to stop"),
    "delete": lambda: _("deleted; you can undo this for 24 hours"),
    "restore": lambda: _("brought back"),
}
