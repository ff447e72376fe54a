"""What slows all ranks alike: a change against the run's own past, the network, the input. Names no rank."""

from webapp.incidents.finding import INPUT, JOB, NETWORK, REGRESSION, Finding
from webapp.telemetry.spread import middle
from workers.detect.baseline import Baseline, numbers, shift
from workers.detect.overlap import lost_overlap
from workers.detect.table import PARTS, Floats, Table

REGRESSED = 0.10  # longer than usual
TRANSFER_MORE = 0.15
WORTH = 0.05  # of the step
STARVED = 0.20  # of the step spent on waiting for data, by the typical rank
_NEWEST = 10
_ONE_PART = 0.6  # of the change
_OF_TRANSFER = 0.5  # of the change


def whole_job(table: Table, baseline: Baseline | None) -> list[Finding]:
    """Findings about the job as a whole, for steps in which no rank is late by itself."""
    if table.steps.size < _NEWEST:
        return []
    now = numbers(table)
    found = lost_overlap(table, now, baseline) or _network(table, now, baseline) or _regression(table, now, baseline)
    return [*found, *_input(table, now, found)]


def _network(table: Table, now: dict[str, Floats], baseline: Baseline | None) -> list[Finding]:
    """The transfer itself takes longer: that of the rank that waits least."""
    usual = baseline.usual.get("transfer") if baseline else None
    if usual is None:
        return []
    moved = shift(now["transfer"], usual)
    if moved is None or moved[0] < TRANSFER_MORE:
        return []
    more = moved[0] * usual.middle
    step = _newest(now["step"])
    if more < WORTH * step:
        return []
    evidence = {"transfer": usual.middle + more, "usual": usual.middle}
    onset = int(table.steps[moved[1]])
    return [Finding(NETWORK, JOB, "network", more / (step - more), onset, evidence=evidence)]


def _regression(table: Table, now: dict[str, Floats], baseline: Baseline | None) -> list[Finding]:
    if baseline is None or "step" not in baseline.usual:
        return []
    moved = shift(now["step"], baseline.usual["step"])
    if moved is None or moved[0] < REGRESSED:
        return []
    more = {name: _newest(now[name]) - usual.middle for name, usual in baseline.usual.items()}
    if more.get("transfer", 0.0) >= _OF_TRANSFER * more["step"]:
        return []  # the network's, as soon as that is certain
    own = {part: more[part] for part in PARTS if more.get(part, 0.0) > 0}
    top, total = max(own, key=lambda part: own[part], default=""), sum(own.values())
    # Where the ranks wait longer for each other than they work longer, no part of the work is the cause.
    named = total >= more.get("exposed", 0.0) and own.get(top, 0.0) >= _ONE_PART * total > 0
    cause = top if named else "unknown"
    evidence = {"step": _newest(now["step"]), "usual": baseline.usual["step"].middle}
    return [Finding(REGRESSION, JOB, cause, moved[0], int(table.steps[moved[1]]), evidence=evidence)]


def _input(table: Table, now: dict[str, Floats], found: list[Finding]) -> list[Finding]:
    """All ranks wait for data all the time, whether or not that is new."""
    share = _newest(now["data"]) / _newest(now["step"])
    if not share >= STARVED or any(finding.cause == "data" for finding in found):
        return []
    evidence = {"data": _newest(now["data"]), "step": _newest(now["step"])}
    return [Finding(INPUT, JOB, "data", share / (1 - share), int(table.steps[0]), probable=False, evidence=evidence)]


def _newest(values: Floats) -> float:
    return middle(values[-_NEWEST:])
