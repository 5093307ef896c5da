"""Tables as DataFrames of pandas."""

from __future__ import annotations

from typing import Any

from .documents import Json


def pandas_module() -> Any:
    """Loads pandas, or says what needs it."""
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("DataFrames need pandas: pip install pandas. Result.json needs nothing.") from missing
    return pandas


def frame_or_list(rows: list[Json], names: list[str]) -> Any:
    """A DataFrame, or the rows themselves without pandas."""
    try:
        # Where there are rows they have the names.
        return pandas_module().DataFrame(rows, columns=None if rows else names)
    except ImportError:
        return rows


def frame(rows: list[Json], names: list[str]) -> Any:
    """A DataFrame with these columns, also where there are no rows."""
    return pandas_module().DataFrame(rows, columns=names)
