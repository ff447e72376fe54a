"""Runs by itself: reads a pattern, then groups of lines (a count, then the lines); answers with places."""

import re
import sys


def main() -> None:
    """Until standard input ends."""
    lines = sys.stdin.buffer
    pattern = re.compile(lines.readline().decode()[:-1])
    while count := lines.readline():
        group = [lines.readline().decode("utf-8", "replace")[:-1] for _k in range(int(count))]
        sys.stdout.write(" ".join(str(k) for k, line in enumerate(group) if pattern.search(line)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
