"""How well faults are found: a matrix of them, run live on the whole product, against what its incidents say.

`python -m benchmarks.detect --seeds 5` makes a lab of four nodes in network namespaces (root only) and runs every row
once per seed: healthy runs, late ranks, slow loaders, a starved processor, capped, lossy and late links, hangs, phases
that must not alert. Runs whose faults the script makes go three at a time, the others alone. `--quick`: four runs at
once, without the lab. The truth is what the script and the lab were told to do, the verdicts are read from the API.

The last line is JSON: `{recall, precision, rank_accuracy, link_accuracy, cause_accuracy, p95_delay_steps, p95_delay_s,
hang_delay_s, hang_after_limit_s, false_per_10000_rank_steps}`. Thresholds are tuned on seeds from 100 on
(`--first-seed 100`), never on those that are told of.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.detect import matrix
from benchmarks.detect.case import RANKS, Case
from benchmarks.detect.table import explain, line, title
from benchmarks.detect.verdict import Verdict, scores, verdict
from benchmarks.detect.watched import NODES, watch
from benchmarks.product import Product, product
from tests.lab.commands import LabError
from tests.lab.lab import Lab, lab

AT_ONCE = 3  # runs of four sleeping ranks, which leave two cores idle for most of the time


def main() -> int:
    """Run it; the exit code is 0 unless it could not be run."""
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))  # so that nothing is left behind
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    verdicts = []
    print(title(), flush=True)
    try:
        for one in quick(seeds) if asked.quick else whole(seeds, asked.rows):
            verdicts.append(one)
            print(line(one), flush=True)
            for more in explain(one):
                print(more, flush=True)
    except LabError as error:
        print(error, file=sys.stderr)
        return 2
    print(json.dumps(scores(verdicts)))
    return 0


def whole(seeds: range, rows: str) -> Iterator[Verdict]:
    """All in one lab, whatever needs it for itself one after the other."""
    with lab(nodes=NODES, slots=RANKS) as made:
        for seed in seeds:
            for cases in batches([case for case in matrix.cases(seed) if rows in case.row]):
                yield from at_once(made.product, cases, made)


def quick(seeds: range) -> Iterator[Verdict]:
    """The runs of a seed at the same time."""
    for seed in seeds:
        yield from together(matrix.quick(seed))


def together(cases: list[Case]) -> list[Verdict]:
    """All at once, on one local node each."""
    with product(nodes=len(cases), slots=max(case.ranks for case in cases)) as made:
        return at_once(made, cases, None)


def at_once(made: Product, cases: list[Case], in_lab: Lab | None) -> list[Verdict]:
    """They start together, so that none is disturbed in its steps by another one's start."""
    with ThreadPoolExecutor(len(cases)) as pool:
        return [verdict(seen) for seen in pool.map(lambda case: watch(made, case, in_lab), cases)]


def batches(cases: list[Case]) -> Iterator[list[Case]]:
    """What may go at the same time."""
    sharing = [case for case in cases if not case.is_alone]
    for first in range(0, len(sharing), AT_ONCE):
        yield sharing[first : first + AT_ONCE]
    yield from ([case] for case in cases if case.is_alone)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5, help="how many (default: %(default)s)")
    parser.add_argument("--first-seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="four runs per seed, one seed unless --seeds says more")
    parser.add_argument("--rows", default="", help="only rows whose names hold this text")
    asked = parser.parse_args()
    if asked.quick and "--seeds" not in sys.argv:
        asked.seeds = 1
    return asked


if __name__ == "__main__":
    sys.exit(main())
