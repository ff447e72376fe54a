"""What goes in and out, for validation and for the OpenAPI page. Field names are a contract with scripts."""

from datetime import datetime
from typing import Annotated, Any, Literal

from django.utils.translation import gettext as _
from ninja import Schema
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, field_validator

from webapp.runs.spec import RunSpec, check_text


def _text(name: str) -> str:
    check_text(name, _("The name"))
    return name


Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=120), AfterValidator(_text)]


class Failure(Schema):
    """Every answer from 400 on."""

    code: str = Field(description="stable word, such as not_found, forbidden, invalid")
    message: str = Field(description="a sentence for people")
    fields: dict[str, str] = Field(description="a sentence for each field that needs another value")


class RunIn(RunSpec):
    """A run to start: where, its name, its secrets, and the fields of its spec beside them."""

    project: str = Field(description="slug of the project")
    name: Name
    secrets: dict[str, str] = Field(default={}, description="environment values that nobody can read back")

    @field_validator("attached")
    @classmethod
    def _launched_here(cls, attached: bool) -> bool:
        if attached:
            raise ValueError("A launch that is made elsewhere is attached by “paceline attach” or /api/v1/attach.")
        return attached


class AttachIn(BaseModel):
    """One node's part of a launch that was made elsewhere."""

    model_config = ConfigDict(extra="forbid")

    project: str = Field(default="", description="slug; may be left out by who can start runs in one project only")
    name: Name
    member: Annotated[str, Field(min_length=16, max_length=64, description="random name of this agent")]
    job: Annotated[str, Field(max_length=300, description="names the job on all its nodes; empty: one node only")] = ""
    launch: Annotated[str, Field(max_length=100, description="tells launches of a job apart, if counted")] = ""
    node_rank: Annotated[int | None, Field(ge=0, lt=1024, description="null: in order of arrival")] = None
    argv: Annotated[list[str], Field(min_length=1, max_length=10_000, description="the command as it was typed")]
    nodes: Annotated[int, Field(ge=1, le=1024)] = 1
    ranks_per_node: Annotated[int, Field(ge=1, le=64)] = 1
    inventory: dict[str, Any] = Field(description="what the machine is; see docs/wire.md")


class AttachOut(Schema):
    """Where it is seen, and credentials of an agent that reports about this part only."""

    run: str
    url: str
    attempt: int
    attempt_number: int
    node: str
    node_name: str
    node_rank: int
    token: str
    redis_url: str


class RunChange(BaseModel):
    """What may change later. Left out means unchanged."""

    model_config = ConfigDict(extra="forbid")

    name: Name | None = None
    retries: Annotated[int | None, Field(ge=0, le=100)] = None


class RunOut(Schema):
    """A run with the state of its newest attempt."""

    id: str
    name: str
    project: str
    status: str = Field(description="queued, starting, running, stopping or ended")
    outcome: str | None = Field(description="succeeded, failed, stopped or lost; null until it is known")
    cause: str | None = Field(description="code, node, agent, network, user or limit")
    world_size: int
    nodes: int
    steps: int = Field(description="optimizer steps done")
    attempt: int = Field(description="number of the newest attempt")
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None
    url: str
    owner: str
    reason: str
    sentence: str = Field(description="how it ended or what it waits for, in words")
    cleanup: str = Field(description="names processes that its nodes could not end; empty when nothing is left")
    command: str = Field(description="what the nodes start")
    total_steps: int | None
    steps_per_s: float | None
    last_loss: float | None
    node_names: list[str]
    commit: str = Field(description="of the repository that holds its script; empty when there is none or not known")
    dirty: bool | None = Field(description="whether the code differed from the commit; null when not known")
    spec: dict[str, Any]


class EventOut(Schema):
    """One entry of the run's own log."""

    at: datetime
    attempt: int | None
    kind: str
    level: str
    actor: str
    rank: int | None
    text: str
    data: dict[str, Any]


class MetricOut(Schema):
    """One metric that an attempt has."""

    name: str
    unit: str
    axis: str = Field(description="step, or time in epoch seconds")
    points: int


class RankLedger(Schema):
    """Steps of one rank from making to storing."""

    made: int
    sent: int
    stored: int
    dropped: int
    gaps: list[tuple[int, int, str]] = Field(description="[first step, last step, reason]")


class SlotHours(Schema):
    """What the slot time of a run went to, all attempts together; the seven parts add up to slots x wall_s."""

    slots: int
    wall_s: float = Field(description="seconds for which so many slots were asked for")
    queued: float = Field(description="slot-seconds, as all that follow")
    starting: float
    useful: float
    repeated: float = Field(description="steps that a later attempt did again")
    waiting: float = Field(description="for the slowest rank of a step")
    stalled: float
    idle: float = Field(description="held, but no step was made")


class LedgerOut(Schema):
    """What became of every step record of an attempt."""

    attempt: int
    ranks: dict[str, RankLedger]
    hours: SlotHours


class AlertOut(Schema):
    """A rule that fires on a run."""

    id: int
    project: str
    run: str
    run_name: str
    attempt: int
    rule: str
    severity: str
    metric: str | None = Field(description="null: the rule is on incidents")
    rank: int | None = Field(description="whose value it is, of node/… the node; null: of no one rank")
    value: float | None
    incident: int | None
    sentence: str
    opened_at: datetime
    closed_at: datetime | None
    told_at: datetime | None = Field(description="when the channels were told; null: nobody was told yet")
    silenced: str = Field(description="why nobody was told when it opened")


class AutopsyOut(Schema):
    """What every rank was doing at one moment. `complete`: no more answers are waited for, `verdict` stands."""

    id: int
    run: str
    attempt: int
    asked_at: datetime
    asked_by: str
    complete: bool
    sentence: str
    answered: str
    verdict: dict[str, Any]
    ranks: dict[str, dict[str, Any]]


class SlotOut(Schema):
    """One GPU or CPU slot."""

    index: int
    kind: str
    model: str
    run: str | None = Field(description="the run that holds it, if you may see that run")
    free: bool


class NodeOut(Schema):
    """A machine with an agent."""

    id: str
    name: str
    address: str
    alive: bool
    state: str = Field(description="ready, late, draining, drained, dirty or unreachable")
    sentence: str = Field(description="what the state means, in words; empty when ready")
    trouble: str = Field(description="what keeps the node from saying everything, such as a full disk")
    draining: bool
    last_heard: datetime | None
    agent_version: str
    clock_offset: float | None
    slots_total: int
    slots_free: int
    slots: list[SlotOut]
    inventory: dict[str, Any]


class CheckIn(BaseModel):
    """Nodes to check, by name or id; none: all."""

    model_config = ConfigDict(extra="forbid")

    nodes: Annotated[list[str], Field(max_length=1024)] = []


class CheckFinding(Schema):
    """One thing that a check found. `nodes`: the one at fault first."""

    level: str = Field(description="amber or red")
    nodes: list[str]
    sentence: str
    next: str


class CheckLink(Schema):
    """One direction of the link between two nodes, over one TCP connection."""

    source: str
    target: str
    level: str
    error: str | None = Field(description="refused, unreachable, silent, broken or late; null when they can talk")
    mb_s: float | None
    rtt_ms: float | None
    usual_mb_s: float | None = Field(description="median of this pair's earlier checks, null before there are three")


class CheckOut(Schema):
    """A check of nodes and their links. `done`: no more answers are waited for, `level` stands."""

    id: int
    run: str | None
    asked_at: datetime
    asked_by: str
    done: bool
    level: str | None = Field(description="green, amber or red; null until it is done")
    sentence: str
    nodes: list[str]
    findings: list[CheckFinding]
    links: list[CheckLink]
    url: str


class ProjectOut(Schema):
    """A project that you are in."""

    slug: str
    name: str
    role: str
    created_at: datetime


class TokenIn(BaseModel):
    """A token to make."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[Name, Field(max_length=80)]
    scope: Literal["read", "write", "admin"] = "write"
    days: Annotated[int | None, Field(gt=0, le=3650, description="until it expires; null: never")] = None


class TokenOut(Schema):
    """One of your tokens, without its secret."""

    id: int
    name: str
    scope: str = Field(description="read, write (also changes runs) or admin (also tokens, nodes and projects)")
    hint: str = Field(description="the secret's first characters")
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime | None


class ServiceTokenIn(BaseModel):
    """A token of a project to make."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[Name, Field(max_length=80)]
    role: Literal["viewer", "editor", "admin"] = "editor"
    days: Annotated[int | None, Field(gt=0, le=3650, description="until it expires; null: never")] = None


class TokenMade(TokenOut):
    """A token just made."""

    token: str = Field(description="the secret, shown this once")


class PersonOut(Schema):
    """Who you are to this server."""

    username: str
    name: str


class UploadOut(Schema):
    """Code on the server: give `sha256` to a run as `upload_sha256`."""

    sha256: str
    size: int
    files: int
