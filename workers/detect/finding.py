"""What a detector says about data."""

from dataclasses import dataclass, field
from typing import Any

STRAGGLER, WANDERING, STRUCTURAL, REGRESSION = "straggler", "wandering", "structural", "regression"
NETWORK, INPUT, TELEMETRY = "network", "input", "telemetry"
OVERLAP, DEVICE = "overlap", "device"

JOB = "job"


@dataclass(frozen=True, slots=True)
class Finding:
    """One subject, one verdict.

    `subject`: `rank 3`, `node 1`, `link 0-1` or `job`; with the kind it names the incident that the finding belongs to.
    `cause`: data forward backward optimizer other cpu gpu network code unknown. `probable`: no second signal
    confirms the cause. `slowdown`: by how much the step is longer than it would be without it (0.2: 20 %).
    `since`: the first step of it. `evidence`: numbers in seconds or shares that the sentence and the page quote.
    """

    kind: str
    subject: str
    cause: str
    slowdown: float
    since: int
    probable: bool = True
    rank: int | None = None
    node: int | None = None
    link: tuple[int, int] | None = None
    evidence: dict[str, Any] = field(default_factory=dict)
