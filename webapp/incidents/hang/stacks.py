"""Stacks of many ranks: which are the same, and which line of them is the script's own. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from webapp.incidents.hang.facts import Facts, Frame

_NOT_THEIRS = ("/lib/python3", "<frozen", "/trainer_agent/rank/")
SAVES = ("torch/serialization.py", "torch/distributed/checkpoint/", "safetensors/")
COMPILES = ("torch/_inductor/", "torch/_dynamo/", "torch/_functorch/", "triton/")

_TAKES_DOWN = "destroy_process_group"


@dataclass(frozen=True, slots=True)
class Group:
    """Ranks whose main threads are at the same place."""

    ranks: tuple[int, ...]
    frames: tuple[Frame, ...]


def groups(ranks: Mapping[int, Facts]) -> list[Group]:
    """The smallest group first: who is alone somewhere is worth the first look."""
    together: dict[tuple[Frame, ...], list[int]] = {}
    for rank in sorted(ranks):
        together.setdefault(ranks[rank].main, []).append(rank)
    found = [Group(tuple(members), frames) for frames, members in together.items()]
    return sorted(found, key=lambda group: (not group.frames, len(group.ranks), group.ranks))


def own_line(frames: Sequence[Frame]) -> Frame | None:
    """The innermost line of the script itself. Paths inside installed packages are told without what leads there."""
    return next((frame for frame in frames if is_own(frame)), frames[0] if frames else None)


def is_own(frame: Frame) -> bool:
    """Not of Python, torch, another installed package or the probe."""
    return frame.filename.startswith("/") and not any(part in frame.filename for part in _NOT_THEIRS)


def passes_through(frames: Sequence[Frame], places: Sequence[str]) -> bool:
    """Whether any line is in one of these files."""
    return any(place in frame.filename for frame in frames for place in places)


def leaves(frames: Sequence[Frame]) -> bool:
    """Whether the script takes the process group down, or has returned so that only the interpreter's end is left."""
    return any(frame.name == _TAKES_DOWN for frame in frames) or not any(is_own(frame) for frame in frames)
