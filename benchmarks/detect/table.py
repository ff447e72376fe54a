"""The table that the bench prints, a line per run."""

from collections.abc import Iterator

from benchmarks.detect.verdict import Found, Verdict

_ROW = "{:28} {:>5} {:>6} {:9} {:9} {:9} {:>7} {:>8} {:>6}"


def title() -> str:
    """Above all."""
    return _ROW.format("row", "seed", "steps", "found", "subject", "cause", "steps+", "seconds+", "false")


def line(verdict: Verdict) -> str:
    """What became of one run."""
    case, found = verdict.seen.case, verdict.found
    told = [one for one in found if one.spotted]
    return _ROW.format(
        case.row,
        case.seed,
        len(verdict.seen.clock),
        _of(len(told), found),
        _of(sum(one.right_subject for one in told), found),
        _of(sum(one.right_cause for one in told), tuple(one for one in found if one.expected.causes)),
        max((one.steps for one in told), default="-") if not case.hangs else "-",
        f"{max(one.seconds for one in told):.1f}" if told else "-",
        len(verdict.false),
    )


def explain(verdict: Verdict) -> Iterator[str]:
    """A line for each thing that is not as it should be."""
    seen = verdict.seen
    for found in verdict.found:
        expected = found.expected
        if found.spotted is None:
            yield f"    missed: {'/'.join(expected.kinds)} of {' or '.join(expected.subjects)}; {seen.sentence}"
        elif not found.right_subject or (expected.causes and not found.right_cause):
            wanted = f"{' or '.join(expected.subjects)} by {' or '.join(expected.causes)}"
            yield f"    wanted {wanted}; told: {_words(found)}"
        elif found.is_hang:
            yield f"    {found.after_limit_s:+.1f} s after the limit of {found.spotted.limit_s:g} s: {_words(found)}"
    for one in verdict.abstained:
        yield f"    abstained: {one.sentence}"
    for one in verdict.false:
        yield f"    false: {one.kind} of {one.subject}, since step {one.opened_step}: {one.sentence}"


def _words(found: Found) -> str:
    one = found.spotted
    return f"{one.kind} of {one.subject} by {one.cause}: {one.sentence}" if one else ""


def _of(count: int, all_of: tuple[Found, ...]) -> str:
    if not all_of:
        return "-"
    if len(all_of) == 1:
        return "yes" if count else "NO"
    return f"{count} of {len(all_of)}"
