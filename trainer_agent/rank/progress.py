"""The rank's progress word in shared memory: readable from outside whatever this process does, or does no more."""

from collections.abc import Callable
from time import time

from trainer_agent.rank.output import Output
from trainer_agent.rank.recorder import Recorder


class Progress:
    """Phase, collectives entered, and steps that wait for a device, at the head of the steps ring."""

    def __init__(self, output: Output, recorder: Recorder) -> None:
        self.collectives = 0
        self._output = output
        self._recorder = recorder
        self._show: Callable[..., None] | None = None

    def now(self, phase: int) -> None:
        """`phase` (an index of `timeline.PARTS`) begins or goes on. About 1 µs."""
        if self._show is None:
            if not self._output.open():
                return
            self._show = self._output.steps.show
        self._show(phase + 1, self._recorder.waiting, self.collectives & 0xFFFFFFFF, time())
