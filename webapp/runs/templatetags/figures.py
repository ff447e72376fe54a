"""Numbers as people read them, in their language: units after a space, a dash for what is unknown."""

import math
from datetime import UTC, datetime
from typing import TypeGuard

from django import template
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from webapp.language.numerals import numeral
from webapp.runs.models import Stateful

register = template.Library()
UNKNOWN = "–"
_MOMENTS = {"day": "j M Y", "minute": "j M Y, H:i", "second": "j M Y, H:i:s", "time": "H:i:s"}


@register.filter
def duration(seconds: float | None, style: str = "full") -> str:
    """Seconds to "42 s", "17 m 42 s" ("17 m" when `style` is short), "1 h 31 m", "3 d 4 h"."""
    if not _known(seconds):
        return UNKNOWN
    s = max(0, int(seconds))
    if s < 60:
        return f"{s} s"
    minutes, hours = s // 60, s // 3600
    if minutes < 60:
        return f"{minutes} m" if style == "short" else f"{minutes} m {s % 60:02} s"
    if hours < 48:
        return f"{hours} h {minutes % 60:02} m"
    return f"{hours // 24} d {hours % 24} h"


@register.filter
def hours(seconds: float | None) -> str:
    """Slot time: "42 s", "17 m 42 s", "1 h 31 m", "1,204 h"; it never becomes days."""
    return numeral(seconds / 3600, ",.0f") + " h" if _known(seconds) and seconds >= 48 * 3600 else duration(seconds)


@register.filter
def age(since: datetime | None, style: str = "full") -> SafeString | str:
    """How long ago, ticking in the browser. `style`: full, short, or ago ("2 m ago", "yesterday")."""
    if since is None:
        return UNKNOWN
    text = ago(since) if style == "ago" else duration(_seconds_since(since), style)
    return format_html(
        '<time datetime="{}" title="{}" data-since="{}" data-age="{}">{}</time>',
        since.isoformat(),
        _in_utc(since, "second"),
        f"{since.timestamp():.1f}",
        style,
        text,
    )


@register.filter
def moment(at: datetime | None, style: str = "minute") -> SafeString | str:
    """A point in time, in UTC; the browser writes it in its own zone. `style`: day, minute, second, or time."""
    if at is None:
        return UNKNOWN
    return format_html(
        '<time datetime="{}" title="{}" data-at="{}">{}</time>',
        at.isoformat(),
        _in_utc(at, "second"),
        style,
        _in_utc(at, style),
    )


@register.filter
def ago(since: datetime | None) -> str:
    """ "18 m ago", "yesterday", "3 days ago", as still text."""
    if since is None:
        return UNKNOWN
    seconds = _seconds_since(since)
    if seconds < 3600:
        return _("%s ago") % duration(seconds, "short")
    if seconds < 86400:
        return _("%s ago") % f"{int(seconds // 3600)} h"
    days = int(seconds // 86400)
    return _("yesterday") if days == 1 else ngettext("%(n)d day ago", "%(n)d days ago", days) % {"n": days}


@register.filter
def took(row: Stateful) -> float | None:
    """Seconds that a run or attempt has been (or was) alive, None before its first rank."""
    if row.started_at is None:
        return None
    return ((row.ended_at or timezone.now()) - row.started_at).total_seconds()


@register.filter
def number(value: float | None, places: int = 0) -> str:
    """ "1,366", with `places` decimals; NaN and infinities by name."""
    if not _known(value):
        return UNKNOWN
    return _nonfinite(value) or numeral(value, f",.{places}f")


@register.filter
def figure(value: float | None) -> str:
    """A value of any size in at most four significant digits: "3.412", "0.0002", "1.2e-7", "12,345"."""
    if not _known(value):
        return UNKNOWN
    size = abs(value)
    if not math.isfinite(value) or size == 0 or size >= 1000:
        return _nonfinite(value) or numeral(value, ",.0f" if size < 1e9 else ".3g")
    if size >= 1:
        return numeral(value, f".{3 - math.floor(math.log10(size))}f")
    return numeral(value, ".3f" if size >= 0.1 else ".3g")


@register.filter
def ms(seconds: float | None) -> str:
    """Seconds to "212 ms", "1,204 ms", "0.4 ms"."""
    if not _known(seconds) or not math.isfinite(seconds):
        return UNKNOWN
    value = seconds * 1000
    return numeral(value, ",.0f" if abs(value) >= 10 else ".1f") + " ms"


@register.filter(name="bytes")
def bytes_(count: float | None) -> str:
    """Bytes to "512 B", "4.2 GB" (powers of 1024)."""
    if not _known(count):
        return UNKNOWN
    size = float(count)
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 1024 or unit == "TB":
            break
        size /= 1024
    return numeral(size, ",.0f" if unit == "B" or size >= 10 else ",.1f") + f" {unit}"


@register.filter
def percent(value: float | None) -> str:
    """ "17 %" """
    return f"{value:.0f} %" if _known(value) else UNKNOWN


def _known(value: float | None) -> TypeGuard[float]:
    """A template hands over "" for what is not there at all."""
    return isinstance(value, int | float)


def _in_utc(at: datetime, style: str) -> str:
    text = date_format(at.astimezone(UTC), _MOMENTS[style])
    return text if style in ("day", "time") else f"{text} UTC"


def _seconds_since(since: datetime) -> float:
    return (timezone.now() - since).total_seconds()


def _nonfinite(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    return ""
