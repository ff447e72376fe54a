"""The rank's progress word in shared memory: readable from outside whatever this process does, or does no more."""

from trainer_agent.rank.output import Output
from trainer_agent.rank.timeline import Field
from trainer_agent.wire import record


class Progress:
    """Phase, since when, collectives entered, and steps that wait for a device, at the head of the steps ring.

    Each is a field of its own, of one number: storing into it costs a third of what packing all of them does.
    """

    def __init__(self, output: Output) -> None:
        self.collectives = 0
        self._output = output
        self._collectives: Field = [0]
        self._ahead: Field = [0]

    def fields(self) -> tuple[Field, Field]:
        """Where the phase and its begin are shown: in the ring, which is opened for them, where it can be opened."""
        if not self._output.open():
            return [0], [0]
        ring = self._output.steps
        self._collectives, self._ahead = ring.field(record.COLLECTIVES_AT, "I"), ring.field(record.AHEAD_AT, "H")
        return ring.field(record.NOW_AT, "B"), ring.field(record.SINCE_AT, "q")

    def collective(self) -> None:
        """One more is entered."""
        self.collectives += 1
        self._collectives[0] = self.collectives & 0xFFFFFFFF

    def waiting(self, steps: int) -> None:
        """So many steps have ended and cannot be read yet."""
        self._ahead[0] = steps
