"""One dump file of one rank, as `torch._C._distributed_c10d._dump_fr_trace` or `…_json` writes it.

A dump comes from a stranger. It is read with an unpickler that builds plain values only: whatever names a class or a
function is refused before anything of it runs. What comes out is checked against types before anybody uses it.
"""

import io
import json
import pickle
import re
from dataclasses import dataclass
from typing import Any

import msgspec
from django.utils.translation import gettext as _

LARGEST = 64 * 1024 * 1024  # bytes of one dump; torch's own buffer of 2,000 entries takes about one million
_RANK_AT_THE_END = re.compile(r"(\d+)(?:\.(?:pkl|pickle|json|bin))?$")


class BadDump(ValueError):
    """A file that is no dump; the message is a sentence for the person who gave it."""


class Refused(pickle.UnpicklingError):
    """The file wants more than plain values."""


class Status(msgspec.Struct, frozen=True):
    """How far a rank has come in one group, in numbers of collectives."""

    last_enqueued_collective: int = -1
    last_completed_collective: int = -1


class Config(msgspec.Struct, frozen=True):
    """One process group. `ranks` is a list in JSON; gloo leaves it empty."""

    name: str = ""
    desc: str = ""
    ranks: str = "[]"


class Frame(msgspec.Struct, frozen=True):
    """One line of the call stack of a collective."""

    name: str = ""
    filename: str = ""
    line: int = 0


class Entry(msgspec.Struct, frozen=True):
    """One collective that the rank has enqueued."""

    pg_id: int
    process_group: tuple[str, str]
    collective_seq_id: int
    profiling_name: str
    is_p2p: bool = False
    input_sizes: list[list[int]] = []
    input_dtypes: list[str] = []
    frames: list[Frame] = []


class _Content(msgspec.Struct, frozen=True):
    version: str
    entries: list[Entry] = []
    pg_config: dict[str, Config] = {}
    pg_status: dict[str, Status] = {}


@dataclass(frozen=True, slots=True)
class Group:
    """One process group as one rank sees it. `ranks` is empty where the dump does not say."""

    name: str
    desc: str
    ranks: tuple[int, ...]
    enqueued: int
    completed: int


@dataclass(frozen=True, slots=True)
class Dump:
    """One rank's dump: its groups by name, and the newest collectives, oldest first."""

    rank: int
    groups: dict[str, Group]
    entries: tuple[Entry, ...]


class PlainUnpickler(pickle.Unpickler):
    """Numbers, texts, lists, tuples and dicts; nothing that has a class of its own."""

    def find_class(self, module: str, name: str) -> Any:
        """Every object of a class, and every call, has to come through here."""
        raise Refused(f"{module}.{name} is not allowed in a dump")

    def persistent_load(self, pid: Any) -> Any:
        """No references to anything outside of the file either."""
        raise Refused("a reference out of the dump is not allowed")


def rank_in(filename: str) -> int:
    """The rank is the number at the end of the file's name, as torch writes it (`nccl_trace_rank_3`)."""
    found = _RANK_AT_THE_END.search(filename)
    if found is None or len(found[1]) > 6:
        raise BadDump(_("%s: the name of a dump has to end in the number of its rank.") % filename)
    return int(found[1])


def read(filename: str, data: bytes) -> Dump:
    """The dump in a file's bytes, or BadDump with a sentence that names the file."""
    rank = rank_in(filename)
    if len(data) > LARGEST:
        raise BadDump(_("%s is larger than any flight-recorder dump.") % filename)
    try:
        content = msgspec.convert(_plain(data), type=_Content)
        return Dump(rank, _groups(content), tuple(content.entries))
    except Refused as error:
        raise BadDump(_("%(file)s was refused: %(why)s.") % {"file": filename, "why": error}) from error
    except Exception as error:  # a broken pickle raises whatever its bytes happen to mean
        raise BadDump(_("%s is not a flight-recorder dump.") % filename) from error


def _plain(data: bytes) -> Any:
    if data.lstrip()[:1] == b"{":
        return json.loads(data)
    return PlainUnpickler(io.BytesIO(data)).load()


def _groups(content: _Content) -> dict[str, Group]:
    named = _names(content)
    groups = {}
    for local, status in content.pg_status.items():
        name, desc = named.get(local, (local, ""))
        ranks = json.loads(content.pg_config[name].ranks) if name in content.pg_config else []
        members = tuple(sorted(int(rank) for rank in ranks))
        groups[name] = Group(name, desc, members, status.last_enqueued_collective, status.last_completed_collective)
    return groups


def _names(content: _Content) -> dict[str, tuple[str, str]]:
    """Local id of a group -> its name and description: status is kept by local id, configuration by name.

    An entry tells both. For a group without one, the two lists are in the same order, that of creation.
    """
    found = {}
    if len(content.pg_status) == len(content.pg_config):
        pairs = zip(sorted(content.pg_status, key=_number), sorted(content.pg_config, key=_number), strict=True)
        found = {local: (name, content.pg_config[name].desc) for local, name in pairs}
    return found | {str(entry.pg_id): entry.process_group for entry in content.entries}


def _number(key: str) -> tuple[int, str]:
    return (int(key), "") if key.isdecimal() else (-1, key)
