"""Stands in for libnvidia-ml.so.1, below pynvml: functions that fill what they are given and return a code."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pynvml

UINT, ULONG = 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF  # what NVML puts where a device has no such number
OK: int = pynvml.NVML_SUCCESS
LOST: int = pynvml.NVML_ERROR_GPU_IS_LOST
NOT_SUPPORTED: int = pynvml.NVML_ERROR_NOT_SUPPORTED

# By the name of the C function: numbers for its last arguments in order, text, an error code, or a struct's fields.
H200: dict[str, Any] = {
    "nvmlDeviceGetName": "NVIDIA H200",
    "nvmlDeviceGetUUID": "GPU-1",
    "nvmlDeviceGetMemoryInfo": {"total": 150 << 30, "free": 149 << 30, "used": 1 << 30},
    "nvmlDeviceGetUtilizationRates": {"gpu": 97, "memory": 40},
    "nvmlDeviceGetPowerUsage": (652_300,),
    "nvmlDeviceGetTemperature": (61,),
    "nvmlDeviceGetClockInfo": (1980,),
    "nvmlDeviceGetTotalEccErrors": (0,),
    "nvmlDeviceGetRetiredPagesPendingStatus": NOT_SUPPORTED,  # since Ampere rows are remapped instead
    "nvmlDeviceGetTemperatureThreshold": (87,),
    "nvmlDeviceGetCurrentClocksThrottleReasons": (0,),
    "nvmlDeviceGetRemappedRows": (0, 0, 0, 0),
}
NOTHING_KNOWN = dict.fromkeys(H200, NOT_SUPPORTED)
FALLEN_OFF = dict.fromkeys(H200, LOST)


class Library:
    """As many devices as there are answers; None: not even a handle is given for this one."""

    def __init__(self, devices: list[dict[str, Any] | None]) -> None:
        self.devices = devices
        self.init = OK  # what it says when it is loaded

    def __getattr__(self, name: str) -> Callable[..., int]:
        own: dict[str, Callable[..., int]] = {
            "nvmlInitWithFlags": lambda _flags: self.init,
            "nvmlSystemGetDriverVersion": self._version,
            "nvmlDeviceGetCount_v2": self._count,
            "nvmlDeviceGetHandleByIndex_v2": self._handle,
        }
        if name in own:
            return own[name]
        if name in H200:
            return lambda handle, *out: self._answer(name, handle, out)
        raise AttributeError(name)  # as of a driver that is too old for it

    def _version(self, text: Any, _size: Any) -> int:
        text.value = b"570.86.15"
        return OK

    def _count(self, count: Any) -> int:
        count._obj.value = len(self.devices)
        return OK

    def _handle(self, index: Any, handle: Any) -> int:
        if self.devices[index.value] is None:
            return LOST
        handle._obj.contents = pynvml.struct_c_nvmlDevice_t()
        handle._obj.number = index.value
        return OK

    def _answer(self, name: str, handle: Any, out: tuple[Any, ...]) -> int:
        device = None if handle is None else self.devices[handle.number]
        if device is None:
            return int(pynvml.NVML_ERROR_INVALID_ARGUMENT)
        said = device[name]
        if isinstance(said, int):
            return said
        if isinstance(said, str):
            out[0].value = said.encode()
        elif isinstance(said, dict):
            for field, value in said.items():
                setattr(out[-1]._obj, field, value)
        else:
            for number, place in zip(said, out[-len(said) :], strict=True):
                place._obj.value = number
        return OK


@contextmanager
def library(*devices: dict[str, Any] | None) -> Iterator[Library]:
    """pynvml over this library; afterwards as before."""
    before, cached = pynvml.nvmlLib, dict(pynvml._nvmlGetFunctionPointer_cache)
    pynvml._nvmlGetFunctionPointer_cache.clear()
    pynvml.nvmlLib = made = Library(list(devices))
    try:
        yield made
    finally:
        pynvml.nvmlLib = before
        pynvml._nvmlGetFunctionPointer_cache.clear()
        pynvml._nvmlGetFunctionPointer_cache.update(cached)
