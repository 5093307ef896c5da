"""The service over HTTP: experiments, jobs, searches and files."""

from __future__ import annotations

import contextlib
import dataclasses
import http
import itertools
import json
import logging
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
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, Union

from . import kept_jobs
from .documents import (
    NEURON_COLUMNS,
    Document,
    Json,
    Selector,
    complete_selector,
    completed,
    id_text,
    is_id,
    plain,
    query_text,
    takes_document,
)
from .errors import LabConnectionError, LabError
from .frames import frame_or_list
from .results import Result
from .version import __version__

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .local import LocalLab

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
#: What a list of jobs says of each.
_STATE_COLUMNS = ["status", "progress", "conditions_done", "conditions"]
_LOGGER = logging.getLogger("neural_experiment_client")


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
    status = "accepted, waits for a worker" if state.status == "accepted" else state.status
    text = f"{status}: {state.progress} %, {state.conditions_done} of {state.conditions} conditions{left}"
    print(f"\r{text:<70}", end="\n" if state.is_finished else "", file=sys.stderr, flush=True)


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

    @staticmethod
    def local(
        brain: str | os.PathLike[str] | None = None,
        *,
        checkout: str | os.PathLike[str] | None = None,
        variables: Mapping[str, object] | None = None,
    ) -> LocalLab:
        """Starts a service on this machine, without limits, and says so. It ends with this process.

            lab = Lab.local()
            with Lab.local("malecns-1.0") as lab: ...

        Args:
            brain: the path of a connectome file, or the name of one in `data` of the checkout; by default `default`.
            checkout: a checkout of the project that is built (`npm run build`); by default that of the environment
                variable NEURAL_EXPERIMENT_CHECKOUT, or else the one that this module or the working directory lies in.
            variables: of the service's environment (docs/operations.md), such as `{"WORKERS": 4}`.

        Raises:
            FileNotFoundError: no checkout, no build, no such brain or no Node.
            LabConnectionError: the service did not start; the message has what it said.
        """
        from .local import LocalLab

        return LocalLab(brain, checkout=checkout, variables=variables)

    @takes_document
    def run(
        self,
        *,
        progress: Callable[[Progress], object] | bool = False,
        truncate: bool = False,
        **document: Unpack[Document],
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

    @takes_document
    def submit(self, **document: Unpack[Document]) -> Job:
        """Begins an experiment as a job: the service goes on when this program ends.

        A job may be much larger than what `run` is allowed: 20,000 conditions and 300,000 brain seconds, unless the
        service says otherwise.

        If the connection breaks before the answer came, the request is repeated, for at most `wait_at_most_s`. It has a
        key (Idempotency-Key), so no second job is begun.

        Args:
            **document: as for `run`.
        """
        complete = completed(document)
        headers = {"Prefer": "respond-async", "Idempotency-Key": f'"{uuid.uuid4()}"'}

        def begun() -> Job:
            with self._post(complete, {}, headers) as response:
                # A service that knows no jobs would answer at once.
                if response.status != http.HTTPStatus.ACCEPTED:
                    raise LabError("The service computes no jobs.", status=response.status)
                state = _parsed(_read(response))
            kept_jobs.remember(self.url, state["jobID"], complete.get("name"), state["created"])
            return Job(self, state["jobID"])

        return self._until_answered(begun, every_s=1, is_worth_waiting=_may_have_arrived)

    def job(self, name: str) -> Job:
        """A job that was begun before, by its name (`Job.name`)."""
        return Job(self, name)

    def jobs(self) -> Any:
        """The jobs that were submitted to this address by this user of this machine, from any program.

        Their names are kept in `$XDG_STATE_HOME/neural-experiment-client/jobs.ndjson` (by default below
        ~/.local/state), which only this user can read. Jobs that the service does not know any more are forgotten.

        Returns:
            A DataFrame with a row for each job, the last one last: `name` (for `Lab.job`), `title` (the name of the
            experiment), `begun`, `status`, `progress` (per cent), `conditions_done`, `conditions`; without pandas a
            list of dicts.
        """
        rows = []
        gone = set()
        for job in kept_jobs.remembered(self.url):
            try:
                state = self.job(job["name"]).state
            except LabError as error:
                if error.status != http.HTTPStatus.NOT_FOUND:
                    raise
                gone.add(job["name"])
                continue
            head = {name: job[name] for name in ("name", "title", "begun")}
            rows.append({**head, **{name: getattr(state, name) for name in _STATE_COLUMNS}})
        kept_jobs.forget(lambda job: job["name"] in gone)
        return frame_or_list(rows, ["name", "title", "begun", *_STATE_COLUMNS])

    @takes_document
    def session(self, **document: Unpack[Document]) -> Session:
        """Opens a session: a brain that goes on, step by step.

            with lab.session(inputs={"sugar": {"node_set": "@sugar", "rate_hz": 0}}, reports={"mn9": "@MN9"}) as fly:
                step = fly.step(20, sugar=80)

        Args:
            **document: as for `run`, of one trial, without sweep and with reports that have no window. With
                `duration_ms` that much is simulated first.
        """
        session = Session(self, completed(document))
        session._open()
        return session

    @takes_document
    def dry_run(self, **document: Unpack[Document]) -> Json:
        """What `run` would do, without running it: the complete document, resolved neurons, conditions and cost."""
        with self._post(completed(document), {"dry_run": "true", "format": "json"}) as response:
            return _parsed(_read(response))

    @takes_document
    def download(
        self,
        path: str | os.PathLike[str],
        *,
        table: str | None = None,
        names: str | None = None,
        truncate: bool = False,
        **document: Unpack[Document],
    ) -> Path:
        """Runs an experiment and saves its answer as the service writes it (docs/guide.md, Formats).

        The file has all rows. The service sends many of them in pages; to make one .arrow or .parquet of several,
        pyarrow is needed. A .ndjson has no lines of progress.

        Args:
            path: its ending selects the format: .csv, .arrow, .parquet, .ndjson or .json.
            table: `rates`, `histogram`, `latency`, `spikes`, `inputs` or `membrane`; not for .ndjson and .json, which
                hold everything.
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
            listed: Any = [root_id] if isinstance(root_id, str) or is_id(root_id) else root_id
            ids = list(dict.fromkeys(id_text(each) for each in listed))
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
        return frame_or_list(rows, NEURON_COLUMNS)

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
        query = {name: query_text(complete_selector(end)) for name, end in ends.items()}
        rows, _ = self._found("/api/v2/connections", "connections", {**query, "group_by": group_by})
        labels = ("root_id", "type", "side") if group_by == "neuron" else ("type",)
        names = [f"{end}_{label}" for end in ends for label in labels]
        return frame_or_list(rows, [*names, "pairs", "synapses", "sign", "excitatory_pairs", "inhibitory_pairs"])

    def node_sets(self) -> Any:
        """The published sets of neurons, and what they stand for.

        Returns:
            A DataFrame with a row for each set: `name`, as a selector names it (`@sugar`), `description`, `neurons`
            and others; without pandas a list of dicts.
        """
        return frame_or_list(self._get("/api/v2/node-sets")["node_sets"], [])

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
        complete = completed(document)
        return lambda query: self._post(complete, query)

    def _post(
        self,
        document: Json,
        query: Mapping[str, str | None],
        headers: Mapping[str, str] = _NONE,
        path: str = "/api/v2/experiments",
    ) -> Any:
        try:
            body = json.dumps(document, default=plain, allow_nan=False).encode()
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
                _LOGGER.warning("Trying again for at most %.0f s: %s", give_up_s - time.monotonic(), failure)
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
            _LOGGER.warning("Waiting %g s, as the service asks: %s", pause_s, error)
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
        progress: Callable[[JobState], object] | bool = True,
        every_s: float = 1,
        truncate: bool = False,
    ) -> Result:
        """Waits until the job is finished, and gives its results. The job goes on when this is interrupted.

        Args:
            progress: called whenever the state was asked for; True says what is waited for and prints a line
                (`print_job_state`), False nothing.
            every_s: how often to ask, in seconds. A service that cannot be reached is asked for `Lab.wait_at_most_s`.
            truncate: as for `Lab.run`.

        Raises:
            LabError: the job failed, was ended, or is not known (any more).
        """
        show = print_job_state if progress is True else progress or None
        if progress is True:
            print(f"Waiting for {self!r}. An interrupt ends the waiting, not the job.", file=sys.stderr)
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
        """The session so far: `lab.run(**fly.document)` gives its spikes, `lab.session(**fly.document)` goes on."""
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
        changes["silence"] = completed({"silence": silence})["silence"]
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
