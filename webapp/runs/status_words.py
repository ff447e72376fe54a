"""The words by which people ask for a state; the words of the database are understood too."""

from django.db.models import Q

from webapp.runs.models import Outcome, Status

STATUS_WORDS: dict[str, Q] = {
    "queued": Q(status=Status.QUEUED),
    "running": Q(status__in=[Status.STARTING, Status.RUNNING, Status.STOPPING]),
    "finished": Q(status=Status.ENDED, outcome=Outcome.SUCCEEDED),
    "failed": Q(status=Status.ENDED, outcome__in=[Outcome.FAILED, Outcome.LOST]),
    "stopped": Q(status=Status.ENDED, outcome=Outcome.STOPPED),
    "starting": Q(status=Status.STARTING),
    "stopping": Q(status=Status.STOPPING),
    "ended": Q(status=Status.ENDED),
    "succeeded": Q(outcome=Outcome.SUCCEEDED),
    "lost": Q(outcome=Outcome.LOST),
}
