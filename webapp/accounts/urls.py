"""Addresses of accounts."""

from django.contrib.auth.views import LoginView, LogoutView
from django.urls import path

from webapp.accounts import views
from webapp.accounts.forms import LoginForm

app_name = "accounts"
_login = LoginView.as_view(
    template_name="accounts/login.html", authentication_form=LoginForm, redirect_authenticated_user=True
)
urlpatterns = [
    path("login/", _login, name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("password/", views.ChangePassword.as_view(), name="password"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/<int:pk>/revoke", views.revoke_token, name="revoke_token"),
]
