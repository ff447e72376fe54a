"""What the probe costs a rank: `python -m benchmarks.overhead [--quick]`.

Two processes train the same small DDP model, one with the probe injected as in a real run, one without. They take turns
block by block, in changing order, so that both see the same machine; a pair of blocks gives one ratio of step times.
Of a block the mean without the longest tenth is taken, which is what else runs on the machine. `us_per_step` is the
time in the probe's hooks in the training thread, by the probe's own clock, at 100 ms a step, again without the longest
tenth: by the wall's clock, since reading the processor's takes as long as a hook.
Last line JSON: {ratio_20ms, ratio_100ms, ratio_500ms, ci_100ms, us_per_step}. Wants a quiet machine.
"""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.overhead.compare import interval, ratio, usual
from benchmarks.overhead.rank import Rank

PACES = {20: (25, 40), 100: (10, 60), 500: (4, 12)}  # ms a step -> steps of a block, pairs of blocks
WARM_UP = (60, 5)  # steps, ms
COST_STEPS = 64
OF_TARGET_MS = 100
TARGET_RATIO, TARGET_US = 1.003, 150.0
_QUICKER = 6

Pairs = list[tuple[list[float], list[float]]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a sixth of the blocks, about half a minute")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="paceline-overhead-") as folder:
        with_it, without = Rank(Path(folder, "with"), probed=True), Rank(Path(folder, "without"), probed=False)
        for rank in (with_it, without):
            rank.is_ready()
            rank.ask("block", *WARM_UP)
        found = measure(with_it, without, quicker=_QUICKER if args.quick else 1)
        for rank in (with_it, without):
            rank.end()
    within = found[f"ratio_{OF_TARGET_MS}ms"] <= TARGET_RATIO and found["us_per_step"] <= TARGET_US
    print(f"Within {TARGET_RATIO - 1:.1%} at 100 ms and {TARGET_US:.0f} µs: {'yes' if within else 'no'}.")
    print(json.dumps(found))


def measure(with_it: Rank, without: Rank, *, quicker: int) -> dict[str, Any]:
    """All paces."""
    found: dict[str, Any] = {}
    for ms, (steps, pairs) in PACES.items():
        taken = take_turns(with_it, without, steps, ms, max(3, pairs // quicker))
        middle, (low, high) = ratio(taken), interval(taken)
        found[f"ratio_{ms}ms"] = round(middle, 5)
        print(f"{ms} ms a step: {middle - 1:+.3%}, 95 % from {low - 1:+.3%} to {high - 1:+.3%}", flush=True)
        if ms == OF_TARGET_MS:
            found["ci_100ms"] = [round(low, 5), round(high, 5)]
            found["us_per_step"] = round(usual(with_it.ask("cost", COST_STEPS, ms)), 1)
    return found


def take_turns(with_it: Rank, without: Rank, steps: int, ms: int, pairs: int) -> Pairs:
    """Blocks with and without the probe."""
    taken: Pairs = []
    for number in range(pairs):
        order = (with_it, without) if number % 2 else (without, with_it)
        took = {rank: rank.ask("block", steps, ms) for rank in order}
        taken.append((took[with_it], took[without]))
    return taken


if __name__ == "__main__":
    main()
