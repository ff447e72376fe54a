"""All detectors over one window: a rank that is late explains what the job as a whole shows, so it is asked first."""

from dataclasses import replace

from webapp.incidents.finding import JOB, STRAGGLER, STRUCTURAL, WANDERING, Finding
from workers.detect.baseline import Baseline
from workers.detect.straggler import stragglers
from workers.detect.table import Floats, Table
from workers.detect.whole_job import whole_job
from workers.detect.work_size import for_equal_work

LEAST = 0.02  # slowdown below which nothing is worth a word


def judge(
    table: Table,
    baseline: Baseline | None,
    *,
    on_gpu: bool = False,
    late_before: frozenset[int] = frozenset(),
    work: Floats | None = None,
) -> list[Finding]:
    """Findings of one window, most costly first. `late_before`: ranks that are known to be late and not yet in line.

    `work`: what each rank was given in each step, in the table's shape, where the script tells.
    """
    told = table.rows(table.told)
    found = stragglers(told, on_gpu=on_gpu, late_before=late_before)
    even = for_equal_work(told, work[table.told]) if work is not None else None
    if even is not None:
        by_themselves = stragglers(even, on_gpu=on_gpu, late_before=late_before)
        found = [*by_themselves, *_by_their_work(found, by_themselves)]
    if not any(finding.kind in (STRAGGLER, STRUCTURAL) for finding in found):
        found = [*found, *whole_job(told, baseline)]
    return sorted((f for f in found if f.slowdown >= LEAST), key=lambda finding: -finding.slowdown)


def _by_their_work(found: list[Finding], by_themselves: list[Finding]) -> list[Finding]:
    """What is left of `found` when lateness for any other reason than more work is taken out: names no rank."""
    subjects = {finding.subject for finding in by_themselves}
    late = [one for one in found if one.kind == STRAGGLER and one.subject not in subjects]
    if not late or any(one.kind == STRUCTURAL for one in by_themselves):
        taking_turns = [one for one in found if one.kind == WANDERING and not by_themselves]
        return [replace(one, cause="code", probable=False) for one in taking_turns]
    worst = max(late, key=lambda finding: finding.slowdown)
    told = {"ranks": float(len(late)), "by_work": 1.0}
    since = min(finding.since for finding in late if finding.since is not None)
    return [Finding(STRUCTURAL, JOB, "code", worst.slowdown, since, probable=False, evidence=told)]
