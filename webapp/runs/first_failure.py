"""Which rank failed first, and why: pure. The others are its victims."""

import signal
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from webapp.runs import rank_reasons
from webapp.runs.models import Cause
from webapp.runs.rank_reasons import VICTIMS

_SENT_TO_VICTIMS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
RANK_REASONS = frozenset({"rank_exit", "killed_by_signal", "oom_killed", *rank_reasons.WORDS})


@dataclass(frozen=True, slots=True)
class Exit:
    """How one rank ended; `at` on the server's clock. `code` is None when a signal ended it."""

    rank: int
    node: str
    code: int | None
    signal: int | None
    at: datetime
    traceback: str = ""
    oom: bool = False
    oom_by: str = ""

    @property
    def failed(self) -> bool:
        return self.signal is not None or self.code != 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """Fixed words, and what fills the sentence. `certain`: it failed on its own, and was no victim of another."""

    cause: Cause
    reason: str
    detail: dict[str, object]
    certain: bool = True


def culprit(exits: Iterable[Exit]) -> Exit | None:
    """The first that failed on its own: victims of another's death come after all others."""
    failed = [exit_ for exit_ in exits if exit_.failed]
    return min(failed, key=lambda exit_: (_victimhood(exit_), exit_.at, exit_.rank), default=None)


def explain(exit_: Exit, made: dict[int, int] | None = None, nodes: int = 1) -> Verdict:
    """The cause, the fixed reason word and {rank, node, code, signal, text, oom_by, late} of one exit.

    `made`: rank -> steps made, as far as known; says who had not arrived when others waited in vain. `nodes`: of how
    many nodes the attempt is; where there is one, no network is between the ranks.
    """
    reason = _reason(exit_)
    detail: dict[str, object] = {
        "rank": exit_.rank,
        "node": exit_.node,
        "code": exit_.code,
        "signal": exit_.signal,
        "text": rank_reasons.complaint(exit_.traceback),
    }
    if exit_.oom_by:
        detail["oom_by"] = exit_.oom_by
    if reason == "collective_timeout":
        late = rank_reasons.absent(exit_.traceback)
        detail["late"] = rank_reasons.latecomer(made or {}) if late is None else late
    between_nodes = reason == "rendezvous" or (reason == "peer_gone" and nodes > 1)
    cause = Cause.NETWORK if between_nodes else Cause.CODE
    return Verdict(cause=cause, reason=reason, detail=detail, certain=not _victimhood(exit_))


def _victimhood(exit_: Exit) -> int:
    if exit_.signal in _SENT_TO_VICTIMS:
        return 2
    return 1 if _reason(exit_) in VICTIMS or (exit_.signal == signal.SIGABRT and not exit_.traceback) else 0


def _reason(exit_: Exit) -> str:
    """A signal speaks for itself; only one that a program sends itself leaves words that explain it."""
    word = rank_reasons.word_of(exit_.traceback) if exit_.signal in (None, signal.SIGABRT) else ""
    if word and word != "peer_gone":
        return word
    if exit_.oom:
        return "oom_killed"
    return word or ("killed_by_signal" if exit_.signal is not None else "rank_exit")
