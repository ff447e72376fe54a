"""What somebody says who makes a link."""

import re
from urllib.parse import parse_qsl, urlencode, urlsplit

from django import forms
from django.utils.translation import gettext_lazy as _

from webapp.sharing.models import LONGEST_VIEW

_TAB = re.compile(r"[a-z]{1,20}")
_OF_THE_TEAM = {"from"}  # what the page's own address may say and a guest need not know


class ShareForm(forms.Form):
    """How long it works, and whether it shows logs. `view`: `?query#tab` of the page that is shared."""

    days = forms.TypedChoiceField(
        label=_("Works for"),
        coerce=int,
        initial=7,
        choices=[(1, _("1 day")), (7, _("7 days")), (30, _("30 days")), (0, _("as long as the run is kept"))],
    )
    with_logs = forms.BooleanField(label=_("Show logs and tracebacks"), required=False)
    view = forms.CharField(max_length=LONGEST_VIEW, required=False, widget=forms.HiddenInput)

    def clean_view(self) -> str:
        return only_view(self.cleaned_data["view"])


def only_view(address: str) -> str:
    """Only a query and a tab of it: the rest of an address would lead elsewhere."""
    parts = urlsplit(address)
    pairs = [(name, value) for name, value in parse_qsl(parts.query) if name not in _OF_THE_TEAM]
    query, tab = urlencode(pairs), parts.fragment
    return (f"?{query}" if query else "") + (f"#{tab}" if _TAB.fullmatch(tab) else "")
