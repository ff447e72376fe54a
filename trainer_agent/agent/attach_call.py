"""Asks the server to watch this launch, for as long as the launch runs: a server that is away may come back."""

import logging
import threading
from collections.abc import Callable
from typing import Any

import httpx
import msgspec

from trainer_agent.agent.connection import Patience

log = logging.getLogger(__name__)

TIMEOUT = httpx.Timeout(20.0, connect=5.0)
_WORTH_ANOTHER_TRY = (408, 425, 429)


class Watched(msgspec.Struct, frozen=True, kw_only=True):
    """The server's answer."""

    run: str
    url: str
    attempt: int
    attempt_number: int
    node: str
    node_name: str
    node_rank: int
    token: str
    redis_url: str


class Refused(Exception):
    """The server said no, in a sentence: asking again is of no use."""


class NotReached(Exception):
    """No answer, or none of a server of this kind that is well."""


class AttachCall(threading.Thread):
    """Calls until there is an answer. `answer` or `refusal` is set then; `failures` counts the tries in between."""

    def __init__(self, url: str, token: str, body: dict[str, Any], say: Callable[[str], None]) -> None:
        super().__init__(daemon=True, name="attach-call")
        self._url, self._token, self._body, self._say = url, token, body, say
        self.answer: Watched | None = None
        self.refusal = ""
        self.failures = 0

    def run(self) -> None:
        """The thread."""
        patience = Patience()
        while self.answer is None and not self.refusal:
            try:
                self.answer = call(self._url, self._token, self._body)
            except Refused as error:
                self.refusal = str(error)
                self._say(f"{error} The command runs unwatched.")
            except NotReached as error:
                log.info("not attached: %s", error)
                if not self.failures:
                    self._say(f"{error} The command runs; watching begins when the server answers.")
                self.failures += 1
                threading.Event().wait(patience.failed())


def call(url: str, token: str, body: dict[str, Any]) -> Watched:
    """One try."""
    try:
        headers = {"Authorization": f"Bearer {token}"}
        answer = httpx.post(f"{url}/api/v1/attach", json=body, headers=headers, timeout=TIMEOUT)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        raise NotReached(f"{url} cannot be reached ({error or type(error).__name__}).") from error
    if answer.status_code >= 500 or answer.status_code in _WORTH_ANOTHER_TRY:
        raise NotReached(f"{url} answered {answer.status_code}.")
    try:
        if answer.is_success:
            return msgspec.json.decode(answer.content, type=Watched)
        content = msgspec.json.decode(answer.content, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise Refused(f"{url} does not answer like a Paceline server of this version.") from error
    fields = " ".join(map(str, (content.get("fields") or {}).values()))
    raise Refused(fields or str(content.get("message") or f"{url} answered {answer.status_code}."))
