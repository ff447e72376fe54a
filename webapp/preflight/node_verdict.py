"""What is wrong with single nodes, and where they are not alike: pure."""

import ipaddress
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from webapp.preflight.answers import Seen
from webapp.preflight.finding import AMBER, RED, Finding

GB = 1024**3
DISK = (1 * GB, 10 * GB)  # less free is red, amber
SHARED = (GB // 32, GB // 2)
CLOCK_APART = 0.5  # seconds
NEAR_SLOWDOWN = 5  # °C below the temperature at which the device slows down
_MUST_AGREE = ("torch", "nccl")  # to the second number: ranks of other versions cannot talk to each other
_SHOULD_AGREE = ("python",)


def judge(nodes: Sequence[Seen]) -> list[Finding]:
    """Findings about all nodes, in their order."""
    told = [node for node in nodes if node.facts]
    return [
        *(finding for node in nodes for finding in _absent(node)),
        *_loopback(nodes),
        *(finding for node in told for finding in (*_room(node), *_gpus(node))),
        *_unlike(told),
        *_clocks(nodes),
    ]


def _absent(node: Seen) -> Iterator[Finding]:
    if node.presence == "too_old":
        yield Finding(AMBER, "too_old", (node.name,), {"version": node.agent_version})
    elif node.presence == "unreachable":
        yield Finding(AMBER, "unreachable", (node.name,))
    elif not node.facts:
        yield Finding(AMBER, "silent", (node.name,))
    elif node.presence != "measured":
        yield Finding(AMBER, "unmeasured", (node.name,))


def _loopback(nodes: Sequence[Seen]) -> Iterator[Finding]:
    """An address that leads every machine to itself, where others have real ones."""
    own = [node for node in nodes if _is_loopback(node.address)]
    if len(own) < sum(bool(node.address) for node in nodes):
        for node in own:
            yield Finding(RED, "loopback", (node.name,), {"address": node.address})


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def _room(node: Seen) -> Iterator[Finding]:
    for kind, (least, enough) in (("disk", DISK), ("shared", SHARED)):
        place = _mapping(node.facts.get(kind))
        free, path = place.get("free"), str(place.get("path", ""))
        if free is None:
            if path and kind == "disk":
                yield Finding(RED, "no_folder", (node.name,), {"path": path})
        elif not place.get("writable", True):
            yield Finding(RED, "not_writable", (node.name,), {"path": path})
        elif _number(free) < enough:
            level = RED if _number(free) < least else AMBER
            yield Finding(level, kind, (node.name,), {"path": path, "free": _number(free)})


def _gpus(node: Seen) -> Iterator[Finding]:
    gpus = node.facts.get("gpus")
    for gpu in gpus if isinstance(gpus, list) else ():
        for level, kind, told in _of_gpu(_mapping(gpu)):
            yield Finding(level, f"gpu_{kind}", (node.name,), {"gpu": gpu.get("index"), **told})


def _of_gpu(gpu: Mapping[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    if gpu.get("lost"):
        yield RED, "lost", {}
        return
    if gpu.get("remap_failed"):
        yield RED, "remap_failed", {}
    if _number(gpu.get("uncorrected")) > 0:
        yield RED, "uncorrected", {"count": int(_number(gpu.get("uncorrected")))}
    if gpu.get("retire_pending") or gpu.get("remap_pending"):
        yield AMBER, "retire_pending", {}
    slowed = gpu.get("slowed")
    if isinstance(slowed, list) and slowed:
        yield AMBER, "slowed", {"by": ", ".join(map(str, slowed))}
    temperature, limit = _number(gpu.get("temperature")), _number(gpu.get("slows_at"))
    if limit and temperature > limit - NEAR_SLOWDOWN:
        yield AMBER, "hot", {"temperature": temperature, "limit": limit}


def _unlike(nodes: Sequence[Seen]) -> Iterator[Finding]:
    """Versions, and kinds of GPU, that most of the nodes do not have."""
    for name in (*_MUST_AGREE, *_SHOULD_AGREE):
        yield from _differing(name, {n.name: str(_mapping(n.facts.get("versions")).get(name) or "") for n in nodes})
    yield from _differing("driver", {n.name: str(n.facts.get("driver") or "") for n in nodes})
    yield from _differing("gpu", {n.name: _kinds(n) for n in nodes})


def _differing(what: str, has: Mapping[str, str]) -> Iterator[Finding]:
    counts = Counter(has.values())
    if len(counts) < 2:
        return
    common = max(counts, key=lambda version: (counts[version], bool(version), version))
    for version in sorted(counts.keys() - {common}):
        names = tuple(name for name, own in has.items() if own == version)
        cannot = what in _MUST_AGREE and version and common and _release(version) != _release(common)
        told = {"what": what, "has": version, "others": common}
        yield Finding(RED if cannot else AMBER, "unlike" if version and common else "unlike_none", names, told)


def _release(version: str) -> list[str]:
    return version.split("+", maxsplit=1)[0].split(".")[:2]


def _kinds(node: Seen) -> str:
    gpus = node.facts.get("gpus")
    kinds = Counter(str(_mapping(gpu).get("model", "")) for gpu in (gpus if isinstance(gpus, list) else ()))
    return ", ".join(f"{count} × {model}" for model, count in sorted(kinds.items()))


def _clocks(nodes: Sequence[Seen]) -> Iterator[Finding]:
    for node in nodes:
        if node.clock_offset is not None and abs(node.clock_offset) > CLOCK_APART + (node.clock_error or 0.0):
            yield Finding(AMBER, "clock", (node.name,), {"seconds": node.clock_offset})


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
