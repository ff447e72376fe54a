"""`Trainer(logger=PacelineLogger())`: what every rank logs, by Lightning's own global step."""

import sys
from argparse import Namespace
from typing import TYPE_CHECKING, Any

import paceline

if TYPE_CHECKING or ("pytorch_lightning" in sys.modules and "lightning" not in sys.modules):
    from pytorch_lightning.loggers import Logger
else:
    try:
        from lightning.pytorch.loggers import Logger
    except ImportError:
        from pytorch_lightning.loggers import Logger


class PacelineLogger(Logger):
    """Not for rank 0 only: each rank's numbers are its own line. Does nothing outside a run."""

    @property
    def name(self) -> str:
        """Lightning names folders by it."""
        return "paceline"

    @property
    def version(self) -> str:
        """Lightning names folders by it."""
        return "0"

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """What `self.log` came to."""
        paceline.log(metrics, step)

    def log_hyperparams(self, params: dict[str, Any] | Namespace, *args: Any, **kwargs: Any) -> None:
        """What `save_hyperparameters` kept."""
        paceline.config(vars(params) if isinstance(params, Namespace) else params)
