"""Tables as DataFrames of pandas."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from .documents import Json


def pandas_module() -> Any:
    """Loads pandas, or raises an error that says how to install it."""
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("DataFrames need pandas: pip install pandas. Result.json needs nothing.") from missing
    return pandas


def frame_or_list(rows: list[Json], names: list[str]) -> Any:
    """A DataFrame, or the rows themselves without pandas."""
    try:
        # Rows, if there are any, have the names.
        return _typed(pandas_module().DataFrame(rows, columns=None if rows else names))
    except ImportError:
        return rows


def frame(rows: list[Json], names: list[str]) -> Any:
    """A DataFrame with these columns, even without rows."""
    return _typed(pandas_module().DataFrame(rows, columns=names))


def frame_of_columns(columns: dict[str, list[Any]]) -> Any:
    """A DataFrame with these columns, even without rows."""
    return _typed(pandas_module().DataFrame(columns))


#: Columns of measurements. The name of a swept parameter has a dot, and its values stay as they are.
_FLOATS = re.compile(
    r"\w+_(mean|sd|sem|ci95_low|ci95_high)|p|q|rate_hz|latency_ms|t_ms|bin_start_ms|v_mv|responding|responding_trials"
)
#: Columns of numbers of things; floats if one is missing.
_COUNTS = re.compile(
    "condition|trials?|control|neurons|responding_any|progress|conditions(_done)?|(input_|output_)?synapses|"
    "((excitatory|inhibitory)_)?pairs"
)


def _typed(frame: Any) -> Any:
    """The DataFrame with the same types whatever its values are: pandas has to guess them if there are none."""
    for name in frame.columns:
        wanted = _type_of(name, frame[name])
        if frame[name].dtype != wanted:
            frame[name] = frame[name].astype(wanted)
    return frame


def _type_of(name: str, column: Any) -> Any:
    if _FLOATS.fullmatch(name):
        return "float64"
    if _COUNTS.fullmatch(name):
        return "float64" if column.isna().any() else "int64"
    if len(column) > 0:
        return column.dtype
    return bool if name == "unchanged" else str


#: Columns of text, also as the last part of the name of a swept parameter.
_TEXTS = ("root_id", "type", "side", "class", "sub_class", "super_class", "report", "input")


def fastest_ending() -> str:
    """The format that the installed packages read fastest."""
    pandas_module()
    return ".csv" if find_spec("pyarrow") is None else ".arrow"


def table_frame(path: Path) -> Any:
    """A DataFrame of a .csv or .arrow of the service, with the same columns of either."""
    if path.suffix == ".csv":
        frame = pandas_module().read_csv(path, dtype=str, keep_default_na=False)
        return _typed(frame.assign(**{name: _values_of_csv(frame[name]) for name in frame.columns}))
    import pyarrow

    with pyarrow.OSFile(str(path)) as file:
        table = pyarrow.ipc.open_stream(file).read_all()

    def plain(given: Any) -> Any:
        # Not categories: all of them would be groups of groupby.
        if pyarrow.types.is_dictionary(given):
            return pyarrow.string()
        return pyarrow.int64() if pyarrow.types.is_int32(given) else given

    types = map(plain, table.schema.types)
    frame = table.cast(pyarrow.schema(list(zip(table.column_names, types)))).to_pandas()
    # A swept parameter is a column of doubles. CSV and JSON show whole numbers as such.
    swept = [name for name in frame.columns if not _FLOATS.fullmatch(name) and frame[name].dtype == "float64"]
    whole = [name for name in swept if ((frame[name] % 1 == 0) & (frame[name].abs() < 2**53)).all()]
    return _typed(frame.astype(dict.fromkeys(whole, "int64")))


def _values_of_csv(column: Any) -> Any:
    """Numbers, or texts without the apostrophe that keeps a spreadsheet from computing them."""
    if str(column.name).rpartition(".")[2] not in _TEXTS:
        try:
            return pandas_module().to_numeric(column)
        except ValueError:
            pass
    return column.str.replace(r"^'(?=[=+\-@\t\r])", "", regex=True)
