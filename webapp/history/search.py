"""The one search of runs, for page, API and command line."""

from datetime import datetime, timedelta

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.utils import timezone

from webapp.accounts.models import User
from webapp.history.fields import Asker
from webapp.history.grammar import parse
from webapp.history.matching import NOTHING
from webapp.history.meaning import meaning
from webapp.history.terms import Part, terms_in
from webapp.history.took import Took
from webapp.projects import access
from webapp.runs.models import Run
from webapp.runs.status_words import STATUS_WORDS

UNDO_FOR = timedelta(hours=24)  # a deleted run can be brought back so long


def search(
    user: User | AnonymousUser, text: str = "", status: str = "", project: str = "", owner: str = ""
) -> QuerySet[Run]:
    """Runs that the person may see and that fit; SearchError when `text` cannot be understood.

    Deleted and archived runs only where `is:deleted` or `is:archived` asks for them. An unknown status finds nothing.
    """
    now = timezone.now()
    asked = parse(text)
    runs = access.visible(Run.objects.all(), user).filter(_kept(asked, now - UNDO_FOR))
    if any(term.key == "duration" for term in terms_in(asked)):
        runs = runs.annotate(took=Took())
    runs = runs.filter(meaning(asked, Asker(user.pk, now)))
    if status:
        runs = runs.filter(STATUS_WORDS.get(status, NOTHING))
    if project:
        runs = runs.filter(project__slug=project)
    if owner:
        runs = runs.filter(owner__username=owner)
    return runs


def named(user: User | AnonymousUser, uids: list[str]) -> QuerySet[Run]:
    """Runs by their ids, also archived ones and those whose deletion can be undone."""
    kept = Q(deleted_at=None) | Q(deleted_at__gt=timezone.now() - UNDO_FOR)
    return access.visible(Run.objects.filter(kept, uid__in=uids), user)


def _kept(asked: Part, since: datetime) -> Q:
    said = {value.lower() for term in terms_in(asked) if term.key == "is" for value in term.values}
    kept = Q(deleted_at__gt=since) if "deleted" in said else Q(deleted_at=None)
    return kept if said & {"archived", "deleted"} else kept & Q(archived_at=None)
