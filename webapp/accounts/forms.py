"""Forms of accounts."""

from datetime import datetime, timedelta

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.accounts.models import ApiToken


class LoginForm(AuthenticationForm):
    """Django's, in our words."""

    username = UsernameField(label=_("User name"), widget=forms.TextInput(attrs={"autofocus": True}))
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": _("This user name and password do not go together. Check both and try again."),
    }


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new API token: a name to know it by, and how long it lives."""

    lifetime = forms.TypedChoiceField(
        label=_("Expires"),
        coerce=int,
        initial=90,
        choices=[(30, _("in 30 days")), (90, _("in 90 days")), (365, _("in a year")), (0, _("never"))],
    )

    class Meta:
        model = ApiToken
        fields = ["name"]
        labels = {"name": _("Name")}
        help_texts = {"name": _("What uses it, so that you know which one to revoke.")}

    def expires_at(self) -> datetime | None:
        """When the token ends, None for never."""
        days = self.cleaned_data["lifetime"]
        return timezone.now() + timedelta(days=days) if days else None
