"""What a detector says, and what an incident is opened and kept up by."""

from dataclasses import dataclass, field
from typing import Any

STRAGGLER, WANDERING, STRUCTURAL, REGRESSION = "straggler", "wandering", "structural", "regression"
NETWORK, INPUT, OVERLAP, DEVICE = "network", "input", "overlap", "device"
HANG, IDLE, ALONE, TELEMETRY = "hang", "idle", "alone", "telemetry"

JOB = "job"


@dataclass(frozen=True, slots=True)
class Finding:
    """One subject, one verdict.

    `subject`: `rank 3`, `node 1`, `link 0-1` or `job`; with the kind it names the incident that the finding belongs to.
    `cause`: data forward backward optimizer other cpu gpu network code unknown. `probable`: no second signal
    confirms the cause. `slowdown`: by how much the step is longer than it would be without it (0.2: 20 %).
    `since`: the first step of it; None where it is no matter of steps. `evidence`: numbers in seconds or shares that
    the sentence and the page quote. `victims`: ranks that only wait for the subject. `stopped`: nothing moves at all.
    `idle_slots`: held, and nothing runs on them.
    """

    kind: str
    subject: str
    cause: str
    slowdown: float
    since: int | None
    probable: bool = True
    rank: int | None = None
    node_rank: int | None = None
    link: tuple[int, int] | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
    victims: tuple[int, ...] = ()
    stopped: bool = False
    idle_slots: int = 0
