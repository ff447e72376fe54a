"""Whether ranks get a processor when they could use one."""

from trainer_agent.agent.procs import Process


class Waiting:
    """Remembers what each process had waited at the look before."""

    def __init__(self) -> None:
        self._before: dict[int, float] = {}

    def metrics(self, process: Process, elapsed: float) -> dict[str, float]:
        """`rank/run_delay`: share of the last `elapsed` seconds; `rank/stopped` while a signal or debugger holds it."""
        found = {"rank/stopped": 1.0} if process.state in ("T", "t") else {}
        waited, before = run_delay(process.pid), self._before.get(process.pid)
        if waited is None:
            return found
        self._before[process.pid] = waited
        if before is not None and elapsed > 0:
            found["rank/run_delay"] = max(0.0, waited - before) / elapsed
        return found


def run_delay(pid: int) -> float | None:
    """Seconds in which the process's main thread could have run and had no processor; None where it is not known."""
    try:
        with open(f"/proc/{pid}/schedstat", "rb") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return None
