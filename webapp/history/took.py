"""How long a run ran, as an expression that the database computes by itself, fast enough to sort 50,000 runs by it."""

from typing import Any

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BigIntegerField, F, Func
from django.db.models.functions import Coalesce, Now
from django.db.models.sql.compiler import SQLCompiler


class Took(Func):
    """Whole milliseconds from a run's start to its end, or until now; null before its start.

    Django's own difference of two times is a Python function on SQLite, called for every row.
    """

    output_field = BigIntegerField()
    template = "(EXTRACT(EPOCH FROM (%(expressions)s)) * 1000)::bigint"
    arg_joiner = " - "

    def __init__(self) -> None:
        super().__init__(Coalesce(F("ended_at"), Now()), F("started_at"))

    def as_sqlite(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper, **context: Any) -> Any:
        """Days of the Julian calendar are what SQLite can subtract."""
        template = "CAST(ROUND((JULIANDAY(%(expressions)s)) * 86400000.0) AS INTEGER)"
        return self.as_sql(compiler, connection, template=template, arg_joiner=") - JULIANDAY(", **context)
