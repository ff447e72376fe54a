"""The words of the table of addresses: who may, and how an address answers the others."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from webapp.projects.models import Role

ANYBODY, PERSON, OWNER, SITE, MACHINE = "anybody", "person", "owner", "site", "machine"
ANY_EDITOR = "editor somewhere"  # of any project: strangers of this one are refused with 403


@dataclass(frozen=True)
class Rule:
    """`who`: a Role in the project of the address, or one of the words above. `args`: names of `world.py` by part of
    the address, where the default is another. `odd`: answers to who may, beside success, such as 409.
    """

    who: str
    reads: bool = True
    writes: bool = False
    hidden: bool = False  # logged out: 404 instead of the way to the login page
    scope: str = ""  # the API: the least scope of a token
    args: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] | None = None
    odd: tuple[int, ...] = ()


def page(who: str, *, hidden: bool = False, odd: tuple[int, ...] = (), **args: str) -> Rule:
    """Read by GET."""
    return Rule(who, hidden=hidden, odd=odd, args=args)


def form(who: str, *, odd: tuple[int, ...] = (), **args: str) -> Rule:
    """Shown by GET, sent by POST."""
    return Rule(who, writes=True, odd=odd, args=args)


def act(who: str, *, odd: tuple[int, ...] = (), **args: str) -> Rule:
    """Sent by POST only."""
    return Rule(who, reads=False, writes=True, odd=odd, args=args)


def read(who: str, *, odd: tuple[int, ...] = (), **args: str) -> Rule:
    """An API operation that only reads: scope `read`."""
    return Rule(who, scope="read", odd=odd, args=args)


def write(who: str, data: Mapping[str, Any] | None = None, *, odd: tuple[int, ...] = (), **args: str) -> Rule:
    """An API operation that changes something: scope `write`."""
    return Rule(who, reads=False, writes=True, scope="write", data=data, odd=odd, args=args)


def administer(who: str, data: Mapping[str, Any] | None = None, **args: str) -> Rule:
    """An API operation with the scope `admin`."""
    return replace(write(who, data), scope="admin", args=args)


VIEWER, EDITOR, ADMIN = Role.VIEWER.value, Role.EDITOR.value, Role.ADMIN.value
