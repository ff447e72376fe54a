"""Sentences about rules and alerts."""

from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _lazy

from webapp.alerts.firing import ABOVE, NOT_FINITE, SILENT
from webapp.alerts.models import Alert, Kind, Rule
from webapp.incidents import words as incident_words
from webapp.incidents.listing import KINDS
from webapp.incidents.models import Severity
from webapp.runs.templatetags.figures import duration, figure
from webapp.telemetry.units import unit_of

_WHOSE: dict[str, str | Promise] = {
    "any": _lazy("%(metric)s of %(who)s"),
    "min": _lazy("The lowest %(metric)s, that of %(who)s,"),
    "max": _lazy("The highest %(metric)s, that of %(who)s,"),
}
_WHAT: dict[str, str | Promise] = {
    "any": _lazy("%s of some rank"),
    "min": _lazy("%s of the lowest rank"),
    "mean": _lazy("%s as the mean of the ranks"),
    "max": _lazy("%s of the highest rank"),
    "median": _lazy("%s as the median of the ranks"),
    "spread": _lazy("%s between the highest and the lowest rank"),
}


def sentence(alert: Alert) -> str:
    """What is wrong, in a sentence or two."""
    if alert.incident is not None:
        return incident_words.sentence(alert.incident)
    asked = alert.facts
    if asked["comparison"] == SILENT:
        return _("No %(metric)s has come for %(window)s.") % _told(asked)
    if asked["comparison"] == NOT_FINITE:
        value = _("NaN") if asked["text"] == "nan" else _("infinite")
        return _("%(what)s is %(value)s%(hold)s.") % {**_told(asked), "value": value}
    told = {**_told(asked), "value": amount(alert.value, asked["metric"]) if alert.value is not None else asked["text"]}
    if asked["comparison"] == ABOVE:
        text = _("%(what)s is %(value)s%(mean)s: more than %(limit)s%(hold)s.")
    else:
        text = _("%(what)s is %(value)s%(mean)s: less than %(limit)s%(hold)s.")
    return text % told


def asks(rule: Rule) -> str:
    """When a rule fires, for its row in the list."""
    if rule.kind == Kind.INCIDENT:
        return _asks_of_incidents(rule)
    told = _told({name: getattr(rule, name) for name in ("metric", "over", "threshold", "window_s", "hold_s")})
    if rule.comparison == SILENT:
        return _("No %(metric)s for %(window)s.") % told
    if rule.comparison == NOT_FINITE:
        return _("%(what)s is NaN or infinite%(hold)s.") % told
    if rule.comparison == ABOVE:
        return _("%(what)s is above %(limit)s%(mean)s%(hold)s.") % told
    return _("%(what)s is below %(limit)s%(mean)s%(hold)s.") % told


def amount(value: float, metric: str) -> str:
    """ "0.62 s", "3.1" """
    return f"{figure(value)} {unit_of(metric)}".strip()


def _asks_of_incidents(rule: Rule) -> str:
    kinds = ", ".join(str(KINDS.get(kind, kind)) for kind in rule.kinds) or _("any kind")
    least = {
        Severity.INFO: _("info or worse"),
        Severity.WARNING: _("warning or worse"),
        Severity.CRITICAL: _("critical"),
    }[Severity(rule.least_severity)]
    text = _("An incident opens: %(kinds)s; %(least)s.") % {"kinds": kinds, "least": least}
    if not rule.least_slowdown:
        return text
    return f"{text} " + _("Steps take at least %s %% longer.") % f"{100 * rule.least_slowdown:g}"


def _told(asked: dict[str, Any]) -> dict[str, str]:
    window, hold = asked["window_s"], asked["hold_s"]
    return {
        "metric": asked["metric"],
        "what": _what(asked),
        "limit": f"{asked['threshold'] or 0.0:g} {unit_of(asked['metric'])}".strip(),
        "window": duration(window),
        "mean": _(" in the mean of %s") % duration(window) if window else "",
        "hold": _(" for %s") % duration(hold) if hold else "",
    }


def _what(asked: dict[str, Any]) -> str:
    """The metric, and whose it is where that is known."""
    metric, rank = str(asked["metric"]), asked.get("rank")
    if rank is None or asked["over"] not in _WHOSE:
        return str(_WHAT[asked["over"]]) % metric
    who = _("node %s") if metric.startswith("node/") else _("rank %s")
    return str(_WHOSE[asked["over"]]) % {"metric": metric, "who": who % rank}
