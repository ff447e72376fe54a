"""A run's settings from its command: `--lr 0.1`, `--lr=0.1`, `-b 32`, `--amp`, `model.lr=0.1`; and variables. Pure."""

import math
import re
from collections.abc import Mapping, Sequence

from trainer_agent.wire.hidden import MASK, looks_secret
from webapp.history.models import LONGEST_TEXT

MOST = 2_000
_OPTION = re.compile(r"--?([A-Za-z][\w.\-/]*)(?:=(.*))?\Z", re.DOTALL)
_PAIR = re.compile(r"[+~]{0,2}([A-Za-z_][\w.\-/@]*)=(.*)\Z", re.DOTALL)
_NUMBER = re.compile(r"-\d|-\.\d")
_LAUNCHERS = ("torch.distributed.run", "torch.distributed.launch")


def settings_of(argv: Sequence[str], env: Mapping[str, str], *, attached: bool = False) -> dict[str, str]:
    """Name to value; variables as `env.NAME`. `attached`: argv starts with a launcher, whose flags are none."""
    found = _arguments(_script_part(argv) if attached else list(argv[1:]))
    found |= {f"env.{name}": value for name, value in env.items()}
    kept = {
        name: value[:LONGEST_TEXT]
        for name, value in found.items()
        if len(name) <= LONGEST_TEXT and not looks_secret(name) and value != MASK
    }
    return dict(list(kept.items())[:MOST])


def number(text: str) -> float | None:
    """The value as a finite number, None for other text."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _arguments(words: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    at = 0
    while at < len(words):
        option, pair = _OPTION.match(words[at]), _PAIR.match(words[at])
        at += 1
        if option and option[2] is not None:
            found[option[1]] = option[2]
        elif option:
            taken = at < len(words) and (not words[at].startswith("-") or _NUMBER.match(words[at]))
            found[option[1]] = words[at] if taken else "true"
            at += bool(taken)
        elif pair:
            found[pair[1]] = pair[2]
    return found


def _script_part(argv: Sequence[str]) -> list[str]:
    """What follows the script or module that the launcher starts."""
    for at, word in enumerate(argv):
        if word.endswith(".py"):
            return list(argv[at + 1 :])
        if word == "-m" and at + 1 < len(argv) and argv[at + 1] not in _LAUNCHERS:
            return list(argv[at + 2 :])
    return list(argv[1:])
