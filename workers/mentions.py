"""E-mails to people whom a comment mentions. The rows are the queue; `workers/notify.py` finds what lost hints left."""

import logging

from django.utils import timezone

from webapp.alerts.outgoing.channels import Letter, send
from webapp.alerts.outgoing.result import Result
from webapp.celery import app
from webapp.notes import mail
from webapp.notes.models import Mention

log = logging.getLogger(__name__)


@app.task(name="workers.mentions.send")  # type: ignore[untyped-decorator]
def send_due() -> None:
    """All that is due; what fails waits longer each time."""
    while mail.due(now := timezone.now()) and (rows := mail.claim(now)):
        for row in rows:
            mail.note(row, _sent(row), timezone.now())


def _sent(row: Mention) -> Result | None:
    if not mail.still_wanted(row):
        return None
    try:
        return send(Letter("email", row.user.email, "", row.pk, mail.message(row)))
    except Exception as error:
        log.exception("mention %s cannot be sent", row.pk)
        return Result(ok=False, error=type(error).__name__, hopeless=True)
