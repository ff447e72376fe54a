"""Typed messages. Within WIRE_VERSION only optional fields are added. Times are epoch seconds of the sender.

Column bytes are little-endian arrays: `u4` ranks, `i8` steps, `f8` times and values, `us` = u4 microseconds with
`record.MISSING_US` for unseen.
"""

from typing import Any

import msgspec

WIRE_VERSION = 1


class Message(msgspec.Struct, omit_defaults=True, kw_only=True, frozen=True, forbid_unknown_fields=False, gc=False):
    """Base of everything on the wire. `gc=False`: no message can hold itself."""


# ---- node to server, by stream


class StepColumns(Message, frozen=True):
    """`n` step records of this node's ranks. `columns`: metric name -> `us` bytes; see `METRIC_OF_PHASE`."""

    n: int
    rank: bytes  # u4
    step: bytes  # i8
    end: bytes  # f8
    columns: dict[str, bytes]
    nbytes: bytes = b""  # f8, bytes all-reduced
    flags: bytes = b""  # u4


class ValueColumns(Message, frozen=True):
    """`n` points of one key that the script logged. A NaN value is a value, not a gap."""

    key: str
    n: int
    rank: bytes  # u4
    step: bytes  # i8
    time: bytes  # f8
    value: bytes  # f8


class SampleColumns(Message, frozen=True):
    """`n` samples of one device or process metric (`gpu/util`, `rank/rss`, `node/net_rx`). A gap has no sample."""

    metric: str
    n: int
    rank: bytes  # u4; for node/* the node's rank in the attempt
    time: bytes  # f8
    value: bytes  # f8


class LogBytes(Message, frozen=True):
    """`data` at byte `offset` of one rank's log (rank -1: the launcher).

    `skipped_lines`: so many lines between the byte sent before and `offset` are not sent; the node's file has them.
    """

    rank: int
    offset: int
    data: bytes
    at: float
    skipped_lines: int = 0


class Event(Message, frozen=True):
    """Something that happened on the node, in order with the data around it.

    kind and its data:
    `accepted`       {command}                    the node took a start command
    `refused`        {command, reason, detail}    it could not: port_in_use, no_workdir, no_script, git, upload, spawn
    `launched`       {pid}                        the shim started the launcher
    `rank_started`   {pid, python, torch, cuda, nccl}; of an attached launch {pid, local_rank, world_size}
    `rank_facts`     {…}                          what the probe can see, total steps if guessed, framework versions;
                     config: settings that the script told, flat text; claims: [pid, pid] of two living processes
                     that say that they are this rank, the second one is read
    `provenance`     {folder, environment, python, executable, packages, commit, branch, remote, dirty, diff, diff_cut,
                     untracked}   what the launch is made of on this node, what is known of it; see docs/wire.md
    `imported`       {cursor, config}             of an import: how far its files were read, settings found in them
    `rank_exited`    {code, signal, traceback, max_rss_kb, oom, oom_by}   code is null when a signal ended it;
                     oom_by: what says that memory ran out: cuda, kernel_log, cgroup, kernel_count
    `dropped`        {what, count, reason, first, last}   data that will never come; first, last: numbers of its steps
    `counted`        {made, taken}                step records that the rank wrote, and of these the ones taken to send
    `autopsy`        {asked, …}                   what the rank was doing, see docs/wire.md, "Autopsy"
    `stopping`       {signal, grace}
    `finished`       {launcher_code, launcher_signal, survivors, reason}   always last; all logs came before it
    """

    kind: str
    at: float
    rank: int | None = None
    data: dict[str, Any] = {}


class Batch(Message, tag="batch", frozen=True):
    """One message of one node about one attempt. `seq` is contiguous from 1; the spool keeps it until acknowledged."""

    v: int
    attempt: int
    node: str
    seq: int
    sent_at: float
    events: list[Event] = []
    steps: list[StepColumns] = []
    values: list[ValueColumns] = []
    samples: list[SampleColumns] = []
    logs: list[LogBytes] = []


# ---- node to server, by key with a time to live


class SlotFacts(Message, frozen=True):
    """One GPU, or one CPU slot. None where the device does not say."""

    index: int
    kind: str  # gpu | cpu
    model: str = ""
    uuid: str = ""
    memory_total: int | None = None  # bytes
    memory_used: int | None = None
    util: float | None = None  # per cent
    power: float | None = None  # W
    temperature: float | None = None  # °C
    sm_clock: float | None = None  # MHz


class Inventory(Message, frozen=True):
    """What a node is."""

    hostname: str
    address: str  # reachable from the other nodes
    slots: list[SlotFacts]
    cpu_model: str = ""
    cpus: int = 0
    memory_total: int = 0
    driver: str = ""
    python: str = ""
    torch: str = ""
    nccl: str = ""
    boot_id: str = ""
    agent_version: str = ""
    addresses: list[str] = []  # all of its network interfaces
    knows: list[str] = []  # commands that came after version 1: `check`


class AttemptAlive(Message, frozen=True):
    """An attempt that this node holds. `ranks` are those whose process lives now.

    `made`: by rank, how many step records it has written; `taken`: how many of these are in the spool or were sent.
    """

    attempt: int
    ranks: list[int] = []
    shim: bool = True
    spool_bytes: int = 0
    unacked: int = 0
    made: dict[int, int] = {}
    taken: dict[int, int] = {}


class Heartbeat(Message, tag="heartbeat", frozen=True):
    """Every 2 s, kept for HEARTBEAT_TTL."""

    v: int
    node: str
    at: float
    inventory: Inventory
    attempts: list[AttemptAlive] = []
    clock_offset: float | None = None  # server minus node, seconds
    clock_error: float | None = None
    cpu: float | None = None  # per cent
    memory_used: int | None = None
    dirty: str = ""  # names the holder when a slot is not clean
    trouble: str = ""  # a sentence: what keeps this node from saying everything, such as a full disk


# ---- server to node


class StartAttempt(Message, tag="start", frozen=True):
    """Start one attempt's launcher on this node. Doing it twice is doing it once (`id`)."""

    v: int
    id: int
    attempt: int
    run: str
    attempt_number: int
    node_rank: int
    nnodes: int
    ranks_per_node: int
    master_addr: str
    master_port: int
    argv: list[str]  # the user's script or command with its arguments
    env: dict[str, str] = {}
    slots: list[int] = []
    workdir: str = ""
    git_url: str = ""
    git_ref: str = ""
    upload_sha256: str = ""
    grace: float = 20.0
    stop_signal: str = "SIGTERM"
    timeout: float | None = None
    deep: bool = False
    peers: dict[int, list[str]] = {}  # node rank -> addresses, of all nodes of the attempt


class StopAttempt(Message, tag="stop", frozen=True):
    """Stop it: signal, grace period, kill of the whole tree, proof."""

    v: int
    id: int
    attempt: int
    signal: str = "SIGTERM"
    grace: float = 20.0
    reason: str = ""


class ForgetAttempt(Message, tag="forget", frozen=True):
    """The run was deleted: stop what lives, drop spool and run folder, send nothing more."""

    v: int
    id: int
    attempt: int


class AutopsyAttempt(Message, tag="autopsy", frozen=True):
    """Say what each of this node's ranks is doing: one event `autopsy` per rank, with the number `asked`."""

    v: int
    id: int
    attempt: int
    asked: int


class OpenCheck(Message, tag="check_open", frozen=True):
    """Look at yourself, listen for the other nodes, and tell both; see docs/wire.md, "Pre-flight".

    Who shows `token` may connect, for `lasts` seconds. `ports`: first and last of the rendezvous ports.
    """

    v: int
    id: int
    check: int
    token: str
    ports: list[int]
    folder: str = ""  # where the run will write; empty: where run folders are
    lasts: float = 60.0


class CheckPeer(Message, frozen=True):
    """Where another node of the check listens. `port` 0: nowhere."""

    node: str
    address: str
    port: int = 0
    meeting_port: int = 0


class ProbePeers(Message, tag="check_probe", frozen=True):
    """Measure the links to the others, one at a time: in turn k to `peers[turns[k]]`, -1 is a pause.

    Turn k ends at the latest `limit * (k + 1)` seconds after the order came. Data flow for `window` seconds each way.
    """

    v: int
    id: int
    check: int
    stage: str  # told back with the answer
    place: int  # which of `peers` is this node
    peers: list[CheckPeer]
    turns: list[int]
    limit: float
    window: float


Command = StartAttempt | StopAttempt | ForgetAttempt | AutopsyAttempt | OpenCheck | ProbePeers

# record.PHASES -> metric name; `comm_total` is DDP's whole communication span, waiting included.
METRIC_OF_PHASE = {
    "step": "phase/step",
    "data": "phase/data",
    "forward": "phase/forward",
    "backward": "phase/backward",
    "exposed_comm": "phase/exposed_comm",
    "optimizer": "phase/optimizer",
    "other": "phase/other",
    "comm_total": "comm/total",
}
