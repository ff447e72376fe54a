"""Counters and health of GPUs, by the real pynvml over a library that answers as drivers do."""

from typing import Any

import pynvml
import pytest

from tests.agent.nvml_library import FALLEN_OFF, H200, LOST, NOT_SUPPORTED, NOTHING_KNOWN, UINT, ULONG, library
from trainer_agent.agent.gpu import Gpus
from trainer_agent.agent.gpu_health import health_of

WELL = {
    "index": 0,
    "model": "NVIDIA H200",
    "lost": False,
    "uncorrected": 0,
    "temperature": 61,
    "slows_at": 87,
    "slowed": [],
    "remap_pending": False,
    "remap_failed": False,
}


def health(**answers: Any) -> dict[str, Any]:
    with library(H200 | answers):
        (found,) = health_of(Gpus())
    return found


def test_a_healthy_device_tells_everything_and_what_it_does_not_support_is_left_out() -> None:
    with library(H200) as made:
        gpus = Gpus()
        (slot,) = gpus.read()
        assert gpus.driver() == "570.86.15"
        assert health_of(gpus) == [WELL]
        made.devices[0] = NOTHING_KNOWN
        assert health_of(gpus) == [{"index": 0, "lost": False}]
    assert (slot.model, slot.uuid, slot.memory_total, slot.memory_used) == ("NVIDIA H200", "GPU-1", 150 << 30, 1 << 30)
    assert (slot.util, slot.power, slot.temperature, slot.sm_clock) == (97, 652.3, 61, 1980)


def test_all_ones_are_no_number() -> None:
    assert health(nvmlDeviceGetTotalEccErrors=(ULONG,)) == {k: v for k, v in WELL.items() if k != "uncorrected"}
    assert health(nvmlDeviceGetTemperature=(UINT,)) == {k: v for k, v in WELL.items() if k != "temperature"}
    assert health(nvmlDeviceGetTemperatureThreshold=(UINT,)) == {k: v for k, v in WELL.items() if k != "slows_at"}
    assert "slowed" not in health(nvmlDeviceGetCurrentClocksThrottleReasons=(ULONG,))
    odd = {
        "nvmlDeviceGetPowerUsage": (UINT,),
        "nvmlDeviceGetTemperature": (UINT,),
        "nvmlDeviceGetClockInfo": (UINT,),
        "nvmlDeviceGetUtilizationRates": {"gpu": UINT, "memory": UINT},
        "nvmlDeviceGetMemoryInfo": {"total": ULONG, "free": ULONG, "used": ULONG},
    }
    with library(H200 | odd):
        (slot,) = Gpus().read()
    known = slot.util, slot.power, slot.temperature, slot.sm_clock, slot.memory_total, slot.memory_used
    assert known == (None,) * 6


@pytest.mark.parametrize(
    ("answers", "field", "value"),
    [
        ({"nvmlDeviceGetTotalEccErrors": (3,)}, "uncorrected", 3),
        ({"nvmlDeviceGetRetiredPagesPendingStatus": (pynvml.NVML_FEATURE_ENABLED,)}, "retire_pending", True),
        ({"nvmlDeviceGetRemappedRows": (0, 1, 1, 0)}, "remap_pending", True),
        ({"nvmlDeviceGetRemappedRows": (0, 1, 0, 1)}, "remap_failed", True),
        (
            {
                "nvmlDeviceGetCurrentClocksThrottleReasons": (
                    pynvml.nvmlClocksThrottleReasonSwThermalSlowdown
                    | pynvml.nvmlClocksThrottleReasonSwPowerCap  # which every busy device has
                    | pynvml.nvmlClocksThrottleReasonHwPowerBrakeSlowdown,
                )
            },
            "slowed",
            ["heat", "power brake"],
        ),
        ({"nvmlDeviceGetTemperature": LOST}, "lost", True),
        ({"nvmlDeviceGetUUID": pynvml.NVML_ERROR_RESET_REQUIRED}, "lost", True),
        ({"nvmlDeviceGetUUID": NOT_SUPPORTED}, "lost", False),
    ],
)
def test_what_is_wrong_is_told(answers: dict[str, Any], field: str, value: Any) -> None:
    assert health(**answers)[field] == value


def test_a_device_that_falls_off_the_bus_is_lost_and_the_others_go_on_under_their_numbers() -> None:
    with library(H200, H200) as made:
        gpus = Gpus()
        made.devices[0] = FALLEN_OFF
        assert [slot.util for slot in gpus.read()] == [None, 97]
        assert health_of(gpus) == [{"index": 0, "lost": True}, WELL | {"index": 1}]
        assert gpus.processes() == []  # a driver that is too old to tell of them


def test_a_device_that_was_lost_before_the_agent_began_hides_none_of_the_others() -> None:
    with library(None, H200):
        gpus = Gpus()
        assert [(slot.index, slot.model) for slot in gpus.read()] == [(0, ""), (1, "NVIDIA H200")]
        assert health_of(gpus) == [{"index": 0, "lost": True}, WELL | {"index": 1}]


def test_a_machine_without_a_driver_has_no_gpus() -> None:
    with library() as made:
        made.init = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
        gpus = Gpus()
        assert (gpus.handles, gpus.driver(), gpus.read(), health_of(gpus)) == ([], "", [], [])
