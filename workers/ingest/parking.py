"""Messages that could not be read or applied are kept, counted and shown; the others go on."""

from webapp.live.publish import run_changed
from webapp.runs.models import Attempt
from webapp.telemetry.models import Parked
from workers.ingest.received import Item

KEPT = 64 * 1024


def park(attempt: Attempt, node_uid: str, item: Item) -> None:
    """Keep the message's first 64 kB. The same one, sent again, is kept once."""
    payload = item.raw[:KEPT]
    known = Parked.objects.filter(attempt=attempt, node_uid=node_uid, size=len(item.raw))
    if any(bytes(row) == payload for row in known.values_list("payload", flat=True)[:20]):
        return
    reason = item.reason.replace("\x00", "␀")[:500]
    Parked.objects.create(
        attempt=attempt, node_uid=node_uid, seq=item.seq, reason=reason, size=len(item.raw), payload=payload
    )
    run_changed(attempt.run)
