"""The table of a comparison: last, lowest and highest value of each metric, and the best run. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_MORE_IS_BETTER = re.compile(
    r"(^|[^a-z0-9])(acc|accuracy|f1|auc|auroc|ap|map|bleu|rouge\w*|iou|miou|dice|psnr|ssim|r2|precision|recall|score|"
    r"reward|return|mfu|util|throughput|samples|tokens|busbw|top_?\d+)([^a-z0-9]|$)|per_s(ec(ond)?)?$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Came:
    """What a metric came to in one run."""

    last: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Best:
    """Of one metric. `uid`: of the best last value, `reached`: of the best on the way. None: nothing to choose."""

    uid: str | None
    reached: str | None


def more_is_better(name: str) -> bool:
    """What the name of a metric lets one think; people can turn it round."""
    return bool(_MORE_IS_BETTER.search(name))


def best(came: Mapping[str, Came], *, more: bool) -> Best:
    """Of several runs that do not all have the same value. The first of equals."""
    last = {uid: one.last for uid, one in came.items() if one.last is not None}
    ends = {uid: one.high if more else one.low for uid, one in came.items()}
    return Best(_best(last, more), _best({uid: value for uid, value in ends.items() if value is not None}, more))


def _best(values: Mapping[str, float], more: bool) -> str | None:
    known = {uid: float(f"{value:.6g}") for uid, value in values.items()}  # what nobody could read is no difference
    if len(set(known.values())) < 2:
        return None
    return (max if more else min)(known, key=lambda uid: known[uid])
