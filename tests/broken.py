"""Real errors of the server: a table that it needs is gone."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection, models


@contextmanager
def without_table(model: type[models.Model]) -> Iterator[None]:
    """Needs `django_db(transaction=True)`, so that nothing else is undone or broken with it."""
    name = model._meta.db_table
    _rename(name, f"{name}_gone")
    try:
        yield
    finally:
        _rename(f"{name}_gone", name)


def _rename(old: str, new: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"ALTER TABLE {old} RENAME TO {new}")
