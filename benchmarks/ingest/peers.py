"""Other stores on the same data: Prometheus, VictoriaMetrics, TensorBoard's writer, and MLflow where it is installed.

The servers are started in a folder of their own; their CPU time and what they keep is measured, not ours for sending.
"""

import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil

from benchmarks.ingest import remote_write
from benchmarks.ingest.data import Slab, slabs
from benchmarks.product import free_port, wait_for

POINTS_BY_CALL = 50_000  # of those who take one number at a call
Peer = dict[str, Any]


def all_peers(ranks: int, steps: int, rows: int) -> dict[str, Peer | str]:
    """By name what was measured, or why it was not."""
    data = list(islice(slabs(ranks, rows), max(1, steps // rows)))
    return {
        "prometheus": _server("prometheus", _prometheus, data),
        "victoria_metrics": _server("victoria-metrics", _victoria, data),
        "tensorboard": _tensorboard(data),
        "mlflow": _mlflow(data) if find_spec("mlflow") else "not installed",
    }


def _server(program: str, measure: Callable[[Path, list[Slab]], Peer], data: list[Slab]) -> Peer | str:
    if shutil.which(program) is None:
        return "not installed"
    with tempfile.TemporaryDirectory(prefix="peer-") as folder:
        return measure(Path(folder), data)


def _prometheus(folder: Path, data: list[Slab]) -> Peer:
    (folder / "prometheus.yml").write_text("global: {}\n")
    port = free_port()
    command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--web.enable-remote-write-receiver"]
    command += ["--web.enable-admin-api", "--log.level=error"]

    # A snapshot is the blocks that Prometheus makes of all that it has.
    snapshot = ("POST", "/api/v1/admin/tsdb/snapshot")
    return _fed(command, f"http://127.0.0.1:{port}", "/-/ready", data, snapshot, folder / "data" / "snapshots")


def _victoria(folder: Path, data: list[Slab]) -> Peer:
    port = free_port()
    command = ["victoria-metrics", f"-storageDataPath={folder / 'data'}", f"-httpListenAddr=127.0.0.1:{port}"]
    command += ["-loggerLevel=ERROR", "-retentionPeriod=100y"]

    flush = ("GET", "/internal/force_flush")
    return _fed(command, f"http://127.0.0.1:{port}", "/health", data, flush, folder / "data" / "data")


def _fed(command: list[str], url: str, ready: str, data: list[Slab], settle: tuple[str, str], kept_in: Path) -> Peer:
    """`settle`: the request after which all points can be read. What is small may reach the disk at the end only."""
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with httpx.Client(timeout=120) as client:
            wait_for(lambda: _is_ready(client, url + ready), 60, command[0])
            before, points = _cpu_s(process), 0
            began_ms = int(time.time() * 1000) - 1000 * sum(slab.end.shape[0] for slab in data)
            for slab in data:
                times = began_ms + 1000 * (slab.first + np.arange(slab.end.shape[0]))  # one step a second
                for body in remote_write.requests(slab.series, times):
                    remote_write.post(client, url + "/api/v1/write", body)
                points += slab.points
            client.request(settle[0], url + settle[1]).raise_for_status()
            spent = _cpu_s(process) - before
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
    return _peer(points, spent, _size(kept_in))


def _tensorboard(data: list[Slab]) -> Peer | str:
    if find_spec("tensorboard") is None or find_spec("torch") is None:
        return "not installed"
    from torch.utils.tensorboard import SummaryWriter

    with tempfile.TemporaryDirectory(prefix="peer-") as folder:
        before = time.process_time()
        writer = SummaryWriter(folder)
        points = _one_by_one(data, lambda name, rank, step, value: writer.add_scalar(f"{name}/{rank}", value, step))
        writer.close()
        return _peer(points, time.process_time() - before, _size(Path(folder)))


def _mlflow(data: list[Slab]) -> Peer:
    import mlflow  # type: ignore[import-not-found, unused-ignore]

    with tempfile.TemporaryDirectory(prefix="peer-") as folder:
        mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
        before = time.process_time()
        with mlflow.start_run():
            points = _one_by_one(
                data, lambda name, rank, step, value: mlflow.log_metric(f"{name}/{rank}", value, step), 2_000
            )
        return _peer(points, time.process_time() - before, _size(Path(folder)))


def _one_by_one(data: list[Slab], log: Callable[[str, int, int, float], None], most: int = POINTS_BY_CALL) -> int:
    calls = (
        (name, rank, slab.first + row, float(values[row, rank]))
        for slab in data
        for name, values in slab.series.items()
        for row, rank in np.ndindex(values.shape)
    )
    points = 0
    for call in islice(calls, most):
        log(*call)
        points += 1
    return points


def _peer(points: int, cpu_s: float, size: int) -> Peer:
    return {
        "points_per_s_per_core": round(points / cpu_s),
        "bytes_per_point": round(size / points, 2),
        "cpu_s_per_million": round(cpu_s / points * 1e6, 3),
        "points": points,
    }


def _cpu_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _is_ready(client: httpx.Client, url: str) -> bool:
    try:
        return client.get(url).status_code == 200
    except httpx.HTTPError:
        return False
