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
from webapp.alerts.outgoing.result import Result

SIGNATURE = "Paceline-Signature"


@dataclass(frozen=True, slots=True)
class Letter:
    """A message with where it goes. `message` is that of `message.py`."""

    kind: str  # email | webhook | slack
    address: str = field(repr=False)
    secret: str = field(repr=False)
    delivery: int
    message: dict[str, Any]


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
    try:
        with get_connection() as connection:
            mail = EmailMessage(
                subject=letter.message["subject"],
                body=letter.message["text"],
                to=letter.address.split(","),
                connection=connection,
            )
            mail.send()
    except smtplib.SMTPRecipientsRefused as error:
        return Result(ok=False, error=_refusals(error), hopeless=True)
    except (smtplib.SMTPException, OSError) as error:
        return Result(ok=False, error=str(error) or type(error).__name__)
    return Result(ok=True)


def _refusals(error: smtplib.SMTPRecipientsRefused) -> str:
    return "; ".join(f"{code} {text.decode(errors='replace')}" for code, text in error.recipients.values())
