"""The server's HTTP API as this command line uses it; every refusal becomes one sentence."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import httpx

from trainer_agent.cli.errors import NotReached, Refused
from trainer_agent.cli.login_file import Login, current

TIMEOUT = httpx.Timeout(30.0, connect=5.0)


class Server:
    """One server, as one person."""

    def __init__(self, login: Login) -> None:
        self.url = login.url
        self._client = httpx.Client(
            base_url=f"{login.url}/api/v1", headers={"Authorization": f"Bearer {login.token}"}, timeout=TIMEOUT
        )

    def get(self, path: str, **params: Any) -> Any:
        """The JSON at `path`; parameters that are None or empty are left out."""
        return self._json("GET", path, params=_given(params))

    def post(self, path: str, body: Any = None) -> Any:
        return self._json("POST", path, json=body)

    def delete(self, path: str) -> None:
        self._json("DELETE", path)

    def send_file(self, path: str, content: Any, content_type: str, **params: Any) -> Any:
        """POST a file object as the body."""
        return self._json(
            "POST", path, content=content, params=_given(params), headers={"Content-Type": content_type}, timeout=600.0
        )

    def send_form_file(self, path: str, content: Any, filename: str, **params: Any) -> Any:
        """POST a file object as the field `file` of a form, piece by piece."""
        return self._json("POST", path, files={"file": (filename, content)}, params=_given(params), timeout=3600.0)

    @contextmanager
    def stream(self, path: str, headers: dict[str, str] | None = None, **params: Any) -> Iterator[httpx.Response]:
        """An answer to read piece by piece."""
        asked = self._client.stream("GET", path, params=_given(params), headers=headers)
        with self._reaching(), asked as response:
            if response.is_error:
                response.read()
                raise self._refusal(response)
            yield response

    def _json(self, method: str, path: str, **arguments: Any) -> Any:
        with self._reaching():
            response = self._client.request(method, path, **arguments)
        if response.is_error:
            raise self._refusal(response)
        if response.status_code == httpx.codes.NO_CONTENT:
            return None
        try:
            return response.json()
        except ValueError:
            raise Refused(f"{self.url} does not answer like a Paceline server.") from None

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except (httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
            raise Refused(f"{self.url} is no address of a server ({error}).") from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise NotReached(f"Cannot reach {self.url}: is the server running there? ({reason})") from None

    def _refusal(self, response: httpx.Response) -> Refused:
        try:
            body = response.json()
            sentence, fields = body["message"], body.get("fields") or {}
        except (json.JSONDecodeError, KeyError, TypeError):
            return Refused(f"{self.url} answered {response.status_code} {response.reason_phrase}.")
        if response.status_code == httpx.codes.UNAUTHORIZED:
            sentence += f" Then run “paceline login {self.url}”."
        if list(fields.values()) == [sentence]:
            fields = {}
        return Refused(sentence, fields)


def server() -> Server:
    """The server of the environment or of the saved login; one per command."""
    context = click.get_current_context().find_root()
    found = context.meta.get("paceline.server")
    if not isinstance(found, Server):
        found = context.meta["paceline.server"] = Server(current())
    return found


def _given(params: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None and value != ""}
