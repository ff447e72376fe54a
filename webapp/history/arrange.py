"""The only writer of how people arrange runs: tags, group, archive, pin, favourite. Each takes many runs at once."""

from collections.abc import Sequence

from django.utils import timezone

from webapp.accounts.models import User
from webapp.history.models import Favourite, Tag
from webapp.runs.models import Run

LONGEST_TAG = 60
LONGEST_GROUP = 120
_AT_ONCE = 500  # of SQLite's variables in one statement


def tag(runs: Sequence[int], name: str) -> None:
    """Runs that have it already keep it."""
    Tag.objects.bulk_create([Tag(run_id=pk, name=name) for pk in runs], ignore_conflicts=True, batch_size=_AT_ONCE)


def untag(runs: Sequence[int], name: str) -> None:
    for some in _bites(runs):
        Tag.objects.filter(run__in=some, name=name).delete()


def group(runs: Sequence[int], name: str) -> None:
    """An empty name takes them out of theirs."""
    _set(runs, group=name)


def archive(runs: Sequence[int], *, away: bool) -> None:
    _set(runs, archived_at=timezone.now() if away else None)


def pin(runs: Sequence[int], *, on_top: bool) -> None:
    _set(runs, pinned_at=timezone.now() if on_top else None)


def star(runs: Sequence[int], user: User) -> None:
    rows = [Favourite(run_id=pk, user=user) for pk in runs]
    Favourite.objects.bulk_create(rows, ignore_conflicts=True, batch_size=_AT_ONCE)


def unstar(runs: Sequence[int], user: User) -> None:
    for some in _bites(runs):
        Favourite.objects.filter(run__in=some, user=user).delete()


def _set(runs: Sequence[int], **fields: object) -> None:
    for some in _bites(runs):
        Run.objects.filter(pk__in=some).update(**fields)


def _bites(runs: Sequence[int]) -> list[Sequence[int]]:
    return [runs[at : at + _AT_ONCE] for at in range(0, len(runs), _AT_ONCE)]
