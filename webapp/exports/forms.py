"""What is exported."""

from django import forms
from django.utils.translation import gettext_lazy as _

from webapp.exports.models import Kind


class ExportForm(forms.Form):
    """At least one kind."""

    kinds = forms.MultipleChoiceField(
        label=_("What goes into the file"),
        choices=Kind.choices,
        initial=[Kind.PARQUET, Kind.LOGS],
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one.")},
    )
