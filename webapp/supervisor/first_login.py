"""The first admin, the project `demo` and an API token, made once and kept in `login.json`."""

import json
import secrets

from webapp.accounts.models import ApiToken, User, hash_token
from webapp.projects.models import Membership, Project, Role
from webapp.supervisor.home import Home, read_json, write_private

USERNAME = "admin"
PROJECT = "demo"
_EASY_TO_TYPE = "abcdefghijkmnpqrstuvwxyz23456789"


def ensure(home: Home) -> None:
    """Make what is missing. A password that was changed on the page is not known here any more: it stands as ""."""
    known = read_json(home.login)
    user = User.objects.filter(username=known.get("username", USERNAME)).first()
    password = known.get("password", "")
    if user is None:
        password = "".join(secrets.choice(_EASY_TO_TYPE) for _ in range(16))
        user = User.objects.create_superuser(USERNAME, password=password)
    elif not user.check_password(password):
        password = ""
    _ensure_project(user)
    token = _working_token(user, known.get("token", ""))
    write_private(home.login, json.dumps({"username": user.username, "password": password, "token": token}))


def _ensure_project(user: User) -> None:
    if Project.objects.exists():
        return
    project = Project.objects.create(slug=PROJECT, name="Demo")
    Membership.objects.create(project=project, user=user, role=Role.ADMIN)


def _working_token(user: User, token: str) -> str:
    if token and ApiToken.objects.filter(user=user, token_hash=hash_token(token), expires_at=None).exists():
        return token
    return ApiToken.issue(user, "first login")[1]
