"""All detectors over one window: a rank that is late explains what the job as a whole shows, so it is asked first."""

from workers.detect.baseline import Baseline
from workers.detect.finding import STRAGGLER, STRUCTURAL, Finding
from workers.detect.straggler import stragglers
from workers.detect.table import Table
from workers.detect.whole_job import whole_job

LEAST = 0.03  # slowdown below which nothing is worth a word


def judge(
    table: Table, baseline: Baseline | None, *, on_gpu: bool = False, late_before: frozenset[int] = frozenset()
) -> list[Finding]:
    """Findings of one window, most costly first. `late_before`: ranks that are known to be late and not yet in line."""
    told = table.rows(table.told)
    found = stragglers(told, on_gpu=on_gpu, late_before=late_before)
    if not any(finding.kind in (STRAGGLER, STRUCTURAL) for finding in found):
        found = [*found, *whole_job(told, baseline)]
    return sorted((f for f in found if f.slowdown >= LEAST), key=lambda finding: -finding.slowdown)
