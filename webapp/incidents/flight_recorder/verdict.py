"""Who did not come along, from the dumps of a job that hangs. Pure.

Rules, for every group in which collectives run (groups of point-to-point traffic count by nature differently):

call      ranks called different things under the same number: the job cannot go on, whoever is right
device    a rank has completed fewer collectives than its peers: its device is stuck in one
host      a rank has called fewer than its peers and waits for nothing: its own code has not come to the call
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from webapp.incidents.flight_recorder.reading import Dump, Entry, Frame

# Ranks may give different sizes to the others (all_to_all, gather of uneven parts).
_NOT_THEIRS = ("/torch/", "/trainer_agent/rank/")  # lines that are not the script's
_SAME_SIZE_EVERYWHERE = ("all_reduce", "allreduce", "broadcast", "_all_gather_base", "_reduce_scatter_base")


@dataclass(frozen=True, slots=True)
class Lag:
    """One rank in one group: it has come to collective `at`, the first of its peers to `peers`."""

    rank: int
    group: str
    at: int
    peers: int


@dataclass(frozen=True, slots=True)
class Call:
    """What some ranks called under one number of one group, and from where."""

    ranks: tuple[int, ...]
    what: str
    frame: Frame | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind` is call, device, host or none. `ranks`: the culprits, empty where the dumps name nobody."""

    kind: str
    ranks: tuple[int, ...] = ()
    lags: tuple[Lag, ...] = ()
    calls: tuple[Call, ...] = ()
    group: str = ""
    seq: int | None = None
    dumps: int = 0
    absent: tuple[int, ...] = field(default=())  # members of a group that gave no dump


def examine(dumps: Iterable[Dump]) -> Verdict:
    """The verdict over one dump per rank."""
    by_rank = {dump.rank: dump for dump in dumps}
    told = {rank for dump in by_rank.values() for group in dump.groups.values() for rank in group.ranks}
    found = _different_calls(by_rank) or _stuck_devices(by_rank) or _stuck_hosts(by_rank) or Verdict("none")
    return Verdict(
        found.kind,
        found.ranks,
        found.lags,
        found.calls,
        found.group,
        found.seq,
        dumps=len(by_rank),
        absent=tuple(sorted(told - set(by_rank))),
    )


def called_fewer(dumps: Iterable[Dump]) -> tuple[int, ...]:
    """The ranks that called the fewest collectives, where all run in one group: also of gloo, which does not say how
    many are completed.
    """
    by_rank = {dump.rank: dump for dump in dumps}
    groups = _collective_groups(by_rank)
    if len(groups) != 1:
        return ()
    ((name, members),) = groups.items()
    called = {rank: by_rank[rank].groups[name].enqueued for rank in members}
    least = min(called.values())
    return tuple(rank for rank in members if called[rank] == least < max(called.values()))


def _different_calls(dumps: dict[int, Dump]) -> Verdict | None:
    """The earliest number in a group under which not all ranks called the same."""
    calls: dict[tuple[str, int], dict[int, Entry]] = defaultdict(dict)
    for dump in dumps.values():
        for entry in dump.entries:
            if not entry.is_p2p:
                calls[entry.process_group[0], entry.collective_seq_id][dump.rank] = entry
    for (name, seq), by_rank in sorted(calls.items(), key=lambda item: item[0][1]):
        shapes = {rank: _shape(entry) for rank, entry in by_rank.items()}
        if len(set(shapes.values())) > 1:
            usual, votes = Counter(shapes.values()).most_common(1)[0]
            odd = tuple(sorted(rank for rank, shape in shapes.items() if shape != usual))
            clear = votes > len(shapes) / 2
            return Verdict(
                "call",
                odd if clear else (),
                calls=_calls(by_rank, shapes),
                group=_title(dumps, name),
                seq=seq,
            )
    return None


def _calls(by_rank: dict[int, Entry], shapes: dict[int, str]) -> tuple[Call, ...]:
    together: dict[str, list[int]] = defaultdict(list)
    for rank in sorted(shapes):
        together[shapes[rank]].append(rank)
    return tuple(Call(tuple(ranks), what, _where(by_rank[ranks[0]])) for what, ranks in together.items())


def _stuck_devices(dumps: dict[int, Dump]) -> Verdict | None:
    lags = [
        Lag(rank, _title(dumps, name), dumps[rank].groups[name].completed, most)
        for name, members in _collective_groups(dumps).items()
        for most in [max(dumps[rank].groups[name].completed for rank in members)]
        for rank in members
        if dumps[rank].groups[name].completed < most
    ]
    return _verdict("device", lags)


def _stuck_hosts(dumps: dict[int, Dump]) -> Verdict | None:
    idle = {rank for rank, dump in dumps.items() if all(g.enqueued <= g.completed for g in dump.groups.values())}
    lags = [
        Lag(rank, _title(dumps, name), dumps[rank].groups[name].enqueued, most)
        for name, members in _collective_groups(dumps).items()
        for most in [max(dumps[rank].groups[name].enqueued for rank in members)]
        for rank in members
        if dumps[rank].groups[name].enqueued < most and rank in idle
    ]
    return _verdict("host", lags)


def _verdict(kind: str, lags: list[Lag]) -> Verdict | None:
    if not lags:
        return None
    ordered = sorted(lags, key=lambda lag: (lag.rank, lag.at - lag.peers))
    return Verdict(kind, tuple(sorted({lag.rank for lag in lags})), lags=tuple(ordered))


def _collective_groups(dumps: dict[int, Dump]) -> dict[str, list[int]]:
    """Name of a group -> the ranks of it that gave a dump, without the kinds of groups that carry pipelines."""
    pipes = {entry.process_group for dump in dumps.values() for entry in dump.entries if entry.is_p2p}
    names = {name for name, _desc in pipes}
    kinds = {desc for _name, desc in pipes if desc}
    members: dict[str, list[int]] = defaultdict(list)
    for rank in sorted(dumps):
        for name, group in dumps[rank].groups.items():
            if name not in names and group.desc not in kinds:
                members[name].append(rank)
    return members


def _title(dumps: dict[int, Dump], name: str) -> str:
    """What people know a group by."""
    desc = next((dump.groups[name].desc for dump in dumps.values() if name in dump.groups), "")
    return name if desc in ("", "undefined") else desc


def _shape(entry: Entry) -> str:
    operation = entry.profiling_name.rpartition(":")[2]
    if operation not in _SAME_SIZE_EVERYWHERE:
        return operation
    sizes = ", ".join("×".join(map(str, size)) or "1" for size in entry.input_sizes)
    return f"{operation} {sizes} {' '.join(sorted(set(entry.input_dtypes)))}".strip()


def _where(entry: Entry) -> Frame | None:
    """The innermost line of the script itself."""
    own = [frame for frame in entry.frames if not any(part in frame.filename for part in _NOT_THEIRS)]
    return own[0] if own else None
