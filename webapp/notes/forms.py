"""What people write about a run."""

from django import forms
from django.utils.translation import gettext_lazy as _

from webapp.notes.models import LONGEST_COMMENT, LONGEST_NOTE


class NoteForm(forms.Form):
    """The notes, and which version of them was edited (0: there were none)."""

    text = forms.CharField(
        label=_("Notes"),
        max_length=LONGEST_NOTE,
        required=False,
        widget=forms.Textarea(attrs={"rows": 12, "placeholder": _("What was tried, and what came of it.")}),
    )
    base = forms.IntegerField(min_value=0, widget=forms.HiddenInput)


class CommentForm(forms.Form):
    """One comment."""

    text = forms.CharField(
        label=_("Comment"),
        max_length=LONGEST_COMMENT,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": _("Say something. @ mentions a member.")}),
        error_messages={"required": _("Write something first.")},
    )
