"""Reads of notes, comments and mentions: only of runs that the person may see."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404

from webapp.accounts.models import User
from webapp.notes.models import Comment, Mention, Note
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import Run


def comment_of(run: Run, pk: int) -> Comment:
    """Http404 when the run has no such comment."""
    row = Comment.objects.filter(run=run, pk=pk).select_related("run__project").first()
    if row is None:
        raise Http404
    return row


def own_comment(run: Run, pk: int, user: User) -> Comment:
    """To be changed: Http404 unless it is the person's own."""
    row = comment_of(run, pk)
    if row.author_id != user.pk:
        raise Http404
    return row


def may_delete(row: Comment, user: User) -> bool:
    """One's own, and an admin any."""
    return row.author_id == user.pk or access.allows(user, row.run.project, Role.ADMIN)


def mentions_of(user: User | AnonymousUser) -> QuerySet[Mention]:
    """Of the person, in comments on runs that they may see and nobody has deleted, newest first."""
    rows = Mention.objects.filter(user=user.pk, comment__run__deleted_at=None)
    return access.visible(rows, user, "comment__run__project").select_related("comment__run__project")


def with_words(text: str) -> Q:
    """Runs whose notes have this text. The table holds only runs with notes, so the runs themselves are not read."""
    return Q(pk__in=Note.objects.filter(text__icontains=text).values("run"))
