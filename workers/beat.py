"""The clock of the periodic tasks, with a sign of life."""

from celery.beat import PersistentScheduler

from workers import alive

_LONGEST_SLEEP_S = 2.0


class AliveScheduler(PersistentScheduler):  # type: ignore[misc]
    """Celery's scheduler that says at every tick that it lives."""

    def tick(self, *args: object, **kwargs: object) -> float:
        alive.show("beat")
        return min(float(super().tick(*args, **kwargs)), _LONGEST_SLEEP_S)
