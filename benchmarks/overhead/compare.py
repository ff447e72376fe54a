"""Ratios of paired blocks, and how sure they are. Pure."""

import numpy as np

RESAMPLED = 4_000
CUT = 0.1


def ratio(pairs: list[tuple[list[float], list[float]]]) -> float:
    """Of the steps with the probe to those without, by the median pair of blocks."""
    return float(np.median(_ratios(pairs)))


def interval(pairs: list[tuple[list[float], list[float]]], seed: int = 0) -> tuple[float, float]:
    """Of that ratio, 95 %, by drawing the pairs again and again."""
    ratios = _ratios(pairs)
    drawn = np.random.default_rng(seed).choice(ratios, (RESAMPLED, ratios.size))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(low), float(high)


def usual(block: list[float]) -> float:
    """The mean without the longest tenth, which is what else runs on the machine. A median would leave out what the
    probe does not do in every step."""
    return float(np.sort(block)[: max(1, round(len(block) * (1 - CUT)))].mean())


def _ratios(pairs: list[tuple[list[float], list[float]]]) -> np.ndarray:
    return np.array([usual(with_it) / usual(without) for with_it, without in pairs])
