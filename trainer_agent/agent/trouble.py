"""What a disk that refuses means for people, in a sentence."""

import os
from collections.abc import Iterable

from trainer_agent.wire.whole_file import NO_ROOM


def sentence(errors: Iterable[OSError | None]) -> str:
    """For the heartbeat; empty when the disk takes everything."""
    found = next((error for error in errors if error is not None), None)
    if found is None:
        return ""
    return f"{reason(found)}: telemetry waits there, training goes on."


def reason(error: Exception) -> str:
    """Why something could not be done on this node."""
    if not isinstance(error, OSError):
        return str(error)
    if error.errno in NO_ROOM:
        return "No space is left on the node's disk"
    return f"The node's disk refuses ({os.strerror(error.errno)})" if error.errno else str(error)
