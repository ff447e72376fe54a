"""The run or attempt that an address names: 404 for strangers, 403 for members whose role is too small."""

from django.http import HttpRequest
from django.utils.translation import gettext as _

from webapp.api.auth import person
from webapp.api.errors import ApiError
from webapp.projects.models import Role
from webapp.runs.models import Attempt, Run
from webapp.runs.queries import run_for


def run_named(request: HttpRequest, run_id: str, role: Role = Role.VIEWER) -> Run:
    """The run, if the person who asks has at least `role` in its project."""
    return run_for(person(request), run_id, role)


def attempt_named(request: HttpRequest, run_id: str, number: int | None) -> Attempt:
    """One attempt of a run that the person may see; the newest one when `number` is None."""
    attempts = run_named(request, run_id).attempts.order_by("-number")
    found = (attempts.filter(number=number) if number is not None else attempts).first()
    if found is None:
        raise ApiError(404, _("Run %(run)s has no attempt %(number)s.") % {"run": run_id, "number": number})
    return found
