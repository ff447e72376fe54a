"""Windows of metrics as one Parquet file: metric, unit, axis, index (step or epoch seconds), rank, value."""

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet

from webapp.telemetry.series import Series

_TEXT = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
_SCHEMA = pyarrow.schema(
    [
        *((name, _TEXT) for name in ("metric", "unit", "axis")),
        ("index", pyarrow.int64()),
        ("rank", pyarrow.int32()),  # of node/* and link/*: the node's rank
        ("value", pyarrow.float64()),
    ]
)


def parquet(parts: Iterable[Series]) -> bytes:
    """One row a point. A missing point has no row; a NaN that was logged is a value."""
    tables = [_table(part) for part in parts]
    whole = pyarrow.concat_tables(tables) if tables else _SCHEMA.empty_table()
    out = io.BytesIO()
    pyarrow.parquet.write_table(whole.unify_dictionaries(), out, compression="zstd")
    return out.getvalue()


def _table(part: Series) -> Any:
    row, at = np.nonzero(part.present)
    columns = np.asarray(part.columns, np.int32)
    texts = [_same(text, row.size) for text in (part.name, part.unit, part.axis)]
    return pyarrow.table([*texts, part.index[row], columns[at], part.values[row, at]], schema=_SCHEMA)


def _same(text: str, times: int) -> Any:
    return pyarrow.DictionaryArray.from_arrays(np.zeros(times, np.int32), [text])
