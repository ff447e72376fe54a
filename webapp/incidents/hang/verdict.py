"""Who did not come along, and doing what. Pure: facts of every rank in, one verdict with its reason out.

Asked in this order, the first that holds is the verdict:

over        no rank's process is there any more
gone        a rank's process is not there, and another rank waits
stopped     a rank is stopped from outside: signal, debugger, frozen container (state T)
node        a node cannot be reached, and its ranks with it
moving      nobody is stuck: evaluation, a long load
call        the ranks called different collectives under one number
busy        a rank answers nobody and computes: native code holds its interpreter
storage     a rank sleeps in the kernel (state D) outside of a collective: disk, network file system, driver
partition   everybody waits in a collective and bytes on the wire are not acknowledged
behind      a rank has not come to the collective in which the others wait: loader, own code
device      a rank has completed fewer collectives than its peers, or waits in an earlier one
together    all are at the same place outside of a collective
library     all wait in the same collective and the wires are idle
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from webapp.incidents.flight_recorder import verdict as recorder
from webapp.incidents.flight_recorder.reading import Dump
from webapp.incidents.hang.facts import Facts, Frame, dump_of
from webapp.incidents.hang.stacks import COMPILES, SAVES, leaves, own_line, passes_through

# How many times longer than usual to wait before it is called a hang.
USUAL, BUSY, UNHEARD, SLOW_BY_NATURE = 1.0, 2.0, 3.0, 6.0
_NAMES_NOBODY = ("together", "library", "unknown")  # whoever has not answered yet may be the one
_CAUSE_OF_PHASE = {"data": "data", "other": "other", "optimizer": "other", "": "unknown"}


@dataclass(frozen=True, slots=True)
class Call:
    """What some ranks called under one number, and from where."""

    ranks: tuple[int, ...]
    what: str
    frame: Frame | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """`ranks`: the culprits, empty where nobody is to blame. `seconds`: for so long they are in `phase`."""

    kind: str
    cause: str
    ranks: tuple[int, ...] = ()
    probable: bool = True
    phase: str = ""
    seconds: float | None = None
    frame: Frame | None = None
    task: str = ""  # saving | compiling, where the stack shows it
    calls: tuple[Call, ...] = ()
    links: tuple[tuple[int, str], ...] = ()  # (rank, address of the peer) whose bytes are not acknowledged
    patience: float = USUAL
    victims: tuple[int, ...] = ()


Ranks = Mapping[int, Facts]
_Rule = Callable[[Ranks], Verdict | None]


def judge(ranks: Ranks, unreachable: Collection[int] = (), quick: float = 0.0, unheard: bool = False) -> Verdict:
    """The verdict over what is known. `unreachable`: ranks whose nodes are silent; they are not in `ranks`.

    `unheard`: nodes that can be reached have not answered yet for some of their ranks. Ranks of which all have made a
    step within `quick` seconds are not stuck, wherever each of them is.
    """
    living = {rank: facts for rank, facts in ranks.items() if facts.alive}
    gone = tuple(sorted(set(ranks) - set(living)))
    if gone and not living:
        return Verdict("over", "unknown")  # the run's end is on the way
    if gone and not any(facts.waits for facts in living.values()):
        return Verdict("moving", "unknown")  # nobody misses them: the last ranks are on their way out
    found = (
        (Verdict("gone", "unknown", gone, probable=False) if gone else None)
        or _stopped(living)
        or (Verdict("node", "network", tuple(sorted(unreachable))) if unreachable else None)
        or (Verdict("moving", "unknown") if living and all(f.stepped(quick) for f in living.values()) else None)
        or _first(living)
        or Verdict("unknown", "unknown")
    )
    if unheard and found.kind in _NAMES_NOBODY:
        found = Verdict("unknown", "unknown", patience=UNHEARD)
    others = tuple(sorted(set(living) - set(found.ranks))) if found.ranks else ()
    return replace(found, victims=others)


def _first(ranks: Ranks) -> Verdict | None:
    if not ranks:
        return None
    rules: tuple[_Rule, ...] = (
        _moving,
        _different_calls,
        _busy,
        _storage,
        _partition,
        _behind,
        _not_called,
        _device,
        _together,
        _library,
    )
    return next((found for rule in rules if (found := rule(ranks)) is not None), None)


def _stopped(ranks: Ranks) -> Verdict | None:
    return _named("stopped", "other", ranks, lambda f: f.state in ("T", "t"), probable=False)


def _moving(ranks: Ranks) -> Verdict | None:
    return Verdict("moving", "unknown") if all(facts.moves for facts in ranks.values()) else None


def _different_calls(ranks: Ranks) -> Verdict | None:
    found = recorder.examine(_dumps(ranks))
    if found.kind != "call":
        return None
    calls = tuple(Call(call.ranks, call.what, _frame(call)) for call in found.calls)
    return Verdict("call", "code", found.ranks, probable=False, calls=calls)


def _busy(ranks: Ranks) -> Verdict | None:
    return _named("busy", "code", ranks, lambda f: f.is_silent and f.is_busy and not f.waits, probable=False)


def _storage(ranks: Ranks) -> Verdict | None:
    return _named("storage", "data", ranks, lambda f: f.state == "D" and not f.waits and not f.is_busy)


def _partition(ranks: Ranks) -> Verdict | None:
    links = tuple((rank, stuck.peer) for rank in sorted(ranks) for stuck in ranks[rank].stuck_sockets)
    if not links or not all(facts.waits for facts in ranks.values()):
        return None
    return Verdict("partition", "network", probable=False, links=links)


def _behind(ranks: Ranks) -> Verdict | None:
    """By the progress words: the ranks of the least progress, unless they wait themselves."""
    known = {rank: facts for rank, facts in ranks.items() if facts.phase}
    first = max((facts.place for facts in known.values()), default=(0, 0))
    late = {rank: facts for rank, facts in known.items() if facts.place < first and not facts.waits}
    if not late:
        return None
    least = min(facts.place for facts in late.values())
    return _verdict("behind", tuple(rank for rank in sorted(late) if late[rank].place == least), ranks)


def _not_called(ranks: Ranks) -> Verdict | None:
    """The same by the flight recorder, where our own count does not tell."""
    dumps = _dumps(ranks)
    found = recorder.examine(dumps)
    culprits = found.ranks if found.kind == "host" else recorder.called_fewer(dumps)
    late = tuple(rank for rank in culprits if not ranks[rank].waits)
    return _verdict("behind", late, ranks) if late else None


def _device(ranks: Ranks) -> Verdict | None:
    dumps = _dumps(ranks)
    # Of gloo the recorder's count of what is completed lags behind at every rank.
    by_device = all(entry.profiling_name.startswith("nccl") for dump in dumps for entry in dump.entries)
    found = recorder.examine(dumps) if dumps and by_device else recorder.Verdict("none")
    if found.kind == "device":
        return Verdict("device", "gpu", found.ranks)
    places = [facts.place for facts in ranks.values() if facts.phase]
    early = tuple(r for r in sorted(ranks) if ranks[r].waits and ranks[r].place < max(places, default=(0, 0)))
    return Verdict("device", "unknown", early) if early else None


def _together(ranks: Ranks) -> Verdict | None:
    known = {rank: facts for rank, facts in ranks.items() if facts.phase}
    if not known or any(facts.waits for facts in known.values()):
        return None
    found = _verdict("together", tuple(sorted(known)), ranks)
    works = any(facts.is_busy or facts.device_is_busy for facts in known.values())
    # The last step is made, and a busy machine takes its time to end the processes.
    ends = all(facts.phase == "other" and leaves(facts.main) for facts in known.values())
    least = SLOW_BY_NATURE if works or ends else BUSY
    return replace(found, ranks=(), patience=max(found.patience, least))


def _library(ranks: Ranks) -> Verdict | None:
    return Verdict("library", "unknown") if all(facts.waits for facts in ranks.values()) else None


def _verdict(kind: str, culprits: tuple[int, ...], ranks: Ranks) -> Verdict:
    facts = ranks[culprits[0]]
    task = _task(facts)
    patience = USUAL
    if task or facts.moves:
        patience = SLOW_BY_NATURE
    elif facts.is_busy and facts.phase in ("data", "other"):
        patience = BUSY
    return Verdict(
        kind,
        _CAUSE_OF_PHASE.get(facts.phase, "code"),
        culprits,
        probable=not facts.stacks,
        phase=facts.phase,
        seconds=facts.in_phase_s,
        frame=own_line(facts.main),
        task=task,
        patience=patience,
    )


def _task(facts: Facts) -> str:
    if passes_through(facts.main, SAVES):
        return "saving"
    return "compiling" if passes_through(facts.main, COMPILES) else ""


def _named(
    kind: str, cause: str, ranks: Ranks, holds: Callable[[Facts], bool], *, probable: bool = True
) -> Verdict | None:
    culprits = tuple(rank for rank in sorted(ranks) if holds(ranks[rank]))
    if not culprits:
        return None
    facts = ranks[culprits[0]]
    line = own_line(facts.main)
    return Verdict(kind, cause, culprits, probable, facts.phase, facts.in_phase_s, line)


def _dumps(ranks: Ranks) -> list[Dump]:
    found = (dump_of(rank, facts) for rank, facts in ranks.items())
    return [dump for dump in found if dump is not None]


def _frame(call: recorder.Call) -> Frame | None:
    return None if call.frame is None else Frame(call.frame.name, call.frame.filename, call.frame.line)
