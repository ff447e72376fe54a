"""`Trainer(callbacks=[PacelineCallback()])`: what the Hugging Face Trainer logs, on every rank."""

from typing import Any

import paceline
from transformers import TrainerCallback


class PacelineCallback(TrainerCallback):  # type: ignore[misc]
    """Does nothing outside a run."""

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """The arguments of the training, without what names a token."""
        try:
            paceline.config(args.to_sanitized_dict())
        except Exception:  # of another version; the training goes on
            return

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        """By the Trainer's global step."""
        numbers = {key: value for key, value in (logs or {}).items() if isinstance(value, int | float)}
        paceline.log(numbers, getattr(state, "global_step", None))
