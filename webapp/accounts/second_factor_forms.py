"""allauth's forms that ask for a second factor. Too many wrong ones are in the audit log: no signal tells of them."""

from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.webauthn.forms import AuthenticateWebAuthnForm, ReauthenticateWebAuthnForm
from django import forms

from webapp.accounts.models import User
from webapp.accounts.refused import SECOND_FACTOR, TOO_MANY, note_refused


class _Noted(forms.Form):
    user: User

    def full_clean(self) -> None:
        super().full_clean()
        if any(self.has_error(field, TOO_MANY) for field in self.errors):
            note_refused(context.request, self.user.get_username(), SECOND_FACTOR)


class Code(_Noted, AuthenticateForm):  # type: ignore[misc]
    """At login."""


class CodeAgain(_Noted, ReauthenticateForm):  # type: ignore[misc]
    """Before something that is guarded."""


class Key(_Noted, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A security key at login."""


class KeyAgain(_Noted, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A security key before something that is guarded."""
