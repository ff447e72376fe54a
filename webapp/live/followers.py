"""Who may follow what, asked at the start of a stream and again while it is open."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TypeVar

from asgiref.sync import sync_to_async
from django.conf import settings
from django.db import connections

from webapp.accounts.models import User
from webapp.projects.access import visible
from webapp.projects.models import Project
from webapp.runs.models import Run

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Follower:
    """A person with the login session in which the stream was opened."""

    user_pk: int
    session_key: str

    async def may_follow(self, run_uid: str) -> bool:
        """Still logged in, still a member, and the run is still there."""
        return await asked(lambda: self._sees(run_uid))

    async def projects(self) -> frozenset[int] | None:
        """Projects whose runs the person sees; None when no longer logged in."""
        return await asked(self._projects)

    def _sees(self, run_uid: str) -> bool:
        user = self._user()
        return user is not None and visible(Run.objects.filter(uid=run_uid, deleted_at=None), user).exists()

    def _projects(self) -> frozenset[int] | None:
        user = self._user()
        if user is None:
            return None
        return frozenset(visible(Project.objects.all(), user, "pk").values_list("pk", flat=True))

    def _user(self) -> User | None:
        if not import_module(settings.SESSION_ENGINE).SessionStore().exists(self.session_key):
            return None
        return User.objects.filter(pk=self.user_pk, is_active=True).first()


async def asked(ask: Callable[[], T]) -> T:
    """The answer of the database to an open stream."""
    return await sync_to_async(_closing)(ask)


def _closing(ask: Callable[[], T]) -> T:
    """An open stream must not keep a database connection."""
    try:
        return ask()
    finally:
        for connection in connections.all(initialized_only=True):
            if not connection.in_atomic_block:
                connection.close()
