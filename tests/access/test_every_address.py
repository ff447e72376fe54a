"""Every address as a stranger, viewer, editor, admin, site administrator, logged out, and with tokens of each scope."""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import transaction
from django.http import FileResponse
from django.test import Client

from tests.access import addresses, rules, world
from tests.access.addresses import Address
from tests.access.rules import Rule
from tests.access.table import OPERATIONS, PAGES
from webapp.accounts.models import ApiToken, User

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis_client")]

_ORDER = [rules.VIEWER, rules.EDITOR, rules.ADMIN]
_SCOPES = ["none", "read", "write", "admin"]
_REFUSED = (401, 403, 404)
_MACHINES = (400, 401, 403, 404)  # what a person gets where only nodes speak


@pytest.fixture
def things() -> dict[str, Any]:
    return world.build()


def test_every_address_is_in_the_table() -> None:
    for found, table, name in ((addresses.pages(), PAGES, "PAGES"), (addresses.operations(), OPERATIONS, "OPERATIONS")):
        missing = [one.name for one in found if one.name not in table]
        gone = set(table) - {one.name for one in found}
        assert not missing, f"Say in {name} of tests/access/table.py who may open: {', '.join(missing)}"
        assert not gone, f"Take out of {name} of tests/access/table.py what is no address any more: {', '.join(gone)}"


@pytest.mark.parametrize("who", world.PEOPLE)
def test_pages_open_to_whom_the_table_says(things: dict[str, Any], who: str) -> None:
    client = _browser(who)
    wrong = []
    for rule, method, url, name in _page_calls(things):
        status = _tried(lambda: client.generic(method, url, content_type="application/x-www-form-urlencoded"))  # noqa: B023
        wanted = _wanted(rule, who)
        if not _fits(status, wanted, rule):
            wrong.append(f"{name}: {method} as {who} gave {status}, wanted {wanted or 'success'}")
    assert not wrong, "\n".join(wrong)


def test_logged_out_pages_lead_to_the_login(things: dict[str, Any]) -> None:
    client, wrong = _browser(""), []
    for rule, method, url, name in _page_calls(things):
        answer = client.generic(method, url)
        to_login = answer.status_code == 302 and answer.headers["Location"].startswith("/accounts/login/?next=")
        refused = answer.status_code in _MACHINES
        right = {rules.ANYBODY: answer.status_code < 500 or answer.status_code in rule.odd, rules.MACHINE: refused}
        if not right.get(rule.who, answer.status_code == 404 if rule.hidden else to_login):
            wrong.append(f"{name}: {method} logged out gave {answer.status_code}")
    assert not wrong, "\n".join(wrong)


def test_nothing_is_changed_by_reading_or_without_the_forms_proof(things: dict[str, Any]) -> None:
    client, wrong = _browser("superuser", enforce_csrf_checks=True), []
    for rule, method, url, name in _page_calls(things):
        if method == "POST" and rule.who != rules.MACHINE:
            if client.post(url).status_code != 403:
                wrong.append(f"{name}: POST without a CSRF token is not refused")
            if not rule.reads and client.get(url).status_code != 405:
                wrong.append(f"{name}: GET is not refused with 405")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("who", world.PEOPLE)
def test_operations_do_for_a_person_what_the_table_says(things: dict[str, Any], who: str) -> None:
    client, wrong = _token(who, "admin"), []
    for rule, one, url in _operation_calls(things):
        status, code = _with_code(functools.partial(_asked, client, one, url, rule))
        wanted = _wanted(rule, who)
        if not _fits(status, wanted, rule):
            wrong.append(f"{one.name}: as {who} gave {status} {code}, wanted {wanted or 'success'}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("who", ["admin", "superuser"])
def test_operations_refuse_a_token_with_too_narrow_a_scope_and_take_one_that_is_just_wide_enough(
    things: dict[str, Any], who: str
) -> None:
    clients, wrong = {scope: _token(who, scope) for scope in _SCOPES}, []
    for rule, one, url in _operation_calls(things):
        wide = _SCOPES.index(rule.scope)
        refused = _with_code(functools.partial(_asked, clients[_SCOPES[wide - 1]], one, url, rule))
        taken = _with_code(functools.partial(_asked, clients[rule.scope], one, url, rule))
        if refused != (403, "scope") or taken[1] == "scope":
            wrong.append(f"{one.name}: needs the scope {rule.scope}, one less gave {refused}, this one {taken}")
    assert not wrong, "\n".join(wrong)


def test_operations_need_a_token_or_a_session_with_a_csrf_token(things: dict[str, Any]) -> None:
    wrong = []
    session = _browser("superuser", enforce_csrf_checks=True)
    for rule, one, url in _operation_calls(things):
        if _asked(Client(), one, url, rule).status_code != 401:
            wrong.append(f"{one.name}: is not refused without a token")
        if rule.writes and _asked(session, one, url, rule).status_code != 403:
            wrong.append(f"{one.name}: a session writes without a CSRF token")
    assert not wrong, "\n".join(wrong)


def _page_calls(things: dict[str, Any]) -> Iterator[tuple[Rule, str, str, str]]:
    for one in addresses.pages():
        if (rule := PAGES.get(one.name)) is None:
            continue  # the first test says so
        url = _filled(one, things, rule)
        methods = (["GET"] if rule.reads else []) + (["POST"] if rule.writes else [])
        yield from ((rule, method, url, one.name) for method in methods)


def _operation_calls(things: dict[str, Any]) -> Iterator[tuple[Rule, Address, str]]:
    for one in addresses.operations():
        if (rule := OPERATIONS.get(one.name)) is None:
            continue
        query = "?project=demo" if one.name == "POST /uploads" else ""
        yield rule, one, _filled(one, things, rule) + query


def _filled(one: Address, things: dict[str, Any], rule: Rule) -> str:
    try:
        return one.filled(things, rule)
    except KeyError as missing:
        pytest.fail(f"{one.name}: say in tests/access/world.py what stands for {missing} in its address")


def _browser(who: str, *, enforce_csrf_checks: bool = False) -> Client:
    client = Client(enforce_csrf_checks=enforce_csrf_checks, raise_request_exception=False)
    if who:
        client.force_login(User.objects.get(username=who))
    return client


def _token(who: str, scope: str) -> Client:
    _row, secret = ApiToken.issue(User.objects.get(username=who), "walk", scope=scope)
    return Client(headers={"Authorization": f"Bearer {secret}"}, raise_request_exception=False)


def _asked(client: Client, one: Address, url: str, rule: Rule) -> Any:
    return getattr(client, one.method.lower())(url, rule.data, content_type="application/json") if rule.data else (
        client.generic(one.method, url)
    )  # fmt: skip


def _tried(ask: Callable[[], Any]) -> int:
    return _with_code(ask)[0]


def _with_code(ask: Callable[[], Any]) -> tuple[int, str]:
    """The answer's status and code; what was changed is changed back."""
    with transaction.atomic():
        answer = ask()
        if isinstance(answer, FileResponse):
            b"".join(answer)  # its file is closed at its end
        transaction.set_rollback(True)
    is_json = answer.headers.get("Content-Type", "").startswith("application/json") and answer.status_code != 204
    content = answer.json() if is_json else {}
    return answer.status_code, content.get("code", "") if isinstance(content, dict) else ""


def _wanted(rule: Rule, who: str) -> tuple[int, ...]:
    """The statuses that refuse this person; empty: they may."""
    if rule.who == rules.MACHINE:
        return _MACHINES
    if rule.who == rules.SITE:
        return () if who == "superuser" else (403,)
    if rule.who == rules.ANY_EDITOR:
        return (403,) if who in ("stranger", "viewer") else ()
    if rule.who == rules.OWNER:
        return () if who == "admin" else (404,)
    if rule.who in _ORDER and who != "superuser":
        if who == "stranger":
            return (404,)
        return () if _ORDER.index(who) >= _ORDER.index(rule.who) else (403, 404)
    return ()


def _fits(status: int, wanted: tuple[int, ...], rule: Rule) -> bool:
    if wanted:
        return status in wanted
    return status in rule.odd or (status < 500 and (rule.who == rules.ANYBODY or status not in _REFUSED))
