"""The Notes tab of the run page: notes, their earlier versions, and the comments below."""

from dataclasses import dataclass
from typing import Any

from django.utils.safestring import SafeString

from webapp.accounts.models import User
from webapp.markdown import render
from webapp.notes.forms import CommentForm, NoteForm
from webapp.notes.mentions import names
from webapp.notes.models import Comment, Note
from webapp.projects import access
from webapp.projects.models import Role
from webapp.runs.models import Run

MOST_VERSIONS = 20
MOST_COMMENTS = 500  # the newest


@dataclass(frozen=True)
class Said:
    """One comment as it is drawn."""

    row: Comment
    html: SafeString
    form: CommentForm
    own: bool
    may_delete: bool


def parts(
    run: Run, user: User, *, note_form: NoteForm | None = None, said: CommentForm | None = None, edited: int = 0
) -> dict[str, Any]:
    """Everything that templates/notes/part.html draws. A form that was refused comes back; `edited`: whose it is."""
    note = Note.objects.filter(run=run).select_related("changed_by").first()
    is_admin = access.allows(user, run.project, Role.ADMIN)
    known = names(run.project)
    people = frozenset(name.lower() for name in known)
    rows = list(reversed(run.comments.select_related("author").order_by("-pk")[:MOST_COMMENTS]))
    return {
        "run": run,
        "note": note,
        "html": render(note.text, people) if note else "",
        "versions": note.versions.select_related("changed_by")[:MOST_VERSIONS] if note else [],
        "note_form": note_form or _note_form(note),
        "note_wrong": note_form is not None,
        "comments": [_said(row, user, is_admin, people, said if row.pk == edited else None) for row in rows],
        "edited": edited,
        "comment_form": said if said and not edited else CommentForm(auto_id="comment_%s"),
        "can_edit": access.allows(user, run.project, Role.EDITOR),
        "members": known,
    }


def _note_form(note: Note | None) -> NoteForm:
    shown = {"text": note.text, "base": note.version} if note else {"base": 0}
    return NoteForm(initial=shown, auto_id="note_%s")


def _said(row: Comment, user: User, is_admin: bool, people: frozenset[str], form: CommentForm | None) -> Said:
    own = row.author_id == user.pk
    fresh = CommentForm(initial={"text": row.text}, auto_id=f"comment{row.pk}_%s")
    return Said(row, render(row.text, people), form or fresh, own, own or is_admin)
