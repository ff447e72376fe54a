"""The only writer of notes, comments and mentions."""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from webapp.accounts.models import User
from webapp.notes.mentions import mentioned
from webapp.notes.models import Comment, Mention, MentionChoice, Note, NoteVersion
from webapp.queue import SEND_MENTIONS, hint
from webapp.runs.models import Run


class ChangedMeanwhile(ValueError):
    """Somebody else has saved since the text was read."""


@transaction.atomic
def write_note(run: Run, user: User, text: str, *, base: int | None = None) -> Note:
    """The notes are `text` now; what they said before is kept. `base`: the version that was edited, 0 for none.

    ChangedMeanwhile when the notes have another version by now; None writes over whatever is there.
    """
    note = Note.objects.select_for_update().filter(run=run).first()
    if base is not None and base != (note.version if note else 0):
        raise ChangedMeanwhile
    if note is None:
        return Note.objects.create(run=run, text=text, changed_by=user)
    if note.text == text:
        return note
    NoteVersion.objects.create(
        note=note, version=note.version, text=note.text, changed_at=note.changed_at, changed_by=note.changed_by
    )
    note.text, note.version, note.changed_at, note.changed_by = text, note.version + 1, timezone.now(), user
    note.save()
    return note


@transaction.atomic
def comment(run: Run, author: User, text: str) -> Comment:
    """Say something, and tell those who are mentioned."""
    row = Comment.objects.create(run=run, author=author, author_name=author.username, text=text)
    _tell(row)
    return row


@transaction.atomic
def edit(row: Comment, text: str) -> None:
    """Say it otherwise. Who is mentioned now and was not before is told."""
    if row.text == text:
        return
    row.text, row.edited_at = text, timezone.now()
    row.save(update_fields=["text", "edited_at"])
    _tell(row)


def delete(row: Comment) -> None:
    """Gone for good, with its mentions."""
    row.delete()


def seen(user: User, now: datetime, run: Run | None = None) -> None:
    """The person has looked at the mentions, of one run or all."""
    rows = Mention.objects.filter(user=user, seen_at=None)
    (rows.filter(comment__run=run) if run else rows).update(seen_at=now)


def choose_mail(user: User, *, wanted: bool) -> None:
    """Whether mentions also come by e-mail."""
    if wanted:
        MentionChoice.objects.filter(user=user).delete()
    else:
        MentionChoice.objects.get_or_create(user=user)


def _tell(row: Comment) -> None:
    known = set(row.mentions.values_list("user", flat=True))
    people = [one for one in mentioned(row.text, row.run.project) if one.pk not in known and one.pk != row.author_id]
    quiet = set(MentionChoice.objects.filter(user__in=people).values_list("user", flat=True))
    Mention.objects.bulk_create(
        Mention(
            comment=row,
            user=one,
            mail=Mention.Mail.WAITING if one.email and one.pk not in quiet else Mention.Mail.NONE,
        )
        for one in people
    )
    if people:
        hint(SEND_MENTIONS)
