"""Sentences on steps that are missing. Pure."""

from collections.abc import Sequence

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from webapp.language.numerals import numeral

_FEW = 4

WHY: dict[str, str | Promise] = {
    "pending": gettext_lazy("%(ranks)s: %(steps)s are on the way from %(node)s."),
    "node_lost": gettext_lazy("%(ranks)s: %(steps)s were on %(node)s when it was lost. They come if it returns."),
    "overwritten": gettext_lazy(
        "%(ranks)s: %(steps)s were lost: the agent on %(node)s was away for longer than a rank keeps its steps."
    ),
    "disk_full": gettext_lazy("%(ranks)s: %(steps)s were lost: the disk of %(node)s was full."),
    "spool_full": gettext_lazy(
        "%(ranks)s: %(steps)s were lost: %(node)s could not send and had no room left for them."
    ),
    "unreadable": gettext_lazy("%(ranks)s: %(steps)s were lost: the device did not say in time how long they took."),
    "parked": gettext_lazy("%(ranks)s: %(steps)s were in a message of %(node)s that could not be read."),
    "unknown": gettext_lazy("%(ranks)s: %(steps)s never came from %(node)s, which did not say why."),
    "dropped": gettext_lazy("%(ranks)s: %(steps)s were lost on %(node)s."),
}


def ranks_text(ranks: Sequence[int]) -> str:
    """ "Rank 1", "Ranks 2 and 3", "Ranks 0 to 7" for ascending ranks."""
    if len(ranks) == 1:
        return _("Rank %s") % ranks[0]
    if len(ranks) > 2 and ranks[-1] - ranks[0] == len(ranks) - 1:
        return _("Ranks %(first)s to %(last)s") % {"first": ranks[0], "last": ranks[-1]}
    if len(ranks) > _FEW:
        return _("%s ranks") % len(ranks)
    names = [str(rank) for rank in ranks]
    return _("Ranks %(some)s and %(last)s") % {"some": ", ".join(names[:-1]), "last": names[-1]}


def steps_text(first: int, last: int) -> str:
    """ "step 9" or "steps 1,209 to 1,300"."""
    if first == last:
        return _("step %s") % numeral(first)
    return _("steps %(first)s to %(last)s") % {"first": numeral(first), "last": numeral(last)}
