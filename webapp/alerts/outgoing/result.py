"""How a message fared."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """`hopeless`: trying again would end the same way."""

    ok: bool
    status: int | None = None  # of an HTTP answer
    error: str = ""
    hopeless: bool = False
