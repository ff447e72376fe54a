"""NVIDIA counters through NVML. What the device does not know is None, never a number."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pynvml

from trainer_agent.agent import procs
from trainer_agent.wire.messages import SlotFacts

MIB = 1024 * 1024
# NVML fills fields that it does not support with all ones.
_SENTINELS = frozenset((0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF, -1))


@dataclass(frozen=True, slots=True)
class GpuProcess:
    """A process that computes on one GPU. `name` is empty when this machine shows none of that number."""

    slot: int
    pid: int
    name: str
    memory: int | None  # bytes of the device's memory, None where the driver does not say


class Gpus:
    """The GPUs of this machine; none where there is no driver."""

    def __init__(self) -> None:
        self.handles: list[Any] = []  # of NVML, one per GPU; None where one does not even have that any more
        with contextlib.suppress(pynvml.NVMLError):
            pynvml.nvmlInit()
            self.handles = [_handle(index) for index in range(pynvml.nvmlDeviceGetCount())]

    def driver(self) -> str:
        """Driver version, empty without GPUs."""
        return _text(pynvml.nvmlSystemGetDriverVersion) if self.handles else ""

    def read(self) -> list[SlotFacts]:
        """One slot per GPU with its counters now."""
        return [self._slot(index, handle) for index, handle in enumerate(self.handles)]

    def processes(self) -> list[GpuProcess]:
        """Everything that computes on a GPU now, ours or not."""
        return [process for index, handle in enumerate(self.handles) for process in _computing(index, handle)]

    def _slot(self, index: int, handle: Any) -> SlotFacts:
        total, used = _memory(handle)
        power = _number(pynvml.nvmlDeviceGetPowerUsage, handle)
        return SlotFacts(
            index=index,
            kind="gpu",
            model=_text(pynvml.nvmlDeviceGetName, handle),
            uuid=_text(pynvml.nvmlDeviceGetUUID, handle),
            memory_total=total,
            memory_used=used,
            util=within(_utilisation(handle), 0, 100),
            power=within(None if power is None else power / 1000, 0, 10_000),
            temperature=within(_number(pynvml.nvmlDeviceGetTemperature, handle, pynvml.NVML_TEMPERATURE_GPU), -50, 200),
            sm_clock=within(_number(pynvml.nvmlDeviceGetClockInfo, handle, pynvml.NVML_CLOCK_SM), 0, 100_000),
        )


def known(count: int | None) -> int | None:
    """A count of NVML's, None where it says by all ones that the device has none."""
    return None if count is None or int(count) in _SENTINELS else int(count)


def within(value: float | None, low: float, high: float) -> float | None:
    """The value if a device can have it, else None."""
    return value if value is not None and low <= value <= high else None


def _computing(index: int, handle: Any) -> list[GpuProcess]:
    try:
        found = pynvml.nvmlDeviceGetComputeRunningProcesses(handle)
    except (pynvml.NVMLError, pynvml.NVMLLibraryMismatchError):  # the second, which is none of the first: too old
        return []
    return [GpuProcess(index, int(p.pid), procs.name_of(int(p.pid)), known(p.usedGpuMemory)) for p in found]


def _handle(index: int) -> Any:
    try:
        return pynvml.nvmlDeviceGetHandleByIndex(index)
    except pynvml.NVMLError:  # lost; the others keep their numbers
        return None


def _memory(handle: Any) -> tuple[int | None, int | None]:
    try:
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
    except pynvml.NVMLError:
        return None, None
    return known(memory.total), known(memory.used)


def _utilisation(handle: Any) -> float | None:
    try:
        return float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except pynvml.NVMLError:
        return None


def _number(call: Callable[..., Any], *arguments: Any) -> float | None:
    try:
        value = call(*arguments)
    except pynvml.NVMLError:
        return None
    return None if int(value) in _SENTINELS else float(value)


def _text(call: Callable[..., Any], *arguments: Any) -> str:
    try:
        value = call(*arguments)
    except pynvml.NVMLError:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
