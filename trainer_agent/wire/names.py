"""Every Redis name, in one place. `node` is a Node.uid, `attempt` an Attempt primary key, `run` a Run.uid."""

PREFIX = "pl"
FIELD = "b"  # the one field of every stream entry: an encoded message

HEARTBEAT_TTL = 15  # seconds; a node silent for longer is unreachable
LIVE_MAXLEN = 2_000  # frames kept per run for Last-Event-ID
ALIVE_TTL = 10  # seconds; a server part that shows no sign of life for longer is not ready
ALIVE_PARTS = ("worker", "beat", "ingest")


def commands(node: str) -> str:
    """Stream, server to node: `messages.Command` entries."""
    return f"{PREFIX}:cmd:{node}"


def telemetry(attempt: int, node: str) -> str:
    """Stream, node to ingest: `messages.Batch` entries, contiguous `seq` from 1."""
    return f"{PREFIX}:tel:{attempt}:{node}"


def acks(node: str) -> str:
    """Hash, ingest to node: attempt -> highest `seq` that the database has; field gone = keep waiting."""
    return f"{PREFIX}:ack:{node}"


def heartbeat(node: str) -> str:
    """String with a time to live, node to server: one `messages.Heartbeat`."""
    return f"{PREFIX}:hb:{node}"


def live(run: str) -> str:
    """Capped stream, ingest to browsers: frames of one run, field `b` holds JSON."""
    return f"{PREFIX}:live:{run}"


def live_list() -> str:
    """Capped stream, anyone to browsers: `{"run": uid, "project": id}` when a run's list row changed."""
    return f"{PREFIX}:live-list"


def wake_ingest() -> str:
    """Stream whose entries tell ingest that the set of live attempts changed."""
    return f"{PREFIX}:wake-ingest"


def alive(part: str) -> str:
    """String with a time to live: the sign of life of one of ALIVE_PARTS, for /healthz."""
    return f"{PREFIX}:alive:{part}"


def agent_acl(node: str, redis7: bool) -> list[str]:
    """ACL rules for a node's own user: reads its commands and acks, writes its telemetry and heartbeat."""
    read, write = ("%R~", "%W~") if redis7 else ("~", "~")
    keys = [
        f"{read}{commands(node)}",
        f"{read}{acks(node)}",
        f"{write}{PREFIX}:tel:*:{node}",
        f"{write}{heartbeat(node)}",
    ]
    commands_allowed = ["+xread", "+hgetall", "+xadd", "+set", "+ping", "+time", "+client|setinfo", "+hello"]
    if not redis7:
        commands_allowed = ["+client" if c == "+client|setinfo" else c for c in commands_allowed]
    return ["reset", "on", "resetchannels", *keys, "-@all", *commands_allowed]
