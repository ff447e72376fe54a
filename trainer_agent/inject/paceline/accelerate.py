"""`Accelerator(log_with=PacelineTracker())`: what `accelerator.log` is given, on every rank."""

from typing import Any

import paceline
from accelerate.tracking import GeneralTracker


class PacelineTracker(GeneralTracker):  # type: ignore[misc]  # Accelerate comes without types
    """Does nothing outside a run."""

    name = "paceline"
    requires_logging_directory = False
    main_process_only = False

    def __init__(self, run_name: str = "", **kwargs: Any) -> None:
        super().__init__()
        self.run_name = run_name

    @property
    def tracker(self) -> Any:
        """What does the logging: the module `paceline`."""
        return paceline

    def store_init_configuration(self, values: dict[str, Any]) -> None:
        """What `init_trackers` was given."""
        paceline.config(values)

    def log(self, values: dict[str, Any], step: int | None = None, **kwargs: Any) -> None:
        """By the script's own step."""
        paceline.log(values, step)
