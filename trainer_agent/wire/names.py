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


def telemetry_pattern() -> str:
    """Glob that finds every telemetry stream."""
    return f"{PREFIX}:tel:*"


def telemetry_place(key: str) -> tuple[int, str] | None:
    """Attempt and node of a telemetry stream's name; None when it is no such name."""
    parts = key.split(":")
    if len(parts) == 4 and parts[2].isdecimal():
        return int(parts[2]), parts[3]
    return None


def acks(node: str) -> str:
    """Hash, ingest to node: attempt -> highest `seq` that the database has; field gone = keep waiting."""
    return f"{PREFIX}:ack:{node}"


def heartbeat(node: str) -> str:
    """String with a time to live, node to server: one `messages.Heartbeat`."""
    return f"{PREFIX}:hb:{node}"


def live(run: str) -> str:
    """Capped stream, ingest to browsers: frames of one run, field `b` holds JSON."""
    return f"{PREFIX}:live:{run}"


def watched(run: str) -> str:
    """Key with a time to live, pages to ingest: somebody looks at this run, so frames of it are wanted."""
    return f"{PREFIX}:watched:{run}"


def live_list() -> str:
    """Capped stream, anyone to browsers: `{"run": uid, "project": id}` when a run's list row changed."""
    return f"{PREFIX}:live-list"


def watching() -> str:
    """String with a time to live: since when (epoch s) the server has read heartbeats without a pause."""
    return f"{PREFIX}:watching"


def failed_joins(address: str) -> str:
    """Counter with a time to live: refused join calls of one address."""
    return f"{PREFIX}:failed-joins:{address}"


def wake_ingest() -> str:
    """Stream whose entries tell ingest that the set of live attempts changed."""
    return f"{PREFIX}:wake-ingest"


def points_stored() -> str:
    """Counter, ingest to /metrics: points that it has stored."""
    return f"{PREFIX}:points-stored"


def http_requests() -> str:
    """Hash, web processes to /metrics: `[method, route, status, cell]` as JSON to a number."""
    return f"{PREFIX}:http"


def cache() -> str:
    """How the names of Django's cache begin, which the web processes share: `pl:cache:…`."""
    return f"{PREFIX}:cache"


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
    # No `client`: Redis 6 cannot allow SETINFO without KILL, and the library goes on when SETINFO is refused.
    commands_allowed = ["+xread", "+hgetall", "+xadd", "+set", "+ping", "+time", "+hello"]
    return ["reset", "on", "resetchannels", *keys, "-@all", *commands_allowed]
