import numpy as np

from workers.detect.device import Samples, slow_devices

NODES = {rank: rank // 2 for rank in range(4)}


def samples(clock: float, *, temperature: float = 60.0, util: float = 95.0, n: int = 20) -> Samples:
    return Samples(np.full(n, clock), np.full(n, temperature), np.full(n, util))


def test_a_busy_device_below_its_peers_is_named_with_both_clocks() -> None:
    devices = {rank: samples(1980) for rank in range(4)} | {2: samples(1200, temperature=91)}
    (found,) = slow_devices(devices, NODES, since=7)
    assert (found.kind, found.rank, found.node_rank, found.cause, found.probable) == ("device", 2, 1, "gpu", False)
    assert (found.evidence["clock"], found.evidence["usual"], found.evidence["temperature"]) == (1200, 1980, 91)


def test_a_low_clock_without_heat_is_only_probable() -> None:
    devices = {0: samples(1980), 1: samples(1980), 2: samples(1700)}
    assert [finding.probable for finding in slow_devices(devices, NODES, since=7)] == [True]


def test_an_idle_device_may_run_slowly() -> None:
    devices = {rank: samples(1980) for rank in range(3)} | {3: samples(400, util=1)}
    assert slow_devices(devices, NODES, since=7) == []


def test_a_short_dip_is_nothing_and_without_clocks_nobody_is_named() -> None:
    dip = samples(1980)
    dip.clock[:3] = 900
    assert slow_devices({0: samples(1980), 1: dip}, NODES, since=7) == []
    assert slow_devices({0: samples(float("nan")), 1: samples(float("nan"))}, NODES, since=7) == []
    assert slow_devices({}, NODES, since=7) == []
