"""What NVML says of the health of each GPU. What a device does not tell is left out."""

from collections.abc import Callable
from typing import Any

import pynvml

from trainer_agent.agent.gpu import Gpus, known

# Reasons for low clocks that are no choice of a person's or of the load.
_SLOWED = {
    "nvmlClocksThrottleReasonHwThermalSlowdown": "heat",
    "nvmlClocksThrottleReasonSwThermalSlowdown": "heat",
    "nvmlClocksThrottleReasonHwPowerBrakeSlowdown": "power brake",
    "nvmlClocksThrottleReasonHwSlowdown": "hardware",
}


def health_of(gpus: Gpus) -> list[dict[str, Any]]:
    """One for each GPU: {index, model, lost, uncorrected, retire_pending, remap_pending, remap_failed, slowed, …}."""
    return [_health(index, handle) for index, handle in enumerate(gpus.handles)]


def _health(index: int, handle: Any) -> dict[str, Any]:
    volatile = (pynvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, pynvml.NVML_VOLATILE_ECC)
    found = {
        "index": index,
        "model": _told(lambda: _text(pynvml.nvmlDeviceGetName(handle))),
        "lost": _is_lost(handle),
        "uncorrected": _told(lambda: known(pynvml.nvmlDeviceGetTotalEccErrors(handle, *volatile))),
        "retire_pending": _told(lambda: bool(pynvml.nvmlDeviceGetRetiredPagesPendingStatus(handle))),
        "temperature": _told(lambda: known(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))),
        "slows_at": _told(
            lambda: known(pynvml.nvmlDeviceGetTemperatureThreshold(handle, pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN))
        ),
        "slowed": _told(lambda: _slowed(handle)),
    }
    remapped = _told(lambda: pynvml.nvmlDeviceGetRemappedRows(handle))  # corrected, uncorrected, pending, failure
    if remapped is not None:
        found |= {"remap_pending": bool(remapped[2]), "remap_failed": bool(remapped[3])}
    return {name: value for name, value in found.items() if value is not None}


def _slowed(handle: Any) -> list[str] | None:
    reasons = known(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))
    if reasons is None:
        return None
    return sorted({word for name, word in _SLOWED.items() if reasons & getattr(pynvml, name)})


def _is_lost(handle: Any) -> bool:
    """Drivers remember the UUID of a device that is gone, so that its sensor is asked too."""
    return handle is None or any(
        _says_lost(ask)
        for ask in (
            lambda: pynvml.nvmlDeviceGetUUID(handle),
            lambda: pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
        )
    )


def _says_lost(ask: Callable[[], Any]) -> bool:
    try:
        ask()
    except pynvml.NVMLError as error:
        return getattr(error, "value", None) in (pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED)
    return False


def _told(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except pynvml.NVMLError:
        return None


def _text(value: bytes | str) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
