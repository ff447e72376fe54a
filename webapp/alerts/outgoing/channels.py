"""A message by each kind of channel. Only the network is touched: no database, so it may run in a thread."""

import hashlib
import hmac
import json
import smtplib
import time
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.utils.translation import gettext as _

from webapp.alerts.outgoing.post import post
from webapp.alerts.outgoing.result import Result, mark

SIGNATURE = "Paceline-Signature"


@dataclass(frozen=True, slots=True)
class Letter:
    """A message with where it goes. `message` is that of `message.py`."""

    kind: str  # email | webhook | slack
    address: str = field(repr=False)
    secret: str = field(repr=False)
    delivery: int
    message: dict[str, Any]
    languages: dict[str, str] = field(default_factory=dict, repr=False)  # of readers of e-mail who have chosen one
    reached: frozenset[str] = frozenset()  # marks of readers of e-mail who have it from an earlier try


def send(letter: Letter) -> Result:
    """What came of it."""
    return {"email": _email, "webhook": _webhook, "slack": _slack}[letter.kind](letter)


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """`t=<epoch seconds>,v1=<hex of HMAC-SHA256 over "<t>.<body>">`."""
    digest = hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={timestamp},v1={digest}"


def _webhook(letter: Letter) -> Result:
    body = json.dumps({"id": letter.delivery, **letter.message["json"]}, separators=(",", ":")).encode()
    signed = {SIGNATURE: signature(letter.secret, int(time.time()), body)} if letter.secret else {}
    return post(letter.address, body, signed)


def _slack(letter: Letter) -> Result:
    text = letter.message["text"].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return post(letter.address, json.dumps({"text": text}).encode(), {})


def _email(letter: Letter) -> Result:
    if not settings.EMAIL_URL:
        return Result(ok=False, error=_("This server has no EMAIL_URL, so it cannot send e-mail."), hopeless=True)
    reached, refused = letter.reached, []
    try:
        with get_connection() as connection:
            for said, readers in _by_language(letter):
                try:
                    EmailMessage(said["subject"], said["text"], to=readers, connection=connection).send()
                    reached |= {mark(one) for one in readers}
                except smtplib.SMTPRecipientsRefused as error:  # all of these; the others still get theirs
                    refused.append(_refusals(error))
    except (smtplib.SMTPException, OSError) as error:
        return Result(ok=False, error=str(error) or type(error).__name__, reached=reached)
    return Result(ok=True, reached=reached) if reached else Result(ok=False, error="; ".join(refused), hopeless=True)


def _by_language(letter: Letter) -> list[tuple[dict[str, Any], list[str]]]:
    """A message for each language, with those who have not read it; who has chosen none reads the channel's own."""
    readers: dict[str, list[str]] = {}
    for address in letter.address.split(","):
        if mark(address) in letter.reached:
            continue
        readers.setdefault(letter.languages.get(address.strip().lower(), ""), []).append(address)
    translated = letter.message.get("in", {})
    return [(translated.get(language, letter.message), to) for language, to in readers.items()]


def _refusals(error: smtplib.SMTPRecipientsRefused) -> str:
    return "; ".join(f"{code} {text.decode(errors='replace')}" for code, text in error.recipients.values())
