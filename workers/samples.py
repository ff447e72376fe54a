"""An attempt's newest samples as what detectors compare: links, devices, whether ranks got a processor."""

from collections.abc import Iterator

import numpy as np

from webapp.telemetry.points import STEP_END
from webapp.telemetry.read import Reader, Series
from webapp.telemetry.spread import middle
from workers.detect.device import Samples
from workers.detect.links import Link
from workers.detect.table import Floats
from workers.recent import like

LINK_COST = "/busy_ms_per_mb"
NOW_S = 20  # seconds that count as now
BEFORE_S, APART_S = 60, 10  # seconds of the time before a change, and how far from it they end
DEVICE_S = 30
FEW = 3  # samples of a link that do not tell yet
_MANY = 8  # newest samples, of which a share of lost packets is told
_GREW = 3.0  # times its share before that a link must lose


def second_of(reader: Reader, step: int) -> int | None:
    """When a step ended, on the nodes' clocks."""
    ends = reader.series(STEP_END, lo=step, hi=step)
    return int(middle(ends.values.ravel())) if ends.present.any() else None


def links(reader: Reader, since: int | None = None) -> list[Link]:
    """All links of which enough is known `since` a second (None: NOW_S ago), with their cost before it."""
    return [link for name, newest in _costs(reader) for link in _links_to(reader, name, newest, since)]


def newest_of_links(reader: Reader) -> int | None:
    """The second of the newest sample of any link; None where links are not known at all."""
    return max((newest for _name, newest in _costs(reader)), default=None)


def devices(reader: Reader) -> dict[int, Samples]:
    """By rank; {} without GPUs."""
    clock = newest(reader, "gpu/sm_clock", DEVICE_S)
    if clock is None:
        return {}
    others = [newest(reader, name, 2 * DEVICE_S) for name in ("gpu/temperature", "gpu/util")]
    heat, util = (np.full(clock.values.shape, np.nan) if one is None else like(clock, one) for one in others)
    return {rank: Samples(clock.values[:, k], heat[:, k], util[:, k]) for k, rank in enumerate(clock.columns)}


def waiting(reader: Reader) -> dict[int, float]:
    """By rank: the share of the last seconds in which it had no processor, or was stopped."""
    delay, stopped = (newest(reader, name, NOW_S) for name in ("rank/run_delay", "rank/stopped"))
    if delay is None:
        return {}
    share = {rank: float(np.nanmean(delay.values[:, k])) for k, rank in enumerate(delay.columns)}
    if stopped is not None:
        recent = stopped.index > delay.index[-1] - NOW_S
        for k, rank in enumerate(stopped.columns):
            share[rank] = share.get(rank, 0.0) + float(stopped.present[recent, k].sum()) / NOW_S
    return share


def newest(reader: Reader, name: str, seconds: int) -> Series | None:
    """The last seconds of one metric, counted from its newest sample."""
    row = next((one for one in reader.metrics(name) if one.name == name), None)
    if row is None or row.last_index is None:
        return None
    return reader.series(name, lo=row.last_index - seconds + 1)


def _costs(reader: Reader) -> Iterator[tuple[str, int]]:
    for row in reader.metrics("link/"):
        if row.name.startswith("link/") and row.name.endswith(LINK_COST) and row.last_index is not None:
            yield row.name, row.last_index


def _links_to(reader: Reader, name: str, newest: int, since: int | None) -> Iterator[Link]:
    target = int(name.split("/")[1])
    change = newest - NOW_S if since is None else since
    now, before = (max(newest - NOW_S, change) + 1, newest), (change - APART_S - BEFORE_S, change - APART_S)
    lost_name = name.removesuffix(LINK_COST) + "/retransmitted"
    cost, usual = (reader.series(name, lo, hi) for lo, hi in (now, before))
    lost, lost_usual = (reader.series(lost_name, lo, hi) for lo, hi in (now, before))
    for source in cost.columns:
        values = _known(cost, source)
        if values.size >= FEW:
            told = _known(usual, source)
            usual_cost = float(np.median(told)) if told.size >= FEW else None
            share = _lost(_known(lost, source), _known(lost_usual, source))
            yield Link(source, target, float(np.median(values)), share, usual_cost)


def _lost(now: Floats, before: Floats) -> float:
    """The share that is sent again lately, in most seconds; 0 when it was not much less before."""
    newest = now[-_MANY:]
    if newest.size < _MANY or np.mean(newest > 0) <= 0.5:
        return 0.0
    share = float(np.mean(newest))
    return share if share >= _GREW * (float(np.mean(before)) if before.size else 0.0) else 0.0


def _known(series: Series, column: int) -> Floats:
    if column not in series.columns:
        return np.zeros(0)
    values = series.values[:, series.columns.index(column)]
    return np.asarray(values[~np.isnan(values)])
