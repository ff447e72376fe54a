"""Reads counters of devices, host and ranks once a second, in a thread of its own: a GPU that hangs stops nobody."""

import contextlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import psutil

from trainer_agent.agent import inventory, procs
from trainer_agent.agent.gpu import GpuProcess, Gpus
from trainer_agent.agent.links import Links
from trainer_agent.agent.waiting import Waiting
from trainer_agent.wire.messages import SlotFacts

log = logging.getLogger(__name__)

EVERY = 1.0  # seconds
_GPU_METRICS = {
    "gpu/util": "util",
    "gpu/memory": "memory_used",
    "gpu/power": "power",
    "gpu/temperature": "temperature",
    "gpu/sm_clock": "sm_clock",
}


@dataclass(frozen=True, slots=True)
class Sample:
    """One value of one metric; bytes, per cent, W, °C, MHz or per second, as the metric's name tells."""

    metric: str
    rank: int
    time: float
    value: float


@dataclass(frozen=True, slots=True)
class Subject:
    """An attempt to sample for. `slots[i]` is the GPU of the i-th rank; empty without GPUs."""

    key: int
    node_rank: int
    ranks: dict[int, int]  # rank -> process id
    first_rank: int
    slots: list[int]
    over_loopback: bool
    take: Callable[[list[Sample]], None]
    peers: dict[str, int] = field(default_factory=dict)  # address -> node rank of the other nodes


@dataclass(slots=True)
class Host:
    """This machine's counters now. Rates are per second since the look before; None at the first look."""

    cpu: float = 0.0
    memory_used: int = 0
    rates: dict[str, float] = field(default_factory=dict)


class Sampler:
    """Hands each attempt its samples, and keeps the newest device values for the heartbeat."""

    def __init__(self, gpus: Gpus, cpu_slots: int | None, subjects: Callable[[], list[Subject]]) -> None:
        self._gpus = gpus
        self._cpu_slots = cpu_slots
        self._subjects = subjects
        self._counters: dict[str, float] = {}
        self._at = 0.0
        self._cpu_before: dict[int, float] = {}
        self._waiting = Waiting()
        self._links = Links()
        self.slots: list[SlotFacts] = inventory.slots(gpus, cpu_slots)
        self.gpu_processes: list[GpuProcess] = []
        self.host = Host()

    def run(self, stop: threading.Event) -> None:
        """Until told to stop."""
        psutil.cpu_percent()
        while not stop.wait(EVERY):
            try:
                self.look()
            except Exception:
                log.exception("could not sample")

    def look(self) -> None:
        """One round."""
        now, clock = time.time(), time.monotonic()
        elapsed = clock - self._at if self._at else 0.0
        self._at = clock
        self.slots = inventory.slots(self._gpus, self._cpu_slots)
        self.gpu_processes = self._gpus.processes() if self._cpu_slots is None else []
        self.host = self._look_at_host(elapsed)
        subjects = self._subjects()
        if not subjects:
            self._cpu_before, self._waiting = {}, Waiting()
            return
        processes = procs.snapshot()
        if any(subject.peers for subject in subjects):
            self._links.look()
        used: dict[int, float] = {}
        for subject in subjects:
            samples = self._of_host(subject, now) + self._of_gpus(subject, now)
            samples += self._of_links(subject, now)
            samples += self._of_ranks(subject, now, elapsed, processes, used)
            samples += self._of_waiting(subject, now, elapsed, processes)
            subject.take(samples)
        self._cpu_before = used

    def _look_at_host(self, elapsed: float) -> Host:
        counters = network_counters()
        rates = {}
        if elapsed > 0:
            for name, value in counters.items():
                if name in self._counters and value >= self._counters[name]:
                    rates[name] = (value - self._counters[name]) / elapsed
        self._counters = counters
        return Host(psutil.cpu_percent(), int(psutil.virtual_memory().used), rates)

    def _of_host(self, subject: Subject, now: float) -> list[Sample]:
        wire = "lo" if subject.over_loopback else "net"
        values = {
            "node/cpu": self.host.cpu,
            "node/memory": float(self.host.memory_used),
            "node/net_rx": self.host.rates.get(f"{wire}_rx"),
            "node/net_tx": self.host.rates.get(f"{wire}_tx"),
            "node/retransmits": self.host.rates.get("retransmits"),
        }
        return [Sample(metric, subject.node_rank, now, v) for metric, v in values.items() if v is not None]

    def _of_gpus(self, subject: Subject, now: float) -> list[Sample]:
        by_index = {slot.index: slot for slot in self.slots if slot.kind == "gpu"}
        found = []
        for local, index in enumerate(subject.slots):
            for metric, attribute in _GPU_METRICS.items():
                value = getattr(by_index.get(index), attribute, None)
                if value is not None:
                    found.append(Sample(metric, subject.first_rank + local, now, float(value)))
        return found

    def _of_links(self, subject: Subject, now: float) -> list[Sample]:
        found = self._links.metrics(subject.ranks.values(), subject.peers)
        return [Sample(metric, subject.node_rank, now, value) for metric, value in found.items()]

    def _of_ranks(
        self, subject: Subject, now: float, elapsed: float, processes: procs.Snapshot, used: dict[int, float]
    ) -> list[Sample]:
        found = []
        for rank, pid in subject.ranks.items():
            tree = processes.with_descendants(pid)
            if not tree:
                continue
            found.append(Sample("rank/rss", rank, now, float(sum(p.rss for p in tree))))
            used |= {p.pid: p.cpu for p in tree}
            if elapsed > 0 and pid in self._cpu_before:
                # A child that is new since the last look started from zero.
                seconds = sum(max(0.0, p.cpu - self._cpu_before.get(p.pid, 0.0)) for p in tree)
                found.append(Sample("rank/cpu", rank, now, 100 * seconds / elapsed))
        return found

    def _of_waiting(self, subject: Subject, now: float, elapsed: float, processes: procs.Snapshot) -> list[Sample]:
        found = []
        for rank, pid in subject.ranks.items():
            if process := processes.everyone.get(pid):
                told = self._waiting.metrics(process, elapsed)
                found += [Sample(metric, rank, now, value) for metric, value in told.items()]
        return found


def network_counters() -> dict[str, float]:
    """Bytes since boot of the loopback (`lo_*`) and of all other interfaces (`net_*`), retransmitted TCP segments."""
    found = {"lo_rx": 0.0, "lo_tx": 0.0, "net_rx": 0.0, "net_tx": 0.0}
    for name, counters in psutil.net_io_counters(pernic=True).items():
        wire = "lo" if name == "lo" else "net"
        found[f"{wire}_rx"] += counters.bytes_recv
        found[f"{wire}_tx"] += counters.bytes_sent
    with contextlib.suppress(OSError, ValueError, StopIteration), open("/proc/net/snmp", encoding="ascii") as file:
        rows = [line.split() for line in file if line.startswith("Tcp:")]
        found["retransmits"] = float(rows[1][rows[0].index("RetransSegs")])
    return found
