"""E-mails about mentions: which are due, what they say, how they fared. Nothing here talks to the network."""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _

from webapp.alerts.deliveries import wait_after
from webapp.alerts.outgoing.result import Result
from webapp.notes.models import Mention, MentionChoice
from webapp.projects import access
from webapp.projects.models import Role

CLAIM = timedelta(seconds=60)  # a sender that has not said how it went by then is dead
AT_ONCE = 8


def due(now: datetime) -> bool:
    """Whether something is to be sent. Nothing is where no mail server is set: it waits in the list of mentions."""
    return bool(settings.EMAIL_URL) and _due(now).exists()


@transaction.atomic
def claim(now: datetime) -> list[Mention]:
    """Some that are due, for the caller alone."""
    rows = _due(now).select_related("user", "comment__run__project").order_by("pk")[:AT_ONCE]
    return [row for row in rows if _claimed(row, now)]


def still_wanted(row: Mention) -> bool:
    """The person can see the run and wants e-mail, now that it is about to be sent."""
    run, person = row.comment.run, row.user
    if run.deleted_at is not None or not person.email or not access.allows(person, run.project, Role.VIEWER):
        return False
    return not MentionChoice.objects.filter(user=person).exists()


def message(row: Mention) -> dict[str, Any]:
    """Subject and text, in the language that the person has chosen."""
    with translation.override(row.user.language or settings.LANGUAGE_CODE):
        return _written(row)


def note(row: Mention, result: Result | None, now: datetime) -> None:
    """How it went: sent, to be tried again, given up. None: it was not to be sent any more."""
    wait = None if result is None or result.ok or result.hopeless else wait_after(row.tries)
    if result is None:
        row.mail = Mention.Mail.NONE
    elif result.ok:
        row.mail = Mention.Mail.SENT
    else:
        row.mail = Mention.Mail.WAITING if wait is not None else Mention.Mail.FAILED
    row.next_at = now + (wait or timedelta())
    row.save(update_fields=["mail", "next_at"])


def _written(row: Mention) -> dict[str, Any]:
    run = row.comment.run
    told = {"who": row.comment.author_name, "run": " ".join(run.name.split())[:120], "project": run.project.slug}
    base = settings.PUBLIC_URL.rstrip("/")
    lines = [
        _("%(who)s mentions you in a comment on %(run)s (%(project)s):") % told,
        "",
        row.comment.text,
        "",
        f"{base}{reverse('runs:detail', args=[run.uid])}#notes",
        "",
        _("No e-mail for mentions any more: %s") % f"{base}{reverse('notes:mentions')}",
    ]
    return {"subject": "[Paceline] " + _("%(who)s mentions you on %(run)s") % told, "text": "\n".join(lines)}


def _due(now: datetime) -> QuerySet[Mention]:
    return Mention.objects.filter(mail__in=[Mention.Mail.WAITING, Mention.Mail.SENDING], next_at__lte=now)


def _claimed(row: Mention, now: datetime) -> bool:
    fields = {"mail": Mention.Mail.SENDING, "tries": row.tries + 1, "next_at": now + CLAIM}
    mine = Mention.objects.filter(pk=row.pk, mail=row.mail, tries=row.tries, next_at=row.next_at)
    if mine.update(**fields) != 1:
        return False
    row.mail, row.tries, row.next_at = Mention.Mail.SENDING, row.tries + 1, now + CLAIM
    return True
