"""Forms of accounts."""

from datetime import datetime, timedelta

from allauth.account.forms import LoginForm as AllauthLoginForm
from allauth.account.forms import SignupForm as AllauthSignupForm
from allauth.core import context
from django import forms
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from webapp.accounts.models import ApiToken
from webapp.accounts.scopes import Scope
from webapp.invitations import pending


class LoginForm(AllauthLoginForm):  # type: ignore[misc]
    """allauth's, in our words: by user name or e-mail address."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].label = _("User name or e-mail address")
        self.fields["login"].widget.attrs = {"autofocus": True, "autocomplete": "username"}
        self.fields["password"].widget.attrs = {"autocomplete": "current-password"}
        self.fields["password"].help_text = ""


class SignupForm(AllauthSignupForm):  # type: ignore[misc]
    """allauth's, with the address that was invited."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)
        invitation = pending.of(context.request)
        if invitation is not None:
            self.fields["email"].initial = invitation.email


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
