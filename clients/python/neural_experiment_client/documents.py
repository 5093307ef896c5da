"""The document of an experiment as Python writes it, and the complete form that the service takes."""

from __future__ import annotations

import csv
import inspect
import json
import math
import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypedDict, TypeVar, Union

Json = dict[str, Any]
#: A cell type or node set by name, an id, labels, a DataFrame of neurons, or a list of these, which are united.
Selector = Union[str, int, Mapping[str, Any], Iterable[Any]]
_F = TypeVar("_F", bound=Callable[..., Any])


class Document(TypedDict, total=False):
    """Members of the document of an experiment, as `Lab.run` explains them; GET /api/v2/openapi describes them in full.

    It may have further members that the service knows and this version of the client does not.
    """

    name: str
    network: str
    node_sets: Mapping[str, Selector]
    inputs: Mapping[str, Any]
    silence: Selector
    constants: Mapping[str, float]
    wiring: Mapping[str, Any]
    connection_overrides: Mapping[str, Mapping[str, Any]]
    duration_ms: int
    trials: int
    seed: int
    reports: Mapping[str, Any]
    sweep: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]
    controls: Mapping[str, Any]
    on_missing: str


def takes_document(function: _F) -> _F:
    """Shows the members of a document in the signature, because notebooks complete names from it."""
    signature = inspect.signature(function)
    *others, document = signature.parameters.values()
    members = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in Document.__annotations__.items()
    ]
    function.__signature__ = signature.replace(parameters=[*others, *members, document])  # type: ignore[attr-defined]
    return function


#: Of a neuron: its id and its labels.
NEURON_COLUMNS = ["root_id", "type", "class", "sub_class", "super_class", "side"]
#: What a search adds to them. Of a row that is a selector, they select nothing.
SYNAPSE_COLUMNS = ["input_synapses", "output_synapses"]
#: Other members of a selector: those that are selectors, and how far these reach.
_SELECTORS = ("downstream_of", "upstream_of", "except")
_STEPS = ("hops", "minimum_synapses")
_REPORT_TYPES = ("rate", "histogram", "latency", "spikes", "inputs", "membrane")


def completed(document: Mapping[str, Any]) -> Json:
    """Writes out the shorthands: an input or report that is only a selector, and ids that are integers."""
    # None is the default that the signature shows.
    complete = {name: value for name, value in document.items() if value is not None}
    for member in ("inputs", "reports"):
        if isinstance(complete.get(member), Mapping):
            for name, value in complete[member].items():
                if "rate_hz" in getattr(value, "columns", ()):
                    raise ValueError(f'{member}.{name}: a table with the column rate_hz is {{"rates": table}}')
            complete[member] = {
                name: {"node_set": value} if _is_selector(value, member) else dict(value)
                for name, value in complete[member].items()
            }
            for entry in complete[member].values():
                if "node_set" in entry:
                    entry["node_set"] = complete_selector(entry["node_set"])
                if "rates" in entry:
                    entry["rates"] = _rate_rows(entry["rates"])
                if isinstance(entry.get("times_ms"), Mapping):
                    entry["times_ms"] = {id_text(i): times for i, times in entry["times_ms"].items()}
    if "silence" in complete:
        silenced = complete_selector(complete["silence"])
        complete["silence"] = silenced if isinstance(silenced, list) else [silenced]
    if isinstance(complete.get("connection_overrides"), Mapping):
        complete["connection_overrides"] = {
            name: {**entry, **{end: complete_selector(entry[end]) for end in ("source", "target") if end in entry}}
            if isinstance(entry, Mapping)
            else entry
            for name, entry in complete["connection_overrides"].items()
        }
    if isinstance(complete.get("node_sets"), Mapping):
        complete["node_sets"] = {name: complete_selector(value) for name, value in complete["node_sets"].items()}
    if isinstance(complete.get("sweep"), Mapping):
        complete["sweep"] = [complete["sweep"]]
    if isinstance(complete.get("sweep"), Sequence):
        complete["sweep"] = [
            {**axis, "each": complete_selector(axis["each"])} if isinstance(axis, Mapping) and "each" in axis else axis
            for axis in complete["sweep"]
        ]
    return complete


def _rate_rows(rates: Any) -> Any:
    """Rows of `rates`: of a list, or of a CSV file or a DataFrame with `node_set` or `root_id`, and `rate_hz`."""
    if isinstance(rates, (str, os.PathLike)):
        with open(rates, newline="", encoding="utf-8-sig") as file:
            return [_rate_row(_cells(row), f"{rates}, line {at}") for at, row in enumerate(csv.DictReader(file), 2)]
    if hasattr(rates, "columns"):
        return [_rate_row(row, f"rates, row {at}") for at, row in enumerate(rates.to_dict("records"))]
    if not isinstance(rates, Sequence):
        return rates
    return [_with_selector(row) if isinstance(row, Mapping) else row for row in rates]


def _with_selector(row: Mapping[str, Any]) -> Json:
    complete = dict(row)
    if "root_id" in complete and "node_set" not in complete:
        complete["node_set"] = {"root_id": complete.pop("root_id")}
    if "node_set" in complete:
        complete["node_set"] = complete_selector(complete["node_set"])
    return complete


def _cells(row: Mapping[str, str]) -> Json:
    """A row of a CSV file. A cell of `node_set` is a name, or JSON if it begins like JSON."""
    name = row.get("node_set") or ""
    return {**row, "node_set": json.loads(name) if name.startswith(("{", "[")) else name} if name else dict(row)


def _rate_row(row: Mapping[str, Any], place: str) -> Json:
    """A row as the service takes it; a table may have other columns."""
    try:
        selector = row["node_set"] if "node_set" in row else {"root_id": row["root_id"]}
        rate_hz = float(row["rate_hz"])
        if not math.isfinite(rate_hz):
            raise ValueError(rate_hz)
        return {"node_set": complete_selector(selector), "rate_hz": rate_hz}
    except (KeyError, TypeError, ValueError) as failure:
        raise ValueError(f"{place}: expected node_set or root_id, and a number in rate_hz, got {row!r}") from failure


def _is_selector(value: Any, member: str) -> bool:
    """Whether a value stands for neurons, and is not the members of an input or a report, right or wrong."""
    if not isinstance(value, Mapping):
        return True
    kind = value.get("type")
    if member == "reports" and isinstance(kind, str) and kind in _REPORT_TYPES:
        return False
    return {*NEURON_COLUMNS, *SYNAPSE_COLUMNS, *_SELECTORS, *_STEPS}.issuperset(value)


def complete_selector(selector: Any) -> Any:
    """A selector without the shorthands of Python: integers, DataFrames, sets."""
    if hasattr(selector, "columns") and "root_id" in selector.columns:
        selector = selector["root_id"]
    # A column of ids, which may be texts.
    if getattr(selector, "name", None) == "root_id":
        return {"root_id": [id_text(each) for each in selector]}
    if is_id(selector):
        return {"root_id": str(int(selector))}
    if isinstance(selector, Mapping):
        changed = {name: value for name, value in selector.items() if name not in SYNAPSE_COLUMNS}
        if "root_id" in changed:
            ids = changed["root_id"]
            is_one = isinstance(ids, str) or is_id(ids)
            changed["root_id"] = id_text(ids) if is_one else [id_text(each) for each in ids]
        # An item of `silence` with a window has its neurons in a member.
        for member in (*_SELECTORS, "node_set"):
            if member in changed:
                changed[member] = complete_selector(changed[member])
        return changed
    if isinstance(selector, (set, frozenset)):
        # Equal sets shall make equal documents.
        return _united(sorted(selector, key=str))
    if isinstance(selector, Iterable) and not isinstance(selector, str):
        return _united(list(selector))
    return selector


def query_text(selector: Any) -> str:
    """A selector in the form of a query: commas separate names."""
    if isinstance(selector, str):
        return json.dumps([selector]) if "," in selector else selector
    return json.dumps(selector, default=plain)


def _united(parts: list[Any]) -> list[Any]:
    """Ids of a list become one selector: a long list of ids stays a short document."""
    ids = [str(int(part)) for part in parts if is_id(part)]
    others = [complete_selector(part) for part in parts if not is_id(part)]
    return [*others, {"root_id": ids}] if ids else others


def is_id(value: Any) -> bool:
    """True for a root id as an integer, also of NumPy, and false for any other selector."""
    if isinstance(value, float):
        raise ValueError(
            f"Root ids must be integers or texts, got {value!r}: a float does not have all of their digits."
        )
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def id_text(value: Any) -> Any:
    """An id as the service has it."""
    return str(int(value)) if is_id(value) else value


def not_finite(value: Any, path: str = "") -> str | None:
    """The path of the first number that is infinite or NaN, and the number."""
    if isinstance(value, float):
        return None if math.isfinite(value) else f"{path} is {value}"
    if not isinstance(value, (Mapping, list, tuple)):
        listed = value.tolist() if hasattr(value, "tolist") else None
        return not_finite(listed, path) if isinstance(listed, (float, list)) else None
    parts = value.items() if isinstance(value, Mapping) else enumerate(value)
    return next(filter(None, (not_finite(part, f"{path}/{at}") for at, part in parts)), None)


def plain(value: Any) -> Any:
    """Numbers and arrays of NumPy and pandas as JSON has them."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    raise TypeError(f"A document cannot hold {type(value).__name__}: {value!r}")
