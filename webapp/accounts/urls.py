"""Addresses of accounts, beside those of allauth (login, password, two-factor)."""

from allauth.account.views import PasswordResetView
from django.conf import settings
from django.urls import path

from webapp.accounts import people_views, views

app_name = "accounts"
# Before allauth's, at the same address: the page says what to do where no e-mail goes out.
_reset = PasswordResetView.as_view(extra_context={"sends_mail": bool(settings.EMAIL_URL)})
urlpatterns = [
    path("password/reset/", _reset, name="reset_password"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke", views.revoke_token, name="revoke_token"),
    path("people/", people_views.people, name="people"),
    path("people/<int:pk>/reset", people_views.reset_link, name="reset_link"),
    path("people/<int:pk>/switch", people_views.switch, name="switch"),
]
