"""The database cannot be reached: every answer says so, and does not call it an error of ours."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client

from tests import builders
from tests.settings import free_port
from webapp.accounts.models import ApiToken, User

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("redis_client")]


@pytest.fixture
def ana() -> User:
    return builders.user("ana", language="pt-br")


@pytest.fixture
def token(ana: User) -> str:
    return ApiToken.issue(ana, "t")[1]


@pytest.fixture
def session(ana: User) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(ana)
    return client


@pytest.fixture
def away(ana: User, token: str, session: Client, tmp_path: Path) -> Iterator[None]:
    """Once everything else is there."""
    where = {"NAME": str(tmp_path / "no" / "file")} if connection.vendor == "sqlite" else {"PORT": str(free_port())}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in where.items():
            patch.setitem(connection.settings_dict, name, value)
        connection.close()
        yield
    connection.close()


@pytest.mark.usefixtures("away")
def test_pages_say_so_logged_in_and_logged_out(session: Client) -> None:
    for client, address in ((session, "/"), (session, "/nodes/"), (Client(), "/accounts/login/")):
        answer = client.get(address)
        assert (answer.status_code, int(answer["Retry-After"]) > 0) == (503, True)
        assert "The database is busy" in answer.content.decode()
        assert 'class="topbar"' in answer.content.decode()


@pytest.mark.usefixtures("away")
def test_scripts_and_agents_get_json(session: Client, token: str) -> None:
    bearer = Client(headers={"Authorization": f"Bearer {token}"})
    for client, address in ((session, "/api/v1/me"), (bearer, "/api/v1/me"), (bearer, "/agent/v1/uploads/" + "0" * 64)):
        answer = client.get(address)
        assert (answer.status_code, answer.json()["code"], answer.json()["fields"]) == (503, "unavailable", {})


@pytest.mark.usefixtures("away")
def test_a_login_says_so_too() -> None:
    client = Client(raise_request_exception=False)
    answer = client.post("/accounts/login/", {"login": "ana", "password": "x"})
    assert (answer.status_code, "The database is busy" in answer.content.decode()) == (503, True)
