"""Open experiments on a spiking model of the fruit fly brain, for notebooks and scripts.

    from neural_experiment_client import Lab

    lab = Lab("http://localhost:8080")
    result = lab.run(
        inputs={"loom": {"node_set": ["LC4:left", "LPLC2:left"], "rate_hz": 100}},
        reports={"giant_fibre": {"node_set": "DNp01", "group_by": ["side"]}},
    )
    result.rates  # a pandas.DataFrame

Only the standard library is needed. DataFrames need pandas, and an Arrow or Parquet file of more rows than the service
sends at once needs pyarrow.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import hashlib
import http
import itertools
import json
import numbers
import os
import re
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import IO, Any, TypeVar, Union

__version__ = "1.0.0"
__all__ = [
    "Job",
    "JobState",
    "Lab",
    "LabConnectionError",
    "LabError",
    "Progress",
    "Result",
    "Session",
    "default_params",
    "print_job_state",
    "print_progress",
    "run_exp",
]

Json = dict[str, Any]
#: A cell type or node set by name, an id, labels, or a list of these, which are united.
Selector = Union[str, int, Mapping[str, Any], Sequence[Any]]

_T = TypeVar("_T")
_URL_VARIABLE = "NEURAL_EXPERIMENT_URL"
_DEFAULT_URL = "http://localhost:8080"
_EXTENSIONS = {".csv": "csv", ".arrow": "arrow", ".parquet": "parquet", ".ndjson": "ndjson", ".json": "json"}
_TEMPORARY = (429, 503)
_NONE: Mapping[str, str] = {}
#: Opens an answer with the members of a query.
_Ask = Callable[[Mapping[str, Union[str, None]]], Any]
#: The most that a search lists, and that GET /api/v2/neurons looks up, at once.
_ROWS_A_REQUEST = 10_000
_IDS_A_REQUEST = 200
#: Of a neuron: its id and its labels.
_NEURON_COLUMNS = ["root_id", "type", "class", "sub_class", "super_class", "side"]
#: Other members of a selector: those that are selectors, and how far these reach.
_SELECTORS = ("downstream_of", "upstream_of", "except")
_STEPS = ("hops", "minimum_synapses")


class LabError(Exception):
    """The service refused a request, or an experiment failed.

    Attributes:
        status: HTTP status; None where an experiment failed after its answer had begun.
        code: the error in one word, for programs; docs/errors.md lists them.
        path: JSON Pointer to the fault in the document; "" for the document as a whole; None if it is elsewhere.
        suggestions: values that may have been meant, nearest first.
        retry_after_s: seconds after which to try again, where the service says so.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        code: str | None = None,
        path: str | None = None,
        suggestions: Sequence[str] = (),
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.path = path
        self.suggestions = list(suggestions)
        self.retry_after_s = retry_after_s


class LabConnectionError(LabError):
    """Nothing answered at the address, the connection broke, or no byte came within the time limit."""


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Where responders of the baseline decide on conditions, the totals are upper bounds until it is done.
    """

    conditions_done: int
    conditions: int
    trials_done: int
    trials: int
    elapsed_s: float

    @property
    def left_s(self) -> float | None:
        """Seconds left if the rest takes as long as what is done; None before the first trial is done."""
        if self.trials_done == 0:
            return None
        return self.elapsed_s * (self.trials - self.trials_done) / self.trials_done


def print_progress(progress: Progress) -> None:
    """Shows the progress in one line of the terminal or of a notebook's output."""
    left = "" if progress.left_s is None else f", {progress.left_s:.0f} s left"
    text = (
        f"{progress.trials_done} of {progress.trials} trials, "
        f"{progress.conditions_done} of {progress.conditions} conditions{left}"
    )
    end = "\n" if progress.conditions_done == progress.conditions else ""
    print(f"\r{text:<70}", end=end, file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class JobState:
    """How far a job is."""

    #: `accepted`, `running`, `successful`, `failed` or `dismissed`.
    status: str
    #: Per cent.
    progress: int
    conditions_done: int
    conditions: int
    #: Estimate of the service; None where it has none.
    left_s: float | None
    #: What the job failed with.
    error: LabError | None

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.status in ("successful", "failed", "dismissed")


def print_job_state(state: JobState) -> None:
    """Shows the state in one line of the terminal or of a notebook's output."""
    left = "" if state.left_s is None else f", {state.left_s:.0f} s left"
    text = f"{state.status}: {state.progress} %, {state.conditions_done} of {state.conditions} conditions{left}"
    print(f"\r{text:<70}", end="\n" if state.is_finished else "", file=sys.stderr, flush=True)


class Result:
    """The answer to an experiment.

    Attributes:
        json: the whole answer, as the service's JSON format has it. Where the service sent it in several parts, `cost`
            is that of all of them, and a condition at their border counts in both.
    """

    def __init__(self, answer: Json) -> None:
        self.json = answer

    @property
    def id(self) -> str:
        """Names the experiment on this model: equal experiments have equal ids."""
        return self.json["id"]

    @property
    def document(self) -> Json:
        """The experiment with every default; `lab.run(**result.document)` repeats it."""
        return self.json["experiment"]

    @property
    def is_partial(self) -> bool:
        """Whether it is of a job that is not finished, and has only the conditions that are done."""
        return self.json.get("partial", False)

    @property
    def warnings(self) -> list[Json]:
        """What to bear in mind about the results: `code` and `message` of each. They are also shown when it comes."""
        return self.json["warnings"]

    @property
    def rates(self) -> Any:
        """A DataFrame with a row for each condition, report and group.

        `condition`, a column for each swept parameter, `report`, the labels of the group, `neurons`, `responding`
        (neurons with a spike in a trial, mean over trials), `rate_hz_mean` and `rate_hz_sd` (Hz; over trials,
        population sd) and `trials`, their number. Where the experiment has controls also `control_hz_mean` and
        `control_hz_sd` (over the controls), `p` and `q`.
        """
        labels = self._labels(("rate", "histogram"))
        controlled = "controls" in self.document

        def of_controls(group: Json) -> Json:
            control = group.get("control")
            values = [control and control[member] for member in ("mean", "sd", "p", "q")] if controlled else []
            return dict(zip(_CONTROL_COLUMNS, values))

        rows = [
            {
                **self._parameters(condition),
                "report": report,
                **{label: group.get(label, "") for label in labels},
                "neurons": group["neurons"],
                "responding": _member(group["responding"], "mean"),
                "rate_hz_mean": _member(group["rate_hz"], "mean"),
                "rate_hz_sd": _member(group["rate_hz"], "sd"),
                **of_controls(group),
                "trials": self.document["trials"],
            }
            for condition, report, group in self._groups(("rate", "histogram"))
        ]
        columns = ["neurons", "responding", "rate_hz_mean", "rate_hz_sd", *(_CONTROL_COLUMNS if controlled else ())]
        return _frame(rows, [*self._parameter_names(), "report", *labels, *columns, "trials"])

    @property
    def controls(self) -> Any:
        """A DataFrame with a row for each condition, report of rates, group and control.

        As `rates`, with `control`, its number from 1 on, and `rate_hz_mean` in it (None where a trial was stopped).
        """
        labels = self._labels(("rate",))
        rows = [
            {
                **self._parameters(condition),
                "report": report,
                **{label: group.get(label, "") for label in labels},
                "neurons": group["neurons"],
                "control": number,
                "rate_hz_mean": rate_hz,
                "trials": self.document["trials"],
            }
            for condition, report, group in self._groups(("rate",))
            for number, rate_hz in enumerate(group.get("control", {}).get("values", []), 1)
        ]
        names = ["neurons", "control", "rate_hz_mean", "trials"]
        return _frame(rows, [*self._parameter_names(), "report", *labels, *names])

    @property
    def latency(self) -> Any:
        """A DataFrame with a row for each condition, report of latencies and group.

        As `rates`, with `latency_ms_mean` and `latency_ms_sd` (from `start_ms` of the report to the first spike of any
        neuron of the group; over the trials that have one, population sd) and `responding_trials`, the share of these.
        """
        labels = self._labels(("latency",))
        rows = [
            {
                **self._parameters(condition),
                "report": report,
                **{label: group.get(label, "") for label in labels},
                "neurons": group["neurons"],
                "latency_ms_mean": _member(group["latency_ms"], "mean"),
                "latency_ms_sd": _member(group["latency_ms"], "sd"),
                "responding_trials": group["responding_trials"],
                "trials": self.document["trials"],
            }
            for condition, report, group in self._groups(("latency",))
        ]
        names = ["neurons", "latency_ms_mean", "latency_ms_sd", "responding_trials", "trials"]
        return _frame(rows, [*self._parameter_names(), "report", *labels, *names])

    @property
    def histogram(self) -> Any:
        """A DataFrame with a row for each condition, histogram, group and bin.

        As `rates`, with `bin_start_ms`, from the start of the trial, and `rate_hz`, mean over neurons and trials.
        """
        labels = self._labels(("histogram",))
        rows = []
        for condition, report, group in self._groups(("histogram",)):
            document = self.document["reports"][report]
            # Times are multiples of 0.1 ms: sums of whole steps are exact.
            start, width = round(10 * document["start_ms"]), round(10 * document["bin_ms"])
            for place, rate_hz in enumerate(group["bins_hz"] or []):
                rows.append(
                    {
                        **self._parameters(condition),
                        "report": report,
                        **{label: group.get(label, "") for label in labels},
                        "neurons": group["neurons"],
                        "bin_start_ms": (start + place * width) / 10,
                        "rate_hz": rate_hz,
                        "trials": self.document["trials"],
                    }
                )
        names = ["neurons", "bin_start_ms", "rate_hz", "trials"]
        return _frame(rows, [*self._parameter_names(), "report", *labels, *names])

    @property
    def spikes(self) -> Any:
        """A DataFrame with a row for each spike of the reports of type `spikes`.

        `condition`, `report`, `trial` (from 0), `t_ms` (from the start of the trial), `root_id` (text: ids exceed
        2^53). `Lab.download` writes millions of spikes to a file without holding them in memory, with types and sides.
        """
        return self._table("spikes", ["trial", "t_ms", "root_id"])

    @property
    def inputs(self) -> Any:
        """As `spikes`, with the events of the reports of type `inputs`, and `input`, the name of the input."""
        return self._table("inputs", ["trial", "t_ms", "input", "root_id"])

    @property
    def membrane(self) -> Any:
        """As `spikes`, with the samples of the reports of type `membrane`, and `v_mv`, the membrane potential in mV."""
        return self._table("membrane", ["trial", "t_ms", "root_id", "v_mv"])

    def __repr__(self) -> str:
        name = self.document.get("name")
        title = "Result" if name is None else f"Result of {name!r}"
        return f"<{title}: {len(self.json['conditions'])} conditions, {self.document['trials']} trials each>"

    def _table(self, kind: str, names: list[str]) -> Any:
        columns: dict[str, list[Any]] = {name: [] for name in ["condition", "report", *names]}
        truncated = False
        for condition in self.json["conditions"]:
            for report in self._reports((kind,)):
                table = condition["reports"][report]
                rows = len(table["trial"])
                columns["condition"] += [condition["index"]] * rows
                columns["report"] += [report] * rows
                for name in names:
                    columns[name] += table[name]
                truncated = truncated or table.get("truncated", False)
        if truncated:
            warnings.warn("Rows beyond the limit of the service are left out, as truncate=True allowed.", stacklevel=3)
        return _pandas().DataFrame(columns)

    def _reports(self, kinds: tuple[str, ...]) -> list[str]:
        return [name for name, report in self.document["reports"].items() if report["type"] in kinds]

    def _groups(self, kinds: tuple[str, ...]) -> Iterator[tuple[Json, str, Json]]:
        for condition in self.json["conditions"]:
            for report in self._reports(kinds):
                for group in condition["reports"][report]:
                    yield condition, report, group

    def _labels(self, kinds: tuple[str, ...]) -> list[str]:
        used = {label for name in self._reports(kinds) for label in self.document["reports"][name]["group_by"]}
        return [_LABELS[label] for label in _LABELS if label in used]

    def _parameter_names(self) -> list[str]:
        return ["condition", *(name for axis in self.document.get("sweep", []) for name, _ in _axis_columns(axis))]

    def _parameters(self, condition: Json) -> Json:
        row = {"condition": condition["index"]}
        for axis in self.document.get("sweep", []):
            value = condition["parameters"][axis["set"] if "set" in axis else axis["as"]]
            row.update((name, read(value)) for name, read in _axis_columns(axis))
        return row


#: What `group_by` calls a label, and what a group calls it.
_CONTROL_COLUMNS = ("control_hz_mean", "control_hz_sd", "p", "q")
_LABELS = {"neuron": "root_id", **{label: label for label in ("type", "side", "super_class", "class", "sub_class")}}


def _axis_columns(axis: Json) -> list[tuple[str, Callable[[Any], Any]]]:
    """The columns of an axis of the sweep, and how to read their values from the parameter."""
    if "set" in axis:
        return [(axis["set"], lambda value: value)]
    if not axis["group_by"]:
        return [(axis["as"], lambda group: "none" if group is None else "all")]

    def reader(label: str) -> Callable[[Any], Any]:
        return lambda group: "none" if group is None else group.get(label, "")

    return [(f"{axis['as']}.{_LABELS[label]}", reader(_LABELS[label])) for label in axis["group_by"]]


class Lab:
    """A service that runs experiments.

    Args:
        url: its address, such as `http://localhost:8080`; by default that in the environment variable
            NEURAL_EXPERIMENT_URL, or else http://localhost:8080.
        timeout_s: how long to wait for the next byte, in seconds. A .csv, .arrow or .parquet begins to come
            when a part of it is computed; of everything else the service tells every few seconds how far it is.
        wait_at_most_s: how long to wait in all, in seconds, when the service asks to come again later (429, 503).
    """

    def __init__(self, url: str | None = None, *, timeout_s: float = 120, wait_at_most_s: float = 120) -> None:
        if url is None:
            url = os.environ.get(_URL_VARIABLE, _DEFAULT_URL)
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"url must begin with http:// or https:// and name a host, got {url!r}")
        self.url = url.rstrip("/")
        self.timeout_s = timeout_s
        self.wait_at_most_s = wait_at_most_s

    def run(
        self,
        *,
        progress: Callable[[Progress], object] | bool = False,
        truncate: bool = False,
        **document: Any,
    ) -> Result:
        """Runs an experiment and waits for its results.

            lab.run(
                inputs={"sugar": {"node_set": "@sugar", "rate_hz": 100}},
                silence=["CB0889"],
                reports={"mn9": {"node_set": "@MN9", "group_by": ["side"]}},
                sweep={"set": "inputs.sugar.rate_hz", "values": [50, 100, 200]},
            ).rates

        What the service warns of, such as runaway activity, is shown as a warning of Python.

        Args:
            progress: called about every 5 s; True prints a line (`print_progress`).
            truncate: whether to leave out, with a warning, the rows of tables of events beyond the limit of the
                service. Otherwise all of them come, as many as there are.
            **document: the members of the document of an experiment, which GET /api/v2/openapi describes in full.
                inputs: what is stimulated, by names of your choice. `node_set`: which neurons; `rate_hz` of each
                    (150), or `{"times_ms": [0, 100], "values": [10, 80]}`. A selector alone will do. A pattern over
                    many sets has `rates` instead: a DataFrame, the path of a CSV file, or a list of dicts, each with
                    `node_set` (or `root_id`) and `rate_hz`.
                silence: the neurons whose outputs are cut; for a part of the trial
                    `{"node_set": selector, "start_ms": 200, "end_ms": 400}`.
                constants: those of the network that differ, such as `{"synapse_mv": 0.3}`.
                wiring: another wiring of the same neurons: `{"shuffle": "weights", "seed": 1}`, with `minimum_synapses`
                    and `jitter`.
                controls: `{"shuffle": "weights", "count": 20}`: shuffled brains that each rate is compared with.
                connection_overrides: by names of your choice, `{"source": selector, "target": selector, "weight": 0}`
                    multiplies the weight of all connections from one set of neurons to another.
                reports: what is read, by names of your choice. `node_set`; `type`: `rate` (the default),
                    `histogram`, `latency`, `spikes`, `inputs` or `membrane` (every `dt_ms`, 1); `group_by`: a list of
                    `neuron`, `type`, `side`, `super_class`, `class`, `sub_class`. A selector alone will do.
                trials (10), duration_ms (1000) of each, seed (42).
                sweep: an axis or a list of up to three: `{"set": "inputs.NAME.rate_hz", "values": [...]}`, or
                    `{"each": selector, "group_by": [...], "as": "silence"}`.
                node_sets, name, on_missing (`error`; `skip` leaves out what the model lacks).
                A selector is a cell type (`LC4`, `KC*`, `LC4:left`), a published set (`@sugar`), labels
                (`{"type": "LC4", "side": "left"}`), a root id as an integer, a DataFrame of `Lab.neurons`, or a list
                of these. Root ids as text are `{"root_id": [...]}`: some cell types have names of digits.

        Raises:
            LabError: the service refused the document, or the experiment failed.
        """
        show = print_progress if progress is True else progress or None
        return _result(self._asking(document), truncate=truncate, show=show)

    def submit(self, **document: Any) -> Job:
        """Begins an experiment as a job: the service goes on when this program ends.

        A job may be much larger than what `run` is allowed: 20,000 conditions and 300,000 brain seconds, unless the
        service says otherwise.

        If the connection breaks before the answer came, the request is repeated, for at most `wait_at_most_s`. It has a
        key (Idempotency-Key), so no second job is begun.

        Args:
            **document: as for `run`.
        """
        complete = _complete(document)
        headers = {"Prefer": "respond-async", "Idempotency-Key": f'"{uuid.uuid4()}"'}

        def begun() -> Job:
            with self._post(complete, {}, headers) as response:
                # A service that knows no jobs would answer at once.
                if response.status != http.HTTPStatus.ACCEPTED:
                    raise LabError("The service computes no jobs.", status=response.status)
                return Job(self, _parsed(_read(response))["jobID"])

        return self._until_answered(begun, every_s=1, is_worth_waiting=_may_have_arrived)

    def job(self, name: str) -> Job:
        """A job that was begun before, by its name (`Job.name`)."""
        return Job(self, name)

    def session(self, **document: Any) -> Session:
        """Opens a session: a brain that goes on, step by step.

            with lab.session(inputs={"sugar": {"node_set": "@sugar", "rate_hz": 0}}, reports={"mn9": "@MN9"}) as fly:
                step = fly.step(20, sugar=80)

        Args:
            **document: as for `run`, of one trial, without sweep and with reports that have no window. With
                `duration_ms` that much is simulated first.
        """
        session = Session(self, _complete(document))
        session._open()
        return session

    def dry_run(self, **document: Any) -> Json:
        """What `run` would do, without running it: the complete document, resolved neurons, conditions and cost."""
        with self._post(_complete(document), {"dry_run": "true", "format": "json"}) as response:
            return _parsed(_read(response))

    def download(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        names: str | None = None,
        truncate: bool = False,
        **document: Any,
    ) -> Path:
        """Runs an experiment and saves its answer as the service writes it (docs/guide.md, Formats).

        The file has all rows. The service sends many of them in pages; to make one .arrow or .parquet of several,
        pyarrow is needed. A .ndjson has no lines of progress.

        Args:
            path: its ending selects the format: .csv, .arrow, .parquet, .ndjson or .json.
            table: `rates`, `histogram`, `latency`, `spikes`, `inputs` or `membrane`; not for .ndjson and .json, which hold
                everything.
            names: `shiu` or `sonata`, for spike tables that the tools of others read.
            truncate: whether to leave out, with a warning, the rows of tables of events beyond the limit of the
                service.
            **document: as for `run`.

        Returns:
            The path. Nothing is there, or what was there before, unless the whole answer came.
        """
        path = _checked(path)
        return _save(self._asking(document), path, {"table": table, "names": names}, truncate=truncate)

    def neurons(
        self,
        type: str | Iterable[str] | None = None,
        *,
        root_id: int | str | Iterable[int | str] | None = None,
        side: str | Iterable[str] | None = None,
        class_: str | Iterable[str] | None = None,
        sub_class: str | Iterable[str] | None = None,
        super_class: str | Iterable[str] | None = None,
    ) -> Any:
        """Finds all neurons of the model that have given labels, or given ids.

            lab.neurons("KCg*", side="left")
            lab.neurons(["LC4", "LPLC2"])
            lab.neurons(root_id=[720575940622838154])

        All that is given must agree; of a list, one of its items. Warns of names and ids that no neuron has.

        Args:
            type: cell types; `*` stands for any text.
            root_id: ids, as integers or texts; the rows are in their order.
            side: `left`, `right` or `center`.
            class_: classes (`class` is a word of Python); `*` as above.
            sub_class: as `class_`.
            super_class: as `class_`.

        Returns:
            A DataFrame with a row for each neuron, its labels and `root_id` (text: ids exceed 2^53); without pandas a
            list of dicts.
        """
        labels = {"type": type, "class": class_, "sub_class": sub_class, "super_class": super_class, "side": side}
        wanted = {
            name: [value] if isinstance(value, str) else list(value)
            for name, value in labels.items()
            if value is not None
        }
        ids = None
        if root_id is not None:
            listed: Any = [root_id] if isinstance(root_id, str) or _is_id(root_id) else root_id
            ids = list(dict.fromkeys(_id_text(each) for each in listed))
            wanted["root_id"] = [",".join(ids[at : at + _IDS_A_REQUEST]) for at in range(0, len(ids), _IDS_A_REQUEST)]
        found: dict[str, Json] = {}
        lacking: dict[str, list[str]] = {}
        for values in itertools.product(*wanted.values()):
            query = dict(zip(wanted, values))
            rows, page = self._found("/api/v2/neurons", "neurons", query)
            suggestions = page["suggestions"]
            found.update((row["root_id"], row) for row in rows)
            for pattern, near in suggestions.items():
                label = next((name for name, value in query.items() if value == pattern), "root_id")
                lacking[f"{label} {pattern}"] = near
            if not rows and not suggestions:
                lacking[", ".join(f"{name} {value:.50}" for name, value in query.items())] = []
        if lacking:
            texts = [f"{name} (near: {', '.join(near)})" if near else name for name, near in lacking.items()]
            warnings.warn(f"The model has no neurons with: {'; '.join(texts)}", stacklevel=2)
        rows = list(found.values()) if ids is None else [found[each] for each in ids if each in found]
        return _frame_or_list(rows, _NEURON_COLUMNS)

    def connections(self, source: Selector = "@all", target: Selector = "@all", *, group_by: str = "type") -> Any:
        """All connections from some neurons to others, by cell type or neuron by neuron.

            lab.connections("LC4:left", "DNp01", group_by="neuron")
            lab.connections(target=720575940622838154)
            lab.connections({"type": "DN*", "downstream_of": "LC4"}, "DNp01")

        Args:
            source: the neurons that connections come from, as in an experiment; by default all. The selector is part
                of the address that is asked for, which has room for some 150 root ids.
            target: the neurons that they lead to.
            group_by: `type` or `neuron`, what a row stands for.

        Returns:
            A DataFrame with a row for each pair of types, or of neurons, that is connected: `source_type`,
            `target_type`, by neuron also root ids and sides; `pairs` of neurons, `synapses`, and `sign` of the sources:
            `excitatory`, `inhibitory`, `mixed`, or `none` where they have no fast effect; `excitatory_pairs` and
            `inhibitory_pairs`. Without pandas a list of dicts.
        """
        ends = {"source": source, "target": target}
        query = {name: _query_text(_selector(end)) for name, end in ends.items()}
        rows, _ = self._found("/api/v2/connections", "connections", {**query, "group_by": group_by})
        labels = ("root_id", "type", "side") if group_by == "neuron" else ("type",)
        names = [f"{end}_{label}" for end in ends for label in labels]
        return _frame_or_list(rows, [*names, "pairs", "synapses", "sign", "excitatory_pairs", "inhibitory_pairs"])

    def node_sets(self) -> Any:
        """The published sets of neurons, and what they stand for.

        Returns:
            A DataFrame with a row for each set: `name`, as a selector names it (`@sugar`), `description`, `neurons`
            and others; without pandas a list of dicts.
        """
        return _frame_or_list(self._get("/api/v2/node-sets")["node_sets"], [])

    def __repr__(self) -> str:
        return f"Lab({self.url!r})"

    def _get(self, path: str, query: Mapping[str, str] = _NONE) -> Json:
        with self._open(self._request("GET", path, query)) as response:
            return _parsed(_read(response))

    def _found(self, path: str, member: str, query: Mapping[str, str]) -> tuple[list[Json], Json]:
        """All rows of a search, and the last page of them."""
        rows: list[Json] = []
        model = None
        while True:
            page = self._get(path, {**query, "from": str(len(rows)), "limit": str(_ROWS_A_REQUEST)})
            rows += page[member]
            if model not in (None, page["model"]) or (not page[member] and len(rows) < page["count"]):
                raise LabError("The service changed its model during the search; search again.")
            model = page["model"]
            if len(rows) >= page["count"]:
                return rows, page

    def _asking(self, document: Mapping[str, Any]) -> _Ask:
        complete = _complete(document)
        return lambda query: self._post(complete, query)

    def _post(
        self,
        document: Json,
        query: Mapping[str, str | None],
        headers: Mapping[str, str] = _NONE,
        path: str = "/api/v2/experiments",
    ) -> Any:
        try:
            body = json.dumps(document, default=_plain, allow_nan=False).encode()
        except ValueError as failure:
            raise ValueError(f"A document cannot hold numbers that are infinite or NaN: {failure}") from failure
        return self._open(self._request("POST", path, query, body, headers))

    def _until_answered(
        self,
        ask: Callable[[], _T],
        *,
        every_s: float,
        is_worth_waiting: Callable[[LabConnectionError], bool] = lambda _: True,
    ) -> _T:
        """Asks again where no answer comes. Only for what may be asked twice."""
        give_up_s = time.monotonic() + self.wait_at_most_s
        while True:
            try:
                return ask()
            except LabConnectionError as failure:
                if time.monotonic() > give_up_s or not is_worth_waiting(failure):
                    raise
                time.sleep(every_s)

    def _request(
        self,
        method: str,
        path: str,
        query: Mapping[str, str | None],
        body: bytes | None = None,
        more_headers: Mapping[str, str] = _NONE,
    ) -> urllib.request.Request:
        given = {name: value for name, value in query.items() if value is not None}
        url = f"{self.url}{path}" + (f"?{urllib.parse.urlencode(given, safe=',')}" if given else "")
        headers = {"User-Agent": f"neural-experiment-client-python/{__version__}", **more_headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return urllib.request.Request(url, data=body, headers=headers, method=method)

    def _open(self, request: urllib.request.Request) -> Any:
        """Sends a request, again where the service says when, and raises what it answers otherwise."""
        waited_s = 0.0
        while True:
            try:
                return urllib.request.urlopen(request, timeout=self.timeout_s)
            except urllib.error.HTTPError as answer:
                with answer:
                    error = _http_error(answer)
            except (OSError, HTTPException) as failure:
                raise self._unreachable(failure) from failure
            pause_s = error.retry_after_s
            if error.status not in _TEMPORARY or pause_s is None or waited_s + pause_s > self.wait_at_most_s:
                raise error
            time.sleep(pause_s)
            waited_s += pause_s

    def _unreachable(self, failure: Exception) -> LabConnectionError:
        reason = _reason(failure)
        if isinstance(reason, (TimeoutError, socket.timeout)):
            return LabConnectionError(f"{self.url} did not answer within {self.timeout_s:g} s (timeout_s of Lab).")
        return LabConnectionError(
            f"{self.url} cannot be reached: {reason}. Is the service running, and is this its address? "
            f"Lab(url) or {_URL_VARIABLE} sets it."
        )


class Job:
    """An experiment that the service computes while nobody waits.

    Attributes:
        name: random; whoever knows it can read and end the job. `Lab.job(name)` finds it again.
    """

    def __init__(self, lab: Lab, name: str) -> None:
        self.name = name
        self._lab = lab
        self._path = f"/api/v2/experiments/{urllib.parse.quote(name, safe='')}"

    @property
    def state(self) -> JobState:
        """How far the job is now."""
        return _job_state(self._lab._get(self._path))

    def wait(
        self,
        *,
        progress: Callable[[JobState], object] | bool = False,
        every_s: float = 1,
        truncate: bool = False,
    ) -> Result:
        """Waits until the job is finished, and gives its results. The job goes on when this is interrupted.

        Args:
            progress: called whenever the state was asked for; True prints a line (`print_job_state`).
            every_s: how often to ask, in seconds. A service that cannot be reached is asked for `Lab.wait_at_most_s`.
            truncate: as for `Lab.run`.

        Raises:
            LabError: the job failed, was ended, or is not known (any more).
        """
        show = print_job_state if progress is True else progress or None
        while True:
            # The service may be replaced just now.
            state = self._lab._until_answered(lambda: self.state, every_s=every_s)
            if show is not None:
                show(state)
            if state.error is not None:
                raise state.error
            if state.is_finished:
                return self.results(truncate=truncate)
            time.sleep(every_s)

    def results(self, *, truncate: bool = False) -> Result:
        """The results, or those of the conditions that are done (`Result.is_partial`).

        Args:
            truncate: as for `Lab.run`.
        """
        return _result(self._results, truncate=truncate)

    def download(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        names: str | None = None,
        truncate: bool = False,
    ) -> Path:
        """Saves the results as the service writes them, as `Lab.download` does.

        While the job runs these are the conditions that are done; a warning says so, as no table can.
        """
        path = _checked(path)
        statuses = set()

        def ask(query: Mapping[str, str | None]) -> Any:
            response = self._results(query)
            statuses.add(response.headers.get("Job-Status", "successful"))
            return response

        _save(ask, path, {"table": table, "names": names}, truncate=truncate)
        for status in sorted(statuses - {"successful"}):
            warnings.warn(f"The job is {status}: {path} has only the conditions that are done.", stacklevel=2)
        return path

    def end(self) -> JobState:
        """Ends the job and removes its results."""
        with self._lab._open(self._lab._request("DELETE", self._path, {})) as response:
            return _job_state(_parsed(_read(response)))

    def __repr__(self) -> str:
        return f"<Job {self.name!r} at {self._lab.url}>"

    def _results(self, query: Mapping[str, str | None]) -> Any:
        return self._lab._open(self._lab._request("GET", f"{self._path}/results", query))


#: So many steps are repeated at most where a session has to be opened again.
_STEPS_KEPT = 500


class Session:
    """A brain that goes on, step by step: `Lab.session` opens it.

    Where the service has lost it, because it was restarted or another replica answers, it is opened again from its
    document and the steps since: what it does from then on is the same, spike for spike.

    Attributes:
        t_ms: where it is, in ms from its start.
    """

    def __init__(self, lab: Lab, document: Json) -> None:
        self.t_ms: int = 0
        self._lab = lab
        self._path = ""
        #: The session as it was when the first of the kept steps began.
        self._document = document
        self._steps: list[Json] = []
        #: Of a branch: they hold from its first step on.
        self._changes: Json = {}

    def step(
        self, duration_ms: int, *, silence: Selector | None = None, drive: bool = False, **rates_hz: float
    ) -> Json:
        """Goes on by 1 to 1000 ms.

            fly.step(20, sugar=80)["reports"]["mn9"][0]["rate_hz"]["mean"]

        Args:
            duration_ms: how long the step is.
            silence: whose outputs are cut from here on, in place of those that were; [] for nobody.
            drive: whether to give the drives of an animated body, too.
            **rates_hz: rates from here on of inputs of module poisson, by their names. Others stay as they are.

        Returns:
            `t_ms`, where it is now; `spikes` of all neurons; `responding_neurons`, `input_events`, `synaptic_events`;
            `reports` by their names, as those of an experiment of one trial.
        """
        step = {"t_ms": self.t_ms, "duration_ms": duration_ms, **self._changes, **_changes(silence, rates_hz)}
        query = {"drive": "true" if drive else None}
        answer = self._wherever_it_is(lambda: self._send("/steps", step, query))
        self._changes = {}
        self.t_ms = answer["t_ms"]
        self._steps.append(step)
        if len(self._steps) >= _STEPS_KEPT:
            _ = self.document
        return answer

    @property
    def document(self) -> Json:
        """The session so far: `lab.run(**fly.document)` gives the same spikes, `lab.session(**fly.document)` goes on."""
        self._document = self._wherever_it_is(lambda: self._lab._get(f"{self._path}/document"))
        self._steps = []
        return self._document

    def branch(self, *, silence: Selector | None = None, **rates_hz: float) -> Session:
        """A second session that goes on from here by itself. What is given holds in it from here on."""
        changes = _changes(silence, rates_hz)
        branch = Session(self._lab, self._document)
        name = self._wherever_it_is(lambda: self._send("/branches", changes))["session"]
        branch._path = f"/api/v2/sessions/{name}"
        branch.t_ms = self.t_ms
        branch._steps = list(self._steps)
        branch._changes = {**self._changes, **changes}
        return branch

    def end(self) -> None:
        """Ends it, if the service still has it."""
        with contextlib.suppress(LabError), self._lab._open(self._lab._request("DELETE", self._path, {})) as response:
            _read(response)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __repr__(self) -> str:
        return f"<Session at {self.t_ms} ms, {self._lab.url}>"

    def _open(self) -> None:
        with self._lab._post(self._document, {}, path="/api/v2/sessions") as response:
            opened = _parsed(_read(response))
        self._path = f"/api/v2/sessions/{opened['session']}"
        self.t_ms = opened["t_ms"]

    def _send(self, path: str, body: Json, query: Mapping[str, str | None] = _NONE) -> Json:
        with self._lab._post(body, query, path=self._path + path) as response:
            return _parsed(_read(response))

    def _wherever_it_is(self, ask: Callable[[], Json]) -> Json:
        """Asks what may be asked twice, and opens the session again where it has been lost."""

        def asked() -> Json:
            try:
                return ask()
            except LabError as error:
                if error.code != "SESSION_ENDED":
                    raise
            self._open()
            for step in self._steps:
                self.t_ms = self._send("/steps", step)["t_ms"]
            return ask()

        return self._lab._until_answered(asked, every_s=0.2)


def _changes(silence: Selector | None, rates_hz: Mapping[str, float]) -> Json:
    changes: Json = {"rates_hz": dict(rates_hz)} if rates_hz else {}
    if silence is not None:
        changes["silence"] = _complete({"silence": silence})["silence"]
    return changes


def _job_state(info: Json) -> JobState:
    error = info.get("error")
    return JobState(
        status=info["status"],
        progress=info["progress"],
        conditions_done=info["conditions_done"],
        conditions=info["conditions"],
        left_s=info.get("seconds_left"),
        error=None if error is None else _error_of(error, status=None, retry_after_s=None),
    )


def _checked(path: str | os.PathLike[str]) -> Path:
    """The path, where an answer can be saved: whoever waited for hours should not hear then that it cannot."""
    path = Path(path)
    if path.suffix not in _EXTENSIONS:
        raise ValueError(f"path must end in {', '.join(_EXTENSIONS)}, got {str(path)!r}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"path must name a file in a folder that exists, got {str(path)!r}")
    return path


def _result(ask: _Ask, *, truncate: bool, show: Callable[[Progress], object] | None = None) -> Result:
    started_s = time.monotonic()
    answer: Json = {"conditions": []}
    for line, _ in _lines_of_pages(ask, {"truncate": _flag(truncate)}):
        if "progress" in line:
            if show is not None:
                show(Progress(elapsed_s=time.monotonic() - started_s, **line["progress"]))
        elif "index" in line:
            answer["conditions"].append(line)
        else:
            answer.update(line)
    for warning in answer.get("warnings", ()):
        warnings.warn(warning["message"], stacklevel=3)
    return Result(_in_order(answer))


def _flag(value: bool) -> str | None:
    return "true" if value else None


def _lines_of_pages(ask: _Ask, query: Mapping[str, str | None]) -> Iterator[tuple[Json, bytes | None]]:
    """The lines of one answer from all of its pages, parsed, and as bytes where the service wrote them so.

    A condition at the border of two pages stands in both of them, with the rows of other trials in each.
    """
    head: Json = {}
    totals: tuple[Json, bytes | None] | None = None
    held: tuple[Json, bytes | None] | None = None
    conditions = 0
    page = None
    while totals is None or page is not None:
        last: Json = {}
        # Progress counts from the beginning of a page.
        before = conditions
        with ask({**query, "format": "ndjson", "page": page}) as response:
            while data := _line(response):
                last = _parsed(data)
                _check_failure(last)
                if "progress" in last:
                    trials = before * head["experiment"]["trials"]
                    added = {"conditions_done": before, "conditions": before, "trials_done": trials, "trials": trials}
                    yield {"progress": {name: last["progress"][name] + more for name, more in added.items()}}, None
                elif "index" in last:
                    if held is not None and held[0]["index"] == last["index"]:
                        held = _joined(held[0], last), None
                        continue
                    if held is not None:
                        yield held
                        conditions += 1
                    held = last, data
                elif "id" in last:
                    if page is None:
                        yield last, data
                        head = last
                    elif last["id"] != head["id"]:
                        raise LabError("The service changed its model between two parts of the answer; ask again.")
                else:
                    page = last.pop("next_page", None)
                    totals = (last, data) if totals is None else (_summed(totals[0], last), None)
        _check_last(last)
    if held is not None:
        yield held
    yield totals


def _joined(condition: Json, rest: Json) -> Json:
    """A condition with the rows of two pages."""
    for name, report in condition["reports"].items():
        # Groups are a list. They are of all trials, in both pages.
        if isinstance(report, dict):
            for column, values in report.items():
                values.extend(rest["reports"][name][column])
    return condition


def _summed(totals: Json, more: Json) -> Json:
    """The totals of two pages: costs of both, and whatever either of them says."""
    cost = {name: round(totals["cost"][name] + value, 3) for name, value in more["cost"].items()}
    lists = {}
    for name in ("unchanged", "warnings", "cite"):
        distinct = {json.dumps(each): each for each in [*totals[name], *more[name]]}
        lists[name] = list(distinct.values())
    return {**totals, **more, "cost": cost, **lists}


def _save(ask: _Ask, path: Path, query: Mapping[str, str | None], *, truncate: bool) -> Path:
    query = {**query, "truncate": _flag(truncate)}
    with _replacing(path) as file:
        if path.suffix in (".json", ".ndjson"):
            is_truncated = _save_lines(_lines_of_pages(ask, query), file, as_one=path.suffix == ".json")
        else:
            pages = _pages(ask, {**query, "format": _EXTENSIONS[path.suffix]})
            with contextlib.closing(pages):
                is_truncated = _save_table(pages, file, path)
    if is_truncated:
        warnings.warn(f"{path} lacks rows beyond the limit of the service, as truncate=True allowed.", stacklevel=3)
    return path


def _save_lines(lines: Iterator[tuple[Json, bytes | None]], file: IO[bytes], *, as_one: bool) -> bool:
    """Writes the lines, or one JSON object of the same parts. Lines of progress are no part of the answer.

    Returns:
        Whether rows were left out.
    """
    codes = []
    conditions = 0
    for line, data in lines:
        if "progress" in line:
            continue
        text = json.dumps(line, separators=(",", ":"), ensure_ascii=False).encode() if data is None else data.rstrip()
        if not as_one:
            file.write(text + b"\n")
        elif "id" in line:
            file.write(text[:-1] + b',"conditions":[')
        elif "index" in line:
            file.write(b"," + text if conditions else text)
            conditions += 1
        else:
            file.write(b"]," + text[1:])
        codes += [warning["code"] for warning in line.get("warnings", ())]
    return "SPIKES_TRUNCATED" in codes


def _pages(ask: _Ask, query: Mapping[str, str | None]) -> Generator[Any, None, None]:
    following: Mapping[str, str | None] | None = query
    while following is not None:
        with ask(following) as response:
            following = _next_query(response)
            yield response


def _next_query(response: Any) -> Json | None:
    """The query that gets the next page of a table, where there is one: Link: <?page=3.1>; rel="next"."""
    for target, parameters in re.findall(r"<([^>]*)>([^,]*)", ",".join(response.headers.get_all("Link", []))):
        if re.search(r';\s*rel="?next"?\s*(;|$)', parameters):
            return dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(target).query))
    return None


def _save_table(pages: Iterator[Any], file: IO[bytes], path: Path) -> bool:
    """Writes the rows of all pages as one table.

    Returns:
        Whether rows were left out.
    """
    page = next(pages)
    is_truncated = page.headers.get("Spikes-Truncated") == "true"
    if _next_query(page) is None:
        _copy(page, file)
    elif path.suffix == ".csv":
        header = _line(page)
        file.write(header)
        _copy(page, file, begun=len(header))
        for page in pages:
            if _line(page) != header:
                raise LabError("The service changed the columns between two pages; ask again.")
            _copy(page, file, begun=len(header))
    else:
        with _table_writer(file, path) as append:
            for each in itertools.chain([page], pages):
                with tempfile.TemporaryFile(dir=path.parent) as part:
                    _copy(each, part)
                    part.seek(0)
                    append(part)
    return is_truncated


@contextlib.contextmanager
def _table_writer(file: IO[bytes], path: Path) -> Iterator[Callable[[IO[bytes]], None]]:
    """Makes one file of several, with what the first one says beside its table."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as missing:
        raise ImportError(
            f"There are more rows than the service sends at once. To make one {path.suffix} of its pages, pyarrow is "
            "needed: pip install pyarrow. A .csv needs nothing; fewer trials or reported neurons make fewer rows."
        ) from missing
    with contextlib.ExitStack() as stack:
        writer: Any = None
        first_schema: Any = None

        def append(part: IO[bytes]) -> None:
            nonlocal writer, first_schema
            if path.suffix == ".parquet":
                groups = pyarrow.parquet.ParquetFile(part)
                schema = groups.schema_arrow
                tables = (groups.read_row_group(group) for group in range(groups.num_row_groups))
            else:
                batches = pyarrow.ipc.open_stream(part)
                schema = batches.schema
                tables = batches
            if writer is None:
                create = pyarrow.parquet.ParquetWriter if path.suffix == ".parquet" else pyarrow.ipc.new_stream
                writer, first_schema = stack.enter_context(create(file, schema)), schema
            elif not schema.equals(first_schema, check_metadata=True):
                raise LabError("The service changed its model between two pages; ask again.")
            for table in tables:
                writer.write(table)

        yield append


def _copy(response: Any, file: IO[bytes], *, begun: int = 0) -> None:
    """Copies an answer of which so many bytes are read."""
    length = begun
    while piece := _read(response, 2**20):
        file.write(piece)
        length += len(piece)
    # A reader of pieces is not told when the last ones are missing.
    if length < int(response.headers.get("Content-Length", 0)):
        raise _broken()


def _complete(document: Mapping[str, Any]) -> Json:
    """Writes out the shorthands: a selector alone as an input or report, and ids that are integers."""
    complete = dict(document)
    for member in ("inputs", "reports"):
        if isinstance(complete.get(member), Mapping):
            complete[member] = {
                name: {"node_set": value} if _is_selector(value) else dict(value)
                for name, value in complete[member].items()
            }
            for entry in complete[member].values():
                if "node_set" in entry:
                    entry["node_set"] = _selector(entry["node_set"])
                if "rates" in entry:
                    entry["rates"] = _rate_rows(entry["rates"])
                if isinstance(entry.get("times_ms"), Mapping):
                    entry["times_ms"] = {_id_text(i): times for i, times in entry["times_ms"].items()}
    if "silence" in complete:
        silenced = _selector(complete["silence"])
        complete["silence"] = silenced if isinstance(silenced, list) else [silenced]
    if isinstance(complete.get("connection_overrides"), Mapping):
        complete["connection_overrides"] = {
            name: {**entry, **{end: _selector(entry[end]) for end in ("source", "target") if end in entry}}
            if isinstance(entry, Mapping)
            else entry
            for name, entry in complete["connection_overrides"].items()
        }
    if isinstance(complete.get("node_sets"), Mapping):
        complete["node_sets"] = {name: _selector(value) for name, value in complete["node_sets"].items()}
    if isinstance(complete.get("sweep"), Mapping):
        complete["sweep"] = [complete["sweep"]]
    if isinstance(complete.get("sweep"), Sequence):
        complete["sweep"] = [
            {**axis, "each": _selector(axis["each"])} if isinstance(axis, Mapping) and "each" in axis else axis
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
    return [
        {**row, "node_set": _selector(row["node_set"])} if isinstance(row, Mapping) and "node_set" in row else row
        for row in rates
    ]


def _cells(row: Mapping[str, str]) -> Json:
    """A row of a CSV file. A cell of `node_set` is a name, or JSON where it begins like that."""
    name = row.get("node_set") or ""
    return {**row, "node_set": json.loads(name) if name.startswith(("{", "[")) else name} if name else dict(row)


def _rate_row(row: Mapping[str, Any], place: str) -> Json:
    """A row as the service takes it; a table may have other columns."""
    try:
        selector = row["node_set"] if "node_set" in row else {"root_id": row["root_id"]}
        return {"node_set": _selector(selector), "rate_hz": float(row["rate_hz"])}
    except (KeyError, TypeError, ValueError) as failure:
        raise ValueError(f"{place}: expected node_set or root_id, and a number in rate_hz, got {row!r}") from failure


def _is_selector(value: Any) -> bool:
    """Whether a value stands for neurons, and is not the members of an input or a report, right or wrong."""
    return not isinstance(value, Mapping) or {*_NEURON_COLUMNS, *_SELECTORS, *_STEPS}.issuperset(value)


def _selector(selector: Any) -> Any:
    if hasattr(selector, "columns") and "root_id" in selector.columns:
        selector = selector["root_id"]
    # A column of ids, which may be texts.
    if getattr(selector, "name", None) == "root_id":
        return {"root_id": [_id_text(each) for each in selector]}
    if _is_id(selector):
        return {"root_id": str(int(selector))}
    if isinstance(selector, Mapping):
        changed = dict(selector)
        if "root_id" in changed:
            ids = changed["root_id"]
            is_one = isinstance(ids, str) or _is_id(ids)
            changed["root_id"] = _id_text(ids) if is_one else [_id_text(each) for each in ids]
        # An item of `silence` with a window has its neurons in a member.
        for member in (*_SELECTORS, "node_set"):
            if member in changed:
                changed[member] = _selector(changed[member])
        return changed
    if isinstance(selector, (set, frozenset)):
        # Equal sets shall make equal documents.
        return _united(sorted(selector, key=str))
    if isinstance(selector, Iterable) and not isinstance(selector, str):
        return _united(list(selector))
    return selector


def _query_text(selector: Any) -> str:
    """A selector as a query has it, where commas separate names."""
    if isinstance(selector, str):
        return json.dumps([selector]) if "," in selector else selector
    return json.dumps(selector, default=_plain)


def _united(parts: list[Any]) -> list[Any]:
    """Ids of a list become one selector: a long list of ids stays a short document."""
    ids = [str(int(part)) for part in parts if _is_id(part)]
    others = [_selector(part) for part in parts if not _is_id(part)]
    return [*others, {"root_id": ids}] if ids else others


def _is_id(value: Any) -> bool:
    if isinstance(value, float):
        raise ValueError(
            f"Root ids must be integers or texts, got {value!r}: a float does not have all of their digits."
        )
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _id_text(value: Any) -> Any:
    return str(int(value)) if _is_id(value) else value


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy and pandas as JSON has them."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    raise TypeError(f"A document cannot hold {type(value).__name__}: {value!r}")


def _in_order(answer: Json) -> Json:
    """The members in the order of the JSON format."""
    conditions = answer.pop("conditions")
    order = ("id", "model", "wiring", "side_convention", "experiment", "resolved")
    head = {name: answer.pop(name) for name in order if name in answer}
    return {**head, "conditions": conditions, **answer}


def _line(response: Any) -> bytes:
    try:
        return response.readline()
    except (OSError, HTTPException) as failure:
        raise _broken(failure) from failure


def _read(response: Any, size: int | None = None) -> bytes:
    try:
        # Not -1 for everything: http.client would return the framing of a chunked answer with it.
        return response.read(size)
    except (OSError, HTTPException) as failure:
        raise _broken(failure) from failure


def _broken(failure: Exception | None = None) -> LabConnectionError:
    reason = "" if failure is None else f": {str(failure) or type(failure).__name__}"
    return LabConnectionError(f"The connection broke before the answer ended{reason}.")


def _parsed(data: bytes) -> Json:
    try:
        return json.loads(data)
    except ValueError as failure:
        raise LabConnectionError("The answer is not JSON, or it was cut off.") from failure


def _http_error(answer: urllib.error.HTTPError) -> LabError:
    retry_after = answer.headers.get("Retry-After")
    retry_after_s = float(retry_after) if retry_after is not None and retry_after.isdigit() else None
    try:
        body = json.loads(answer.read())
    except (OSError, HTTPException, ValueError):
        body = None
    if not isinstance(body, dict) or "error" not in body:
        body = {"error": f"HTTP {answer.code} {answer.reason} from {answer.url}; is that the address of a service?"}
    return _error_of(body, status=answer.code, retry_after_s=retry_after_s)


def _error_of(body: Json, *, status: int | None, retry_after_s: float | None) -> LabError:
    return LabError(
        body["error"],
        status=status,
        code=body.get("code"),
        path=body.get("path"),
        suggestions=body.get("suggestions", ()),
        retry_after_s=retry_after_s,
    )


def _check_failure(line: Json) -> None:
    """Raises what the experiment failed with, where a line of its answer says so."""
    if "error" in line:
        raise _error_of(line, status=None, retry_after_s=None)


def _check_last(line: Json) -> None:
    """Raises LabError where the last line of an answer is not its end."""
    _check_failure(line)
    if "cost" not in line:
        raise LabConnectionError("The answer ended before the experiment did.")


def _may_have_arrived(failure: LabConnectionError) -> bool:
    """Whether the request may have reached the service although no answer came."""
    return not isinstance(_reason(failure.__cause__), (ConnectionRefusedError, socket.gaierror))


def _reason(failure: BaseException | None) -> object:
    return failure.reason if isinstance(failure, urllib.error.URLError) else failure


@contextlib.contextmanager
def _replacing(path: Path) -> Iterator[IO[bytes]]:
    """A file that takes its place when it is complete, and leaves nothing behind when it is not."""
    part = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        with open(part, "xb") as file:
            yield file
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("DataFrames need pandas: pip install pandas. Result.json needs nothing.") from missing
    return pandas


def _frame_or_list(rows: list[Json], names: list[str]) -> Any:
    try:
        # Where there are rows they have the names.
        return _pandas().DataFrame(rows, columns=None if rows else names)
    except ImportError:
        return rows


def _frame(rows: list[Json], names: list[str]) -> Any:
    return _pandas().DataFrame(rows, columns=names)


def _member(value: Json | None, name: str) -> float | None:
    return None if value is None else value[name]


#: Parameters as `model.py` of Shiu et al. 2024 names them, in SI units. `run_exp` takes theirs, with units, too.
#: Only the first four may be changed: the others are the constants of the model.
default_params: Json = {
    "t_run": 1.0,  # duration of a trial, s
    "n_run": 30,  # trials
    "r_poi": 150.0,  # rate of the Poisson input of neu_exc, Hz
    "r_poi2": 0.0,  # rate of the Poisson input of neu_exc2, Hz
    "v_0": -0.052,  # resting potential, V
    "v_rst": -0.052,  # reset potential, V
    "v_th": -0.045,  # threshold, V
    "t_mbr": 0.020,  # membrane time constant, s
    "tau": 0.005,  # synaptic time constant, s
    "t_rfc": 0.0022,  # refractory period, s
    "t_dly": 0.0018,  # synaptic delay, s
    "w_syn": 0.000275,  # weight of a synapse, V
    "f_poi": 250,  # weight of an input event, in synapses
}
_CHANGEABLE = ("t_run", "n_run", "r_poi", "r_poi2")
_CONSTANTS = {name: value for name, value in default_params.items() if name not in _CHANGEABLE}
#: SHA-256 of the equations of the model without white space, as their file has them.
_EQUATIONS = {
    "eqs": "7beaf415a4c52eb3eee44f46399ceaf9c9444944558ab80688400088d875732e",
    "eq_th": "b1edbf272b0711f4b2393bf52fdd9a7d301b0d332e80780b7a9404f36e806e75",
    "eq_rst": "003a11a0578681fc37ac9254303f9c9e457806de17b38b10fe83fbf03d1d14de",
}


def run_exp(
    exp_name: str,
    neu_exc: Sequence[int],
    path_res: str | os.PathLike[str],
    path_comp: object = None,
    path_con: object = None,
    params: Mapping[str, Any] = default_params,
    neu_slnc: Sequence[int] = (),
    neu_exc2: Sequence[int] = (),
    n_proc: int = -1,
    force_overwrite: bool = False,
    *,
    lab: Lab | None = None,
    seed: int = 42,
    on_missing: str = "skip",
) -> None:
    """Stands in for `run_exp` of Shiu et al. 2024: the same arguments, and the same file of spikes.

    Writes `path_res`/`exp_name`.parquet with a row for each spike of any neuron: `t` (s), `trial` (from 0),
    `flywire_id`, `exp_name`. Their `load_exps` and `get_rate` read it. A file that is there is kept if an equal call
    made it with an equal model of the service, and is otherwise an error.

    Args:
        exp_name: name of the experiment and of the file.
        neu_exc: root ids of the neurons that get Poisson input at `params["r_poi"]`, in Hz.
        path_res: folder of the file; made if it is missing.
        path_comp: not read; the neurons are those of the service, with ids of release 783.
        path_con: not read; the wiring is that of the service.
        params: `t_run` (s), `n_run`, `r_poi` and `r_poi2` (Hz), as numbers or as quantities of Brian 2. The
            constants and equations of the model may be there, unchanged.
        neu_slnc: root ids of the neurons whose outputs are cut.
        neu_exc2: root ids of the neurons that get Poisson input at `params["r_poi2"]`, in Hz.
        n_proc: not used; the service decides.
        force_overwrite: whether to run the experiment and replace the file that is there, whatever it is.
        lab: the service; by default at the address in NEURAL_EXPERIMENT_URL, or else http://localhost:8080.
        seed: of the random numbers; equal seeds give equal spikes.
        on_missing: `skip` leaves out ids that the model lacks, such as some of release 630, and warns of them; `error`
            refuses them.

    Raises:
        ValueError: `params` asks for another model.
        FileExistsError: the file that is there was not made by an equal call.
        LabError: the service refused the experiment.
        ImportError: there are more spikes than the service sends at once, and pyarrow is missing.
    """
    path = Path(path_res) / f"{exp_name}.parquet"
    document = _shiu_document(exp_name, neu_exc, neu_exc2, neu_slnc, params)
    document.update(seed=seed, on_missing=on_missing)
    lab = lab or Lab()
    plan = _planned(lab, document)
    if path.exists() and not force_overwrite:
        _check_made_by(plan, path)
        print(f"{exp_name}: kept {path}, which an equal call made; force_overwrite=True would replace it.")
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    started_s = time.monotonic()
    lab.download(path, table="spikes", names="shiu", **document)
    print(f"{exp_name}: {document['trials']} trials in {time.monotonic() - started_s:.1f} s, spikes in {path}.")


def _planned(lab: Lab, document: Json) -> Json:
    """The dry run of an experiment. Warns of ids that the model lacks; sets that it lacks as a whole are taken out."""
    lost: list[str] = []
    missing: set[str] = set()
    while True:
        try:
            plan = lab.dry_run(**document)
            break
        except LabError as error:
            if document["on_missing"] != "skip" or error.code != "EMPTY_NODE_SET" or error.path is None:
                raise
            if error.path.startswith("/silence"):
                name, (selector,) = "neu_slnc", document["silence"]
                document["silence"] = []
            else:
                name = error.path.split("/")[2]
                selector = document["inputs"].pop(name)["node_set"]
            lost.append(name)
            missing.update(selector["root_id"])
    missing.update(each for selected in plan["resolved"].values() for each in selected.get("missing", []))
    if missing:
        whole = f"; that is all of {' and '.join(lost)}" if lost else ""
        nothing = "" if document["inputs"] or not lost else ", so no neuron is stimulated"
        text = f"The model lacks, and the experiment leaves out: {', '.join(sorted(missing))}{whole}{nothing}"
        warnings.warn(text, stacklevel=3)
    return plan


def _check_made_by(plan: Json, path: Path) -> None:
    """Raises FileExistsError unless a file has the spikes of this experiment, all of them."""
    metadata = _parquet_metadata(path)
    if metadata.get("id") == plan["id"] and "truncated" not in metadata:
        return
    if "experiment" not in metadata:
        fault = "was not made by run_exp of this client"
    elif metadata.get("id") == plan["id"]:
        fault = "lacks spikes beyond a limit of the service"
    else:
        others = {**json.loads(metadata["experiment"]), "model": metadata.get("model")}
        here = {**plan["experiment"], "model": plan["model"]}
        names = [name for name in here if here[name] != others.get(name)] or ["version of the answers"]
        fault = f"was made by another call, with other {', '.join(names)}"
    raise FileExistsError(
        f"{path} {fault}. Choose another exp_name or path_res, move the file away, or replace it with "
        "force_overwrite=True."
    )


def _parquet_metadata(path: Path) -> dict[str, str]:
    """What a Parquet file of the service says beside its table; empty for any other file."""
    with open(path, "rb") as file:
        length = file.seek(0, os.SEEK_END)
        file.seek(max(0, length - 8))
        footer_length = int.from_bytes(file.read(4), "little")
        if file.read() != b"PAR1" or footer_length + 8 > length:
            return {}
        file.seek(length - 8 - footer_length)
        footer = file.read(footer_length)
    metadata = {}
    for key in ("id", "model", "experiment", "truncated"):
        # A pair of metadata in Thrift's compact protocol: field 1, a text, field 2, a text. Each text has its length
        # before it, 7 bits a byte. The service writes no such control characters into a text.
        found = re.search(rb"\x18%c%s\x18([\x80-\xff]*[\x00-\x7f])" % (len(key), key.encode()), footer)
        if found is not None:
            size = sum((byte & 127) << (7 * place) for place, byte in enumerate(found[1]))
            metadata[key] = footer[found.end() : found.end() + size].decode()
    return metadata


def _shiu_document(
    exp_name: str,
    neu_exc: Sequence[int],
    neu_exc2: Sequence[int],
    neu_slnc: Sequence[int],
    params: Mapping[str, Any],
) -> Json:
    _check_constants(params)
    values = {**default_params, **params}
    duration_ms = float(values["t_run"]) * 1000
    if abs(duration_ms - round(duration_ms)) > 1e-6:
        raise ValueError(f"t_run must be a whole number of milliseconds, got {values['t_run']!r}")
    trials = int(values["n_run"])
    if trials != values["n_run"]:
        raise ValueError(f"n_run must be a whole number of trials, got {values['n_run']!r}")
    inputs = {"neu_exc": (neu_exc, "r_poi"), "neu_exc2": (neu_exc2, "r_poi2")}
    return {
        "name": exp_name,
        "inputs": {
            name: {"node_set": {"root_id": _ids(neurons)}, "rate_hz": float(values[rate])}
            for name, (neurons, rate) in inputs.items()
            if len(neurons) > 0
        },
        "silence": [{"root_id": _ids(neu_slnc)}] if len(neu_slnc) > 0 else [],
        "duration_ms": round(duration_ms),
        "trials": trials,
        "reports": {"spikes": {"node_set": "@all", "type": "spikes"}},
    }


def _ids(neurons: Iterable[Any]) -> list[str]:
    # Two mentions of a neuron are two inputs to Brian 2 and one to the service.
    ids = [str(int(neuron)) for neuron in neurons]
    repeated = sorted({each for each in ids if ids.count(each) > 1}) if len(set(ids)) < len(ids) else []
    if repeated:
        raise ValueError(f"A neuron may be listed only once; repeated: {', '.join(repeated)}")
    return ids


def _check_constants(params: Mapping[str, Any]) -> None:
    for name, value in params.items():
        if name in _CONSTANTS:
            if abs(float(value) - _CONSTANTS[name]) > 1e-9 * abs(_CONSTANTS[name]):
                raise ValueError(f"{name} is a constant of the model, {_CONSTANTS[name]} in SI units, got {value!r}")
        elif name in _EQUATIONS:
            if hashlib.sha256("".join(str(value).split()).encode()).hexdigest() != _EQUATIONS[name]:
                raise ValueError(f"{name} must be the equations of the model; the service has no others")
        elif name not in _CHANGEABLE:
            raise ValueError(f"params has no {name}; it may have {', '.join([*default_params, *_EQUATIONS])}")
