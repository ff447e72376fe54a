"""Addresses that are secrets themselves stay out of the logs: shared runs, invitations, links to a new password."""

import logging
import re

HIDDEN = "•••"
# Behind each of these, up to the next slash, stands what only its receiver may know.
_SECRET = re.compile(r"(/s/|/invitations/|/password/reset/key/)[^/\s?\"']{8,}")


def masked(text: str) -> str:
    """The text with the secret part of such addresses replaced."""
    return _SECRET.sub(rf"\1{HIDDEN}", text)


class MaskedFormatter(logging.Formatter):
    """A formatter for every handler: messages, their arguments and tracebacks alike."""

    def format(self, record: logging.LogRecord) -> str:
        return masked(super().format(record))
