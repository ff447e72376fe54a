"""How allauth behaves here: sign-up by invitation only, and logins in the audit log."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from webapp.accounts.models import User
from webapp.accounts.refused import TOO_MANY, note_refused
from webapp.audit.log import note
from webapp.audit.models import Verb
from webapp.invitations import lifecycle, pending
from webapp.invitations.models import Invitation
from webapp.runs.secrets import decrypt, encrypt


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """Accounts with a password."""

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        **dict.fromkeys(
            ("username_password_mismatch", "email_password_mismatch", "username_email_password_mismatch"),
            _("This name and password do not go together. Check both and try again."),
        ),
        TOO_MANY: _("Too many failed logins. Wait five minutes, then try again."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return pending.of(request) is not None

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        invitation = pending.of(request)
        saved: User = super().save_user(request, user, form, commit)
        if commit and invitation is not None:
            pending.accept(request, invitation, saved)
        return saved

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        try:
            super().pre_authenticate(request, **credentials)
        except ValidationError:
            note_refused(request, _login(credentials))
            raise

    def post_login(self, request: HttpRequest, user: User, **told: Any) -> HttpResponse:
        note(request, Verb.LOGGED_IN, who=user)
        response: HttpResponse = super().post_login(request, user, **told)
        return response

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        note(request, Verb.LOGIN_FAILED, name=_login(credentials))

    def set_password(self, user: User, password: str) -> None:
        super().set_password(user, password)
        note(context.request, Verb.PASSWORD_SET, user)


class SocialAdapter(DefaultSocialAccountAdapter):  # type: ignore[misc]
    """Accounts from the OpenID Connect provider: known people log in, new ones need an invitation to their address."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return _invitation(request, sociallogin) is not None

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> User:
        invitation = _invitation(request, sociallogin)
        saved: User = super().save_user(request, sociallogin, form)
        if invitation is not None:
            pending.accept(request, invitation, saved)
        return saved


class MfaAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """Keys of authenticator apps and recovery codes are encrypted at rest."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _("This code is not right. An app shows a new one every 30 seconds: type the newest."),
    }

    def encrypt(self, text: str) -> str:
        return encrypt(text).decode()

    def decrypt(self, encrypted_text: str) -> str:
        return decrypt(encrypted_text.encode())


def _login(credentials: dict[str, Any]) -> str:
    return str(credentials.get("username") or credentials.get("email") or "")


def _invitation(request: HttpRequest, sociallogin: Any) -> Invitation | None:
    """The one whose link was followed, else an open one to an address that the provider has verified."""
    verified = [address.email for address in sociallogin.email_addresses if address.verified]
    by_address = lifecycle.open_ones().filter(email__in=verified).first() if verified else None
    return pending.of(request) or by_address
