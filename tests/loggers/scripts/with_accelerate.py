"""One rank trains with Accelerate."""

from accelerate import Accelerator
from paceline.accelerate import PacelineTracker

accelerator = Accelerator(log_with=PacelineTracker(), cpu=True)
accelerator.init_trackers("project", config={"lr": 0.25, "model": {"width": 8}})
for step in range(3):
    accelerator.log({"loss": 1.0 / (step + 1)}, step=10 * step)
accelerator.end_training()
