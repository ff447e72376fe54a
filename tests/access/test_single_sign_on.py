"""OpenID Connect, with a provider of our own that says who somebody is."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlparse

import pytest
from django.core.cache import cache
from django.test import Client

from tests import builders
from webapp.accounts.models import User
from webapp.invitations import lifecycle
from webapp.projects.models import Membership, Role

pytestmark = pytest.mark.django_db


class _Provider(BaseHTTPRequestHandler):
    """Discovery, token and userinfo of the smallest provider there can be."""

    def do_GET(self) -> None:
        base = f"http://127.0.0.1:{self.server.server_port}"  # type: ignore[attr-defined]
        names = {"issuer": "", "authorization_endpoint": "/in", "token_endpoint": "/token", "userinfo_endpoint": "/me"}
        person = {"sub": "s-1", "email": "ana@example.org", "email_verified": True, "preferred_username": "ana.a"}
        self._answer(person if self.path == "/me" else {name: base + path for name, path in names.items()})

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer({"access_token": "t", "token_type": "Bearer"})

    def log_message(self, *_args: Any) -> None:
        """Nothing."""

    def _answer(self, content: dict[str, Any]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(json.dumps(content).encode())


@pytest.fixture(autouse=True)
def _provider(settings: Any) -> Iterator[None]:
    cache.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Provider)
    thread = Thread(target=server.serve_forever)
    thread.start()
    app = {
        "provider_id": "oidc",
        "name": "Example ID",
        "client_id": "x",
        "secret": "y",
        "settings": {"server_url": f"http://127.0.0.1:{server.server_port}"},
    }
    settings.SOCIALACCOUNT_PROVIDERS = {"openid_connect": {"APPS": [app]}}
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def came_back() -> Client:
    """A browser that went to the provider and came back with its word."""
    client = Client()
    assert "Log in with Example ID" in client.get("/accounts/login/").content.decode()
    sent_to = client.post("/accounts/oidc/oidc/login/?process=login").headers["Location"]
    state = parse_qs(urlparse(sent_to).query)["state"][0]
    client.get("/accounts/oidc/oidc/login/callback/", {"code": "c", "state": state})
    return client


def test_a_known_person_is_known_by_the_address_that_the_provider_verified() -> None:
    builders.user("ana", email="ana@example.org")
    assert came_back().get("/accounts/tokens/").context["user"].username == "ana"


def test_a_stranger_gets_no_account() -> None:
    assert came_back().get("/").status_code == 302
    assert not User.objects.exists()


def test_an_invited_person_gets_an_account_and_is_in_the_project() -> None:
    project = builders.project("demo", ada=Role.ADMIN)
    lifecycle.invite(project, "ana@example.org", Role.EDITOR, User.objects.get(username="ada"))
    assert came_back().get("/projects/demo/").status_code == 200
    assert Membership.objects.get(user__email="ana@example.org").role == "editor"
