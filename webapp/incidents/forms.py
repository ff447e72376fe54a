"""What people say to an incident."""

from django import forms
from django.utils.translation import gettext_lazy as _

from webapp.incidents.words import CAUSES, PARTS

LONGEST = 4000


class CommentForm(forms.Form):
    """Plain text; line breaks are kept."""

    text = forms.CharField(
        label=_("Comment"),
        max_length=LONGEST,
        widget=forms.Textarea(attrs={"rows": 3, "placeholder": _("Write what you found or did.")}),
        error_messages={"required": _("Write something first.")},
    )


class CauseForm(forms.Form):
    """What somebody found to be the cause."""

    cause = forms.ChoiceField(label=_("Cause"), choices=[(cause, PARTS[cause]) for cause in CAUSES])


class AssignForm(forms.Form):
    """To a member by user name; empty: to nobody."""

    username = forms.CharField(max_length=150, required=False)
