"""How a message fared."""

from dataclasses import dataclass

from django.utils.crypto import salted_hmac


def mark(address: str) -> str:
    """What stands for an e-mail address where it must not be read: 16 hexadecimal digits."""
    return salted_hmac(__name__, address.strip().lower(), algorithm="sha256").hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Result:
    """`hopeless`: trying again would end the same way."""

    ok: bool
    status: int | None = None  # of an HTTP answer
    error: str = ""
    hopeless: bool = False
    reached: frozenset[str] = frozenset()  # marks of readers of e-mail who have it now
