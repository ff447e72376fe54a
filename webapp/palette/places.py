"""Where a person can go from any page. The top bar, the palette and the sheet of shortcuts show the same places."""

from dataclasses import dataclass

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


@dataclass(frozen=True, slots=True)
class Place:
    """`keys`: what is typed to go there, one key after the other. `near`: in the bar of a narrow window too.
    `owns`: pages, or whole namespaces, that are a part of it.
    """

    title: str | Promise
    name: str
    keys: str
    owns: tuple[str, ...]
    near: bool = False

    @property
    def url(self) -> str:
        return reverse(self.name)

    @property
    def keys_apart(self) -> list[str]:
        return self.keys.split()


PLACES = (
    Place(_("Runs"), "runs:list", "g r", ("runs:list", "runs:detail", "exports", "compare"), near=True),
    Place(_("Incidents"), "incidents:list", "g i", ("incidents",), near=True),
    Place(_("Nodes"), "nodes:list", "g n", ("nodes", "preflight"), near=True),
    Place(_("Launch"), "runs:launch", "g l", ("runs:launch",)),
    Place(_("Sweeps"), "sweeps:list", "g s", ("sweeps",)),
    Place(_("Reports"), "reports:list", "g e", ("reports",)),
    Place(_("Projects"), "projects:list", "g p", ("projects", "alerts", "audit:of_project")),
)


def here(view_name: str) -> Place | None:
    """The place that a page is a part of."""
    space = view_name.partition(":")[0]
    return next((place for place in PLACES if view_name in place.owns or space in place.owns), None)
