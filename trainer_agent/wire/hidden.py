"""Which names of variables and arguments are likely to hold a secret, so that their values are never told."""

import re

MASK = "••••••"
_WORDS = (
    r"pass(wd|word|phrase)?|pwd|secret|token|(api|access|private|ssh)[_-]?key|credential|auth|cookie|session|dsn|bearer|jwt"
    r"|signature|webhook"
)
_SECRET = re.compile(rf"(^|[_.-])({_WORDS})s?([_.-]|$)|apikey|[_-]key$|^key$", re.IGNORECASE)


def looks_secret(name: str) -> bool:
    """Whether the value of a variable or argument of this name should be hidden. Rather one too many."""
    return bool(_SECRET.search(name))
