"""What goes in and out of `/incidents`."""

from datetime import datetime
from typing import Any, Literal

from ninja import Schema
from pydantic import BaseModel, ConfigDict, Field


class IncidentEventOut(Schema):
    """One line of an incident's timeline."""

    at: datetime
    kind: str
    actor: str
    text: str


class IncidentOut(Schema):
    """What is wrong with one subject of a run, and what it costs. `slowdown` 0.2: a step takes 20 % longer."""

    id: int
    run: str
    attempt: int
    kind: str
    subject: str
    rank: int | None
    node: str | None
    link: list[str] | None
    cause: str
    probable: bool
    confirmed_by: str | None
    severity: str
    slowdown: float
    gpu_hours: float
    opened_step: int | None
    opened_at: datetime
    closed_at: datetime | None
    sentence: str
    next_step: str
    evidence: dict[str, Any]
    victims: list[int]
    acknowledged_by: str | None
    assignee: str | None
    events: list[IncidentEventOut]


class CommentIn(BaseModel):
    """What a person says."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=10_000)


class AssignIn(BaseModel):
    """Whose it becomes; empty: nobody's."""

    model_config = ConfigDict(extra="forbid")

    username: str = ""


class CauseIn(BaseModel):
    """What somebody found to be the cause."""

    model_config = ConfigDict(extra="forbid")

    cause: Literal["data", "forward", "backward", "optimizer", "other", "cpu", "gpu", "network", "code"]
