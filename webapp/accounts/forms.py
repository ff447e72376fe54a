"""Forms of accounts."""

from datetime import datetime, timedelta

from django import forms
from django.contrib.auth.forms import AuthenticationForm, UsernameField
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.accounts.models import ApiToken
from webapp.accounts.scopes import Scope


class LoginForm(AuthenticationForm):
    """Django's, in our words."""

    username = UsernameField(label=_("User name"), widget=forms.TextInput(attrs={"autofocus": True}))
    error_messages = {
        **AuthenticationForm.error_messages,
        "invalid_login": _("This user name and password do not go together. Check both and try again."),
    }


class LifetimeForm(forms.Form):
    """How long a token lives."""

    lifetime = forms.TypedChoiceField(
        label=_("Expires"),
        coerce=int,
        initial=90,
        choices=[(30, _("in 30 days")), (90, _("in 90 days")), (365, _("in a year")), (0, _("never"))],
    )

    def expires_at(self) -> datetime | None:
        """When the token ends, None for never."""
        days = self.cleaned_data["lifetime"]
        return timezone.now() + timedelta(days=days) if days else None


class TokenForm(LifetimeForm, forms.ModelForm):  # type: ignore[type-arg]
    """A new API token: a name to know it by, what it may do, and how long it lives."""

    field_order = ("name", "scope", "lifetime")

    class Meta:
        model = ApiToken
        fields = ["name", "scope"]
        labels = {"name": _("Name"), "scope": _("May do")}
        help_texts = {"name": _("What uses it, so that you know which one to revoke.")}

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.fields["scope"].initial = Scope.WRITE
        self.initial["scope"] = Scope.WRITE
