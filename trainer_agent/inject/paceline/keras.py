"""`model.fit(…, callbacks=[PacelineCallback()])`: what Keras logs after every batch and epoch, on every rank."""

from typing import Any

import paceline
from keras.callbacks import Callback


class PacelineCallback(Callback):  # type: ignore[misc]  # Keras comes without types
    """Does nothing outside a run. Steps are batches, counted from 0 over all epochs."""

    def __init__(self) -> None:
        super().__init__()
        self._step = -1

    def on_train_begin(self, logs: Any = None) -> None:
        """The arguments of `fit` that Keras tells."""
        paceline.config(self.params or {})

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
        """Keras's means since the epoch began."""
        self._step += 1
        paceline.log(logs or {}, self._step)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """What was validated; the others are there already."""
        paceline.log({key: value for key, value in (logs or {}).items() if key.startswith("val_")}, max(self._step, 0))
