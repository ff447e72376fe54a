"""Names of the charts that show an incident's evidence, and the sentences that their scripts fill in."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from webapp.runs.run_words import WORDS as RUN_WORDS
from webapp.telemetry.findings import PHASE_WORDS

WORDS: dict[str, str | Promise] = {
    **RUN_WORDS,
    "links_hint": _("row sends to column; the far end of the scale is slow"),
    "onset": _("began"),
    "nothing": _("No numbers around this moment are kept."),
    "charts_not_read": _("The numbers could not be read. Reload the page to try again."),
}
_TITLES: dict[str, tuple[str | Promise, str | Promise]] = {
    "parts": (_("Where the time goes"), _("ms per step since then")),
    "before": (_("Step time against what was usual"), _("ms, median rank")),
    "parts_before": (_("What grew"), _("ms per step, median rank")),
    "transfer": (_("Transfer against what was usual"), _("ms per step")),
    "links": (_("Links between nodes"), _("ms busy per MB")),
    "phases": (_("Where a step goes"), _("ms, median rank")),
    "device:gpu/sm_clock": (_("GPU clock"), _("by rank")),
    "device:gpu/temperature": (_("GPU temperature"), _("by rank")),
    "device:gpu/util": (_("GPU utilisation"), _("by rank")),
    "device:rank/cpu": (_("Processor time"), _("by rank")),
}


def title(chart: str) -> tuple[str, str]:
    """Title and unit of a chart's card."""
    kind, _colon, part = chart.partition(":")
    if kind == "own":
        return str(_("Against the others")), str(_("ms per step, %s")) % PHASE_WORDS[part]()
    if kind == "heat":
        return str(_("Ranks by step")), str(_("ms, %s")) % PHASE_WORDS[part]()
    name, unit = _TITLES[chart]
    return str(name), str(unit)
