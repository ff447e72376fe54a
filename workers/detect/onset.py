"""From which step on something lasts."""

from workers.detect.table import Bools


def onset(hit: Bools) -> int:
    """Row of the first step of the present state: of the last stretch of the window in which most steps are hit."""
    score, best, start = 0, 0, hit.size - 1
    for row in range(hit.size - 1, -1, -1):
        score += 1 if hit[row] else -1
        if score >= best and hit[row]:
            best, start = score, row
    return start
