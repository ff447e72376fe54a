"""What a torchrun command line says about its launch. Pure; the command itself is never changed."""

from collections.abc import Mapping, Sequence
from pathlib import PurePath

MODULES = ("torch.distributed.run", "torch.distributed.launch")
PROGRAMS = ("torchrun", "torchrun.exe")
# Flags that take no value; every other one does.
SWITCHES = frozenset({"standalone", "module", "m", "no-python", "run-path", "use-env", "use_env", "virtual-local-rank"})
SHORT = {"m": "module", "r": "redirects", "t": "tee"}


class Flags(dict[str, str]):
    """Flag, written with dashes -> its value. `script`: index in argv of what torchrun is to start, -1 if unknown."""

    script = -1


def flags_of(argv: Sequence[str], environ: Mapping[str, str]) -> Flags | None:
    """The flags of a torchrun command, its PET_* variables where a flag is not given; None for another program."""
    first = _first_flag(argv)
    if first is None:
        return None
    found = Flags()
    for name, value in environ.items():
        if name.startswith("PET_"):
            found[name.removeprefix("PET_").lower().replace("_", "-")] = value
    _read(argv, first, found)
    return found


def nodes_of(flags: Mapping[str, str]) -> tuple[int, int]:
    """Fewest and most nodes: `--nnodes 2` or `--nnodes 1:4`; (1, 1) when it is not said."""
    low, _colon, high = flags.get("nnodes", "1").partition(":")
    fewest = _whole(low) or 1
    return fewest, max(fewest, _whole(high) or fewest)


def ranks_per_node(flags: Mapping[str, str], *, gpus: int, cpus: int) -> int:
    """`--nproc-per-node`, also as `gpu`, `cpu` and `auto`; 1 when it is not said."""
    text = flags.get("nproc-per-node", "1")
    words = {"gpu": gpus, "cpu": cpus, "auto": gpus or cpus}
    return max(1, words.get(text, 0) or _whole(text) or 1)


def _first_flag(argv: Sequence[str]) -> int | None:
    """Where torchrun's own arguments begin."""
    for index, word in enumerate(argv):
        if PurePath(word).name in PROGRAMS:
            return index + 1
        if word in MODULES and index and argv[index - 1] == "-m":
            return index + 1
        if word.endswith((".py", ".sh")):
            return None
    return None


def _read(argv: Sequence[str], index: int, found: Flags) -> None:
    while index < len(argv):
        word = argv[index]
        if not word.startswith("-") or word == "-":
            found.script = index
            return
        name, equals, value = word.lstrip("-").partition("=")
        name = SHORT.get(name, name).replace("_", "-")
        index += 1
        if not equals and name in SWITCHES:
            value = "1"
        elif not equals and index < len(argv):
            value, index = argv[index], index + 1
        found[name] = value


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
