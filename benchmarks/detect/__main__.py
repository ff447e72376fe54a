"""How well faults are found: a matrix of them, run live on the whole product, against what its incidents say.

`python -m benchmarks.detect --seeds 5` makes a lab of four nodes in network namespaces (root only) and runs every row
once per seed: healthy runs, late ranks, slow loaders, a starved processor, capped, lossy and late links, hangs, phases
that must not alert. `--quick`: four runs at once, without the lab. The truth is what the script and the lab were told
to do, the verdicts are read from the API.

The last line is JSON: `{recall, precision, rank_accuracy, link_accuracy, cause_accuracy, p95_delay_steps,
hang_delay_s, false_per_10000_rank_steps}`. Thresholds are tuned on seeds from 100 on (`--first-seed 100`), never on
those that are told of.
"""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from benchmarks.detect import matrix
from benchmarks.detect.case import Case
from benchmarks.detect.table import explain, line, title
from benchmarks.detect.verdict import Verdict, scores, verdict
from benchmarks.detect.watched import watch
from benchmarks.product import product
from tests.lab.commands import LabError
from tests.lab.lab import lab


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
    """One run after the other, all in one lab."""
    with lab(nodes=4, slots=2) as made:
        for seed in seeds:
            for case in matrix.cases(seed):
                if rows in case.row:
                    yield verdict(watch(made.product, case, made))


def quick(seeds: range) -> Iterator[Verdict]:
    """The runs of a seed at the same time."""
    for seed in seeds:
        yield from together(matrix.quick(seed))


def together(cases: list[Case]) -> list[Verdict]:
    """All at once, on one local node each."""
    with product(nodes=len(cases), slots=max(case.ranks for case in cases)) as made, ThreadPoolExecutor() as pool:
        return [verdict(seen) for seen in pool.map(lambda case: watch(made, case, None), cases)]


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
