"""The filter above the audit log."""

from django import forms
from django.utils.translation import gettext_lazy as _

from webapp.audit.models import Verb


class FilterForm(forms.Form):
    """What to show; everything is optional."""

    person = forms.CharField(label=_("Person"), required=False, max_length=150)
    verb = forms.ChoiceField(label=_("Did what"), required=False, choices=[("", _("anything")), *Verb.choices])
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("Until"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
