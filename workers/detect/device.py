"""Devices that run below their peers: clocks, heat. Pure. Also confirms that a late rank is late by its device."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from webapp.incidents.finding import DEVICE, Finding
from workers.detect.table import Floats

BELOW = 0.05  # of the cohort's clock
BUSY = 50.0  # per cent of utilisation: an idle device may well run slowly
HOT_C = 85.0
_HELD = 0.8  # of the samples


@dataclass(frozen=True, slots=True)
class Samples:
    """One device's newest samples, a second apart: SM clock (MHz), temperature (°C), utilisation (%)."""

    clock: Floats
    temperature: Floats
    util: Floats


def slow_devices(devices: Mapping[int, Samples], nodes: Mapping[int, int], since: int) -> list[Finding]:
    """Ranks whose busy device runs at a lower clock than those of the other ranks."""
    clocks = {rank: _busy_clock(samples) for rank, samples in devices.items()}
    known = {rank: clock for rank, clock in clocks.items() if clock is not None}
    found = []
    for rank, clock in sorted(known.items()):
        others = [other for peer, other in known.items() if peer != rank]
        usual = float(np.median(others)) if others else float("nan")
        if not clock < (1 - BELOW) * usual or not _held_below(devices[rank], (1 - BELOW) * usual):
            continue
        heat = devices[rank].temperature
        hot = float(np.nanmedian(heat)) if not np.isnan(heat).all() else float("nan")
        evidence = {"clock": clock, "usual": usual} | ({} if np.isnan(hot) else {"temperature": hot})
        place, by_heat = nodes.get(rank), bool(hot >= HOT_C)
        found.append(
            Finding(
                DEVICE, f"rank {rank}", "gpu", usual / clock - 1, since, not by_heat, rank, place, evidence=evidence
            )
        )
    return found


def _busy_clock(samples: Samples) -> float | None:
    clock = samples.clock[samples.util >= BUSY] if samples.util.size == samples.clock.size else samples.clock
    clock = clock[~np.isnan(clock)]
    return float(np.median(clock)) if clock.size else None


def _held_below(samples: Samples, limit: float) -> bool:
    known = samples.clock[~np.isnan(samples.clock)]
    return bool(np.mean(known < limit) >= _HELD)
