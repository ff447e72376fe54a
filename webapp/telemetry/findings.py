"""The one sentence over each chart: true of the numbers of its window. Parts are [text, "" | "warn" | "crit"]."""

import math

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from webapp.language.numerals import numeral
from webapp.runs.templatetags.figures import bytes_
from webapp.telemetry.spread import Rank

Finding = list[list[str]]
PHASE_WORDS = {
    "step": lambda: _("the whole step"),
    "local": lambda: _("its own work"),
    "data": lambda: _("data"),
    "forward": lambda: _("forward"),
    "backward": lambda: _("backward"),
    "exposed_comm": lambda: _("exposed communication"),
    "optimizer": lambda: _("the optimizer"),
    "other": lambda: _("other"),
    "comm_total": lambda: _("communication"),
}


def nothing() -> Finding:
    """No data in the window."""
    return [[_("No data in this window."), ""]]


def step_time(ranks: list[Rank], middle: float) -> Finding:
    """Who is behind, or that all are in line. Seconds."""
    if not ranks:
        return nothing()
    if len(ranks) == 1:
        return [[_("Rank %(rank)s takes %(time)s a step.") % {"rank": ranks[0].rank, "time": ms(middle)}, ""]]
    if ranks[0].stands_out:
        return _takes_more(ranks)
    text = (
        _("Both ranks are in line: %(time)s a step.")
        if len(ranks) == 2
        else _("All %(n)s ranks are in line: %(time)s a step.")
    )
    return [[text % {"n": len(ranks), "time": ms(middle)}, ""]]


def heat(phase: str, ranks: list[Rank]) -> Finding:
    """Who stands out in one phase. Seconds."""
    if not ranks:
        return nothing()
    word = PHASE_WORDS[phase]()
    if not ranks[0].stands_out:
        return [[_("No rank stands out in %(phase)s.") % {"phase": word}, ""]]
    head, rest = _takes_more(ranks)
    return [[_("%(finding)s in %(phase)s") % {"finding": head[0], "phase": word}, "warn"], rest]


def phases(parts: dict[str, float], step: float) -> Finding:
    """The largest part of a step. Seconds."""
    seen = {name: value for name, value in parts.items() if value > 0}
    if not seen or not step > 0:
        return nothing()
    name = max(seen, key=lambda key: seen[key])
    share = {"phase": PHASE_WORDS[name](), "share": number(100 * seen[name] / step), "time": ms(step)}
    return [[_("A step takes %(time)s; the largest part is %(phase)s, %(share)s %%.") % share, ""]]


def phase_grew(name: str, before: float, now: float, since: int) -> Finding:
    """Which phase takes longer since a rank is late. Seconds."""
    told = {"step": number(since), "phase": PHASE_WORDS[name](), "now": ms(now), "before": ms(before)}
    head = _("Since step %(step)s, %(phase)s takes %(now)s") % told
    return [[head, "warn"], [_(" of a step; before it took %(before)s.") % told, ""]]


def comm(transfer: float, wait: float, step: float, late: Rank | None) -> Finding:
    """What a step pays for the transfer and for waiting. Seconds."""
    if math.isnan(transfer):
        return nothing()
    waits = _("%(wait)s of a step is waiting") % {"wait": ms(wait)}
    rest = _(", the transfer takes %(transfer)s.") % {"transfer": ms(transfer)}
    if late is not None and wait > 0.05 * step:
        return [[waits, "warn"], [_(" for rank %(rank)s") % {"rank": late.rank} + rest, ""]]
    return [[waits + rest, ""]]


def busbw(before: float, now: float, noise: float) -> Finding:
    """Bus bandwidth now, and whether it fell. Bytes per second."""
    if math.isnan(now):
        return nothing()
    fell = before - now
    if not math.isnan(before) and fell > 0.05 * before and fell > 4 * noise:
        text = _("Bandwidth fell to %(now)s GB/s") % {"now": number(now / 1e9)}
        return [[text, "warn"], [_(" from %(before)s GB/s.") % {"before": number(before / 1e9)}, ""]]
    return [[_("The all-reduce moves %(now)s GB/s.") % {"now": number(now / 1e9)}, ""]]


def value(name: str, first: tuple[int, float], last: tuple[int, float], bad: tuple[int, str] | None) -> Finding:
    """Where a logged value is, or that it is no number any more. Pairs of step and value."""
    told = {"name": name[:60], "value": number(last[1]), "step": number(last[0]), "from": number(first[1])}
    if bad is not None:
        lasts = math.isnan(last[1]) or bad[0] > last[0]
        broken = _("%(name)s is %(text)s since step %(step)s") if lasts else _("%(name)s was %(text)s at step %(step)s")
        text = broken % {"name": name[:60], "text": bad[1], "step": number(bad[0])}
        if math.isnan(last[1]):
            return [[text, "crit"], [".", ""]]
        rest = _("; its last number was %(value)s.") if lasts else _("; now it is %(value)s.")
        return [[text, "crit"], [rest % told, ""]]
    if last[0] == first[0]:
        return [[_("%(name)s is %(value)s at step %(step)s.") % told, ""]]
    if last[1] < first[1]:
        return [[_("%(name)s is %(value)s at step %(step)s, down from %(from)s.") % told, ""]]
    if last[1] > first[1]:
        return [[_("%(name)s is %(value)s at step %(step)s, up from %(from)s.") % told, ""]]
    return [[_("%(name)s is %(value)s at step %(step)s, as at the start.") % told, ""]]


def device(low: float, middle: float, high: float, count: int, unit: str, *, of_nodes: bool = False) -> Finding:
    """How one device metric lies over the ranks."""
    if math.isnan(middle):
        return nothing()
    low_text, middle_text, high_text = (_measured(value, unit) for value in (low, middle, high))
    told = {"low": low_text, "mid": middle_text, "high": high_text, "n": count}
    if count == 1:
        return [[_("The newest sample is %(mid)s.") % told, ""]]
    if low_text == high_text:
        text = _("%(mid)s on each of %(n)s nodes.") if of_nodes else _("%(mid)s on each of %(n)s ranks.")
    elif count == 2:
        text = _("%(low)s and %(high)s on two nodes.") if of_nodes else _("%(low)s and %(high)s on two ranks.")
    else:
        text = (
            _("%(low)s to %(high)s on %(n)s nodes, the median is %(mid)s.")
            if of_nodes
            else _("%(low)s to %(high)s on %(n)s ranks, the median is %(mid)s.")
        )
    return [[text % told, ""]]


def _measured(value: float, unit: str) -> str:
    """`14 %`, `1.2 GB`: what a person tells apart."""
    if unit in ("B", "B/s"):
        return bytes_(value) + unit[1:]
    return f"{number(round(value, 0 if abs(value) >= 10 else 1))} {unit}".rstrip()


def _takes_more(ranks: list[Rank]) -> Finding:
    worst = ranks[0]
    head = _("Rank %(rank)s takes %(more)s more") % {"rank": worst.rank, "more": ms(worst.more)}
    told = {"other": ranks[1].rank, "n": len(ranks), "step": "" if worst.since is None else number(worst.since)}
    if worst.since is None:
        rest = _(" than rank %(other)s.") if len(ranks) == 2 else _(" than the median of %(n)s ranks.")
    elif len(ranks) == 2:
        rest = _(" than rank %(other)s since step %(step)s.")
    else:
        rest = _(" than the median of %(n)s ranks since step %(step)s.")
    return [[head, "warn"], [rest % told, ""]]


def ms(seconds: float) -> str:
    """`212 ms`, `5.2 ms`, `12.3 s`."""
    if abs(seconds) >= 10:
        return f"{number_format(seconds, 1, force_grouping=True)} s"
    return f"{number(seconds * 1e3)} ms"


def number(value: float) -> str:
    """Three figures that matter, thousands apart."""
    if not math.isfinite(value):
        return nonfinite(value)
    size = abs(value)
    if size >= 1e7 or 0 < size < 1e-3:
        return numeral(value, ".3g")
    shown = round(value) if size >= 1000 else float(f"{value:.3g}")
    decimals = 0 if shown == int(shown) else len(repr(shown).partition(".")[2])
    return number_format(shown, decimals, force_grouping=True)


def nonfinite(value: float) -> str:
    """NaN and infinities as people write them."""
    if math.isnan(value):
        return "NaN"
    return "∞" if value > 0 else "−∞"
