"""Which names of variables and arguments are likely to hold a secret, so that their values are never told."""

import re

MASK = "••••••"
_WORDS = (
    r"pass(wd|word|phrase)?|pwd|secret|token|(api|access|private|ssh)[_-]?key|credential|auth|cookie|session|dsn|bearer|jwt"
    r"|signature|webhook"
)
_SECRET = re.compile(rf"(^|[_.-])({_WORDS})s?([_.-]|$)|apikey|[_-]key$|^key$", re.IGNORECASE)


_LOGIN = re.compile(r"\b([a-z][a-z0-9+.-]*://)([^\s/?#]*)@", re.IGNORECASE)


def without_credentials(text: str) -> str:
    """Addresses in the text without the login before the host; of ssh the user's name stays."""
    return _LOGIN.sub(_without_login, text)


def _without_login(found: re.Match[str]) -> str:
    scheme, login = found.groups()
    return f"{scheme}{login.partition(':')[0]}@" if "ssh" in scheme.lower() else scheme


def looks_secret(name: str) -> bool:
    """Whether the value of a variable or argument of this name should be hidden. Rather one too many."""
    return bool(_SECRET.search(name))
