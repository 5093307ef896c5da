"""Open experiments on a spiking model of the fruit fly brain, for notebooks and scripts.

    from neural_experiment_client import Lab

    lab = Lab("http://localhost:8080")
    result = lab.run(
        inputs={"loom": {"node_set": ["LC4:left", "LPLC2:left"], "rate_hz": 100}},
        reports={"giant_fibre": {"node_set": "DNp01", "group_by": ["side"]}},
    )
    result.rates  # a pandas.DataFrame

Only the standard library is needed. DataFrames need pandas.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import http
import json
import numbers
import os
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
    "default_params",
    "print_job_state",
    "print_progress",
    "run_exp",
]

Json = dict[str, Any]
#: A cell type or node set by name, an id, labels, or a list of these, which are united.
Selector = Union[str, int, Mapping[str, Any], Sequence[Any]]

_T = TypeVar("_T")
_DEFAULT_URL = "http://localhost:8080"
_EXTENSIONS = {".csv": "csv", ".arrow": "arrow", ".parquet": "parquet", ".ndjson": "ndjson", ".json": "json"}
_TEMPORARY = (429, 503)
_NO_HEADERS: Mapping[str, str] = {}
_FOOTER_LENGTH_BYTES = 8


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
        return self.status in ("successful", "failed", "dismissed")


def print_job_state(state: JobState) -> None:
    """Shows the state in one line of the terminal or of a notebook's output."""
    left = "" if state.left_s is None else f", {state.left_s:.0f} s left"
    text = f"{state.status}: {state.progress} %, {state.conditions_done} of {state.conditions} conditions{left}"
    print(f"\r{text:<70}", end="\n" if state.is_finished else "", file=sys.stderr, flush=True)


class Result:
    """The answer to an experiment.

    Attributes:
        json: the whole answer, as the service's JSON format has it.
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
        """What to bear in mind about the results: `code` and `message` of each."""
        return self.json["warnings"]

    @property
    def rates(self) -> Any:
        """A DataFrame with a row for each condition, report and group.

        `condition`, a column for each swept parameter, `report`, the labels of the group, `neurons`, `responding`
        (neurons with a spike in a trial, mean over trials), `rate_hz_mean` and `rate_hz_sd` (Hz; over trials, ddof 0)
        and `trials`, their number.
        """
        labels = self._labels(("rate", "histogram"))
        rows = [
            {
                **self._parameters(condition),
                "report": report,
                **{label: group.get(label, "") for label in labels},
                "neurons": group["neurons"],
                "responding": _member(group["responding"], "mean"),
                "rate_hz_mean": _member(group["rate_hz"], "mean"),
                "rate_hz_sd": _member(group["rate_hz"], "sd"),
                "trials": self.document["trials"],
            }
            for condition, report, group in self._groups(("rate", "histogram"))
        ]
        names = ["neurons", "responding", "rate_hz_mean", "rate_hz_sd", "trials"]
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
        2^53). An answer holds a limited number of spikes; `Lab.download` gets more, with types and sides.
        """
        return self._table("spikes", ["trial", "t_ms", "root_id"])

    @property
    def inputs(self) -> Any:
        """As `spikes`, with the events of the reports of type `inputs`, and `input`, the name of the input."""
        return self._table("inputs", ["trial", "t_ms", "input", "root_id"])

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
            warnings.warn(
                "The service left out spikes beyond its limit. Report fewer neurons, or use Lab.download, "
                "whose limit is higher.",
                stacklevel=3,
            )
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
_LABELS = {"neuron": "root_id", "type": "type", "side": "side", "super_class": "super_class"}


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
        url: its address, such as `http://localhost:8080`.
        timeout_s: how long to wait for the next byte, in seconds.
        wait_at_most_s: how long to wait in all, in seconds, when the service asks to come again later (429, 503).
    """

    def __init__(self, url: str = _DEFAULT_URL, *, timeout_s: float = 120, wait_at_most_s: float = 120) -> None:
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
        **document: Any,
    ) -> Result:
        """Runs an experiment.

        Args:
            progress: called about every 5 s; True prints a line (`print_progress`).
            **document: its members: `inputs`, `silence`, `reports`, `trials`, `duration_ms`, `seed`, `sweep`,
                `node_sets`, `name`, `on_missing`. GET /api/v2/openapi describes them. An input or a report may be
                a selector alone. Root ids may be integers.

        Raises:
            LabError: the service refused the document, or the experiment failed.
        """
        show = print_progress if progress is True else progress or None
        started_s = time.monotonic()
        answer: Json = {"conditions": []}
        with self._post(_complete(document), format="ndjson") as response:
            for line in _lines(response):
                _check_failure(line)
                if "progress" in line:
                    if show is not None:
                        show(Progress(elapsed_s=time.monotonic() - started_s, **line["progress"]))
                elif "index" in line:
                    answer["conditions"].append(line)
                else:
                    answer.update(line)
        _check_last(answer)
        return Result(_in_order(answer))

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
            with self._post(complete, headers) as response:
                # A service that knows no jobs would answer at once.
                if response.status != http.HTTPStatus.ACCEPTED:
                    raise LabError("The service computes no jobs.", status=response.status)
                return Job(self, _parsed(_read(response))["jobID"])

        return self._until_answered(begun, every_s=1, is_worth_waiting=_may_have_arrived)

    def job(self, name: str) -> Job:
        """A job that was begun before, by its name (`Job.name`)."""
        return Job(self, name)

    def dry_run(self, **document: Any) -> Json:
        """What `run` would do, without running it: the complete document, resolved neurons, conditions and cost."""
        with self._post(_complete(document), dry_run="true", format="json") as response:
            return _parsed(_read(response))

    def download(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        names: str | None = None,
        **document: Any,
    ) -> Path:
        """Runs an experiment and saves its answer as the service writes it (docs/formats.md).

        Args:
            path: its ending selects the format: .csv, .arrow, .parquet, .ndjson or .json.
            table: `rates`, `histogram`, `spikes` or `inputs`.
            names: `shiu` or `sonata`, for spike tables that the tools of others read.
            **document: as for `run`.

        Returns:
            The path. Nothing is there unless the whole answer came.
        """
        path = _checked(path)
        query = {"format": _EXTENSIONS[path.suffix], "table": table, "names": names}
        with self._post(_complete(document), **query) as response:
            _save(response, path)
        return path

    def neurons(self, type: str | None = None, **labels: str) -> Any:
        """Searches the neurons of the model.

        Args:
            type: a cell type; `*` stands for any text.
            **labels: `side` or `class_` (`class` is a word of Python), and what else the service knows.

        Returns:
            A DataFrame; without pandas a list of dicts.
        """
        query = {name.rstrip("_"): value for name, value in {"type": type, **labels}.items()}
        rows = self._get("/api/v2/neurons", **query)["neurons"]
        try:
            return _pandas().DataFrame(rows)
        except ImportError:
            return rows

    def node_sets(self) -> Json:
        """The published sets of neurons by name; a selector names one as `@NAME`."""
        return self._get("/api/v2/node-sets")["node_sets"]

    def __repr__(self) -> str:
        return f"Lab({self.url!r})"

    def _get(self, path: str, **query: str | None) -> Json:
        with self._open(self._request("GET", path, query)) as response:
            return _parsed(_read(response))

    def _post(self, document: Json, headers: Mapping[str, str] = _NO_HEADERS, **query: str | None) -> Any:
        body = json.dumps(document, default=_plain, allow_nan=False).encode()
        return self._open(self._request("POST", "/api/v2/experiments", query, body, headers))

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
        more_headers: Mapping[str, str] = _NO_HEADERS,
    ) -> urllib.request.Request:
        given = {name: value for name, value in query.items() if value is not None}
        url = f"{self.url}{path}" + (f"?{urllib.parse.urlencode(given)}" if given else "")
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
                raise _unreachable(self.url, failure) from failure
            pause_s = error.retry_after_s
            if error.status not in _TEMPORARY or pause_s is None or waited_s + pause_s > self.wait_at_most_s:
                raise error
            time.sleep(pause_s)
            waited_s += pause_s


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
    ) -> Result:
        """Waits until the job is finished. It goes on when this is interrupted.

        Args:
            progress: called whenever the state was asked for; True prints a line (`print_job_state`).
            every_s: how often to ask, in seconds. A service that cannot be reached is asked for `Lab.wait_at_most_s`.

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
                return self.results()
            time.sleep(every_s)

    def results(self) -> Result:
        """The results, or those of the conditions that are done (`Result.is_partial`)."""
        return Result(self._lab._get(f"{self._path}/results", format="json"))

    def download(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        names: str | None = None,
    ) -> Path:
        """Saves the results as the service writes them, as `Lab.download` does.

        While the job runs these are the conditions that are done; a warning says so, as no table can.
        """
        path = _checked(path)
        query = {"format": _EXTENSIONS[path.suffix], "table": table, "names": names}
        with self._lab._open(self._lab._request("GET", f"{self._path}/results", query)) as response:
            _save(response, path)
            status = response.headers.get("Job-Status", "successful")
        if status != "successful":
            warnings.warn(f"The job is {status}: {path} has only the conditions that are done.", stacklevel=2)
        return path

    def end(self) -> JobState:
        """Ends the job and removes its results."""
        with self._lab._open(self._lab._request("DELETE", self._path, {})) as response:
            return _job_state(_parsed(_read(response)))

    def __repr__(self) -> str:
        return f"<Job {self.name!r} at {self._lab.url}>"


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
    path = Path(path)
    if path.suffix not in _EXTENSIONS:
        raise ValueError(f"path must end in {', '.join(_EXTENSIONS)}, got {str(path)!r}")
    return path


def _save(response: Any, path: Path) -> None:
    last_line = b""
    with _replacing(path) as file:
        while piece := _read(response, 2**20):
            file.write(piece)
            if path.suffix == ".ndjson":
                last_line = b"\n".join((last_line + piece).split(b"\n")[-2:])
        # A reader of pieces is not told when the last ones are missing.
        if file.tell() < int(response.headers.get("Content-Length", 0)):
            raise LabConnectionError("The connection broke before the answer ended.")
        if path.suffix == ".parquet":
            _check_complete(file)
        if path.suffix == ".ndjson":
            _check_last(_parsed(last_line))


def _complete(document: Mapping[str, Any]) -> Json:
    """Writes out the shorthands: a selector alone as an input or report, and ids that are integers."""
    complete = dict(document)
    for member in ("inputs", "reports"):
        if isinstance(complete.get(member), Mapping):
            complete[member] = {
                name: dict(value) if isinstance(value, Mapping) and "node_set" in value else {"node_set": value}
                for name, value in complete[member].items()
            }
            for entry in complete[member].values():
                entry["node_set"] = _selector(entry["node_set"])
                if isinstance(entry.get("times_ms"), Mapping):
                    entry["times_ms"] = {_id_text(i): times for i, times in entry["times_ms"].items()}
    if "silence" in complete:
        silenced = _selector(complete["silence"])
        complete["silence"] = silenced if isinstance(silenced, list) else [silenced]
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


def _selector(selector: Any) -> Any:
    if _is_id(selector):
        return {"root_id": str(int(selector))}
    if isinstance(selector, Mapping):
        changed = dict(selector)
        if "root_id" in changed:
            ids = changed["root_id"]
            changed["root_id"] = _id_text(ids) if isinstance(ids, str) or _is_id(ids) else [_id_text(i) for i in ids]
        if "except" in changed:
            changed["except"] = _selector(changed["except"])
        return changed
    if isinstance(selector, Iterable) and not isinstance(selector, str):
        return _united(list(selector))
    return selector


def _united(parts: list[Any]) -> list[Any]:
    """Ids of a list become one selector: a long list of ids stays a short document."""
    ids = [str(int(part)) for part in parts if _is_id(part)]
    others = [_selector(part) for part in parts if not _is_id(part)]
    return [*others, {"root_id": ids}] if ids else others


def _is_id(value: Any) -> bool:
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


def _lines(response: IO[bytes]) -> Iterator[Json]:
    while True:
        try:
            line = response.readline()
        except (OSError, HTTPException) as failure:
            raise LabConnectionError(f"The connection broke before the experiment ended: {failure}") from failure
        if not line:
            return
        yield _parsed(line)


def _read(response: IO[bytes], size: int | None = None) -> bytes:
    try:
        # Not -1 for everything: http.client would return the framing of a chunked answer with it.
        return response.read(size)
    except (OSError, HTTPException) as failure:
        raise LabConnectionError(f"The connection broke before the answer ended: {failure}") from failure


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
        body = {"error": f"HTTP {answer.code} {answer.reason}"}
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


def _unreachable(url: str, failure: Exception) -> LabConnectionError:
    reason = _reason(failure)
    if isinstance(reason, (TimeoutError, socket.timeout)):
        return LabConnectionError(f"{url} did not answer in time.")
    return LabConnectionError(f"{url} cannot be reached: {reason}")


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


def _check_complete(file: IO[bytes]) -> None:
    """Raises LabError where the footer of a Parquet file says that spikes beyond the limit are missing."""
    length = file.tell()
    file.flush()
    with open(file.name, "rb") as written:
        written.seek(length - _FOOTER_LENGTH_BYTES)
        footer_length = int.from_bytes(written.read(4), "little")
        written.seek(length - _FOOTER_LENGTH_BYTES - footer_length)
        footer = written.read(footer_length)
    # A pair of metadata in Thrift's compact protocol: field 1, nine bytes of text, field 2.
    if b"\x18\x09truncated\x18" in footer:
        raise LabError(
            "There are more spikes than the service writes into one file. Run fewer trials, a shorter duration, "
            "or report fewer neurons."
        )


def _pandas() -> Any:
    try:
        import pandas
    except ImportError as missing:
        raise ImportError("DataFrames need pandas: pip install pandas. Result.json needs nothing.") from missing
    return pandas


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
    `flywire_id`, `exp_name`. Their `load_exps` and `get_rate` read it. A file that is there is kept.

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
        force_overwrite: whether to run the experiment although the file is there.
        lab: the service; by default at the address in NEURAL_EXPERIMENT_URL, or else http://localhost:8080.
        seed: of the random numbers; equal seeds give equal spikes.
        on_missing: `skip` leaves out ids that the model lacks, such as some of release 630, and warns of them; `error`
            refuses them.

    Raises:
        ValueError: `params` asks for another model.
        LabError: the service refused the experiment, or it has more spikes than one file may hold.
    """
    path = Path(path_res) / f"{exp_name}.parquet"
    if path.is_file() and not force_overwrite:
        print(f"{exp_name}: kept {path}; force_overwrite=True would replace it.")
        return
    document = _shiu_document(exp_name, neu_exc, neu_exc2, neu_slnc, params)
    path.parent.mkdir(parents=True, exist_ok=True)
    lab = lab or Lab(os.environ.get("NEURAL_EXPERIMENT_URL", _DEFAULT_URL))
    document.update(seed=seed, on_missing=on_missing)
    if on_missing == "skip":
        _warn_of_missing(lab.dry_run(**document)["resolved"])
    started_s = time.monotonic()
    lab.download(path, table="spikes", names="shiu", **document)
    print(f"{exp_name}: {document['trials']} trials in {time.monotonic() - started_s:.1f} s, spikes in {path}.")


def _warn_of_missing(resolved: Json) -> None:
    missing = sorted({each for selected in resolved.values() for each in selected["missing"]})
    if missing:
        warnings.warn(f"The model lacks, and the experiment leaves out: {', '.join(missing)}", stacklevel=3)


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
        "trials": int(values["n_run"]),
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
