"""What can happen to an attempt on this node (happenings), and what is to be done about it (actions)."""

from dataclasses import dataclass, field
from typing import Any

from trainer_agent.wire.messages import StartAttempt

# ---- happenings


@dataclass(frozen=True, slots=True)
class Start:
    """The server wants it started."""

    command: StartAttempt


@dataclass(frozen=True, slots=True)
class Stop:
    """The server wants it stopped."""

    signal: str
    grace: float
    reason: str


@dataclass(frozen=True, slots=True)
class Forget:
    """The run was deleted."""


@dataclass(frozen=True, slots=True)
class Examine:
    """The server wants to know what every rank is doing; `asked` is the number of its question."""

    asked: int


@dataclass(frozen=True, slots=True)
class Examined:
    """What every rank was doing."""

    asked: int
    ranks: dict[int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Ready:
    """Code and port are in place for this command."""

    command_id: int


@dataclass(frozen=True, slots=True)
class CannotStart:
    """Preparation or launch failed. `reason` is a fixed word of messages.Event's `refused`."""

    command_id: int
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class ShimUp:
    """The shim holds the launcher `pid`."""

    pid: int


@dataclass(frozen=True, slots=True)
class RankStarted:
    """rank<r>.started.json appeared."""

    rank: int
    at: float
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RankExited:
    """rank<r>.exited.json appeared."""

    rank: int
    at: float
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class StopSeen:
    """stop.json is there, whoever wrote it."""

    order: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ShimLost:
    """The shim is gone and left no exit.json."""


@dataclass(frozen=True, slots=True)
class ShimExited:
    """exit.json appeared. `port_in_use`: the launcher said so, before any rank started."""

    content: dict[str, Any]
    port_in_use: bool = False


@dataclass(frozen=True, slots=True)
class Drained:
    """Every byte and record that was left is in the spool."""


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """The server's database has everything."""


Happening = (
    Start
    | Stop
    | Forget
    | Examine
    | Examined
    | Ready
    | CannotStart
    | ShimUp
    | RankStarted
    | RankExited
    | StopSeen
    | ShimLost
    | ShimExited
    | Drained
    | Acknowledged
)

# ---- actions


@dataclass(frozen=True, slots=True)
class Report:
    """Tell the server: one messages.Event. `at` None means now."""

    kind: str
    data: dict[str, Any] = field(default_factory=dict)
    rank: int | None = None
    at: float | None = None


@dataclass(frozen=True, slots=True)
class Prepare:
    """Get code and port ready, in the background."""

    command: StartAttempt


@dataclass(frozen=True, slots=True)
class Launch:
    """Start the shim."""

    command: StartAttempt


@dataclass(frozen=True, slots=True)
class WriteStop:
    """Tell the shim to stop."""

    signal: str
    grace: float
    reason: str


@dataclass(frozen=True, slots=True)
class LookInside:
    """Find out what every rank is doing, in the background; `Examined` follows."""

    asked: int


@dataclass(frozen=True, slots=True)
class CleanTree:
    """End what a lost shim left behind; exit.json follows."""


@dataclass(frozen=True, slots=True)
class Reset:
    """Remove the files of a launch that did not come to be."""


@dataclass(frozen=True, slots=True)
class CleanUp:
    """Drop spool, rings and secrets; keep logs."""


@dataclass(frozen=True, slots=True)
class Remove:
    """Drop everything."""


Action = Report | Prepare | Launch | WriteStop | LookInside | CleanTree | Reset | CleanUp | Remove
