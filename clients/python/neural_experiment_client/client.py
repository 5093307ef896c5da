"""The service over HTTP: experiments and searches."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http
import itertools
import json
import logging
import os
import random
import re
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from . import kept_jobs
from .answers import Ask, Progress, checked_path, frame_of, is_held_back, print_progress, result_of, save
from .documents import (
    NEURON_COLUMNS,
    SYNAPSE_COLUMNS,
    Document,
    Json,
    Selector,
    complete_selector,
    completed,
    id_text,
    is_id,
    not_finite,
    plain,
    query_text,
    takes_document,
)
from .errors import LabConnectionError, LabError
from .frames import frame_or_list
from .gate import Gate
from .jobs import Job
from .kept_answers import KeptAnswer
from .opener import opener_for
from .responses import cause_of, http_error, is_of_gateway, is_time_limit, may_have_arrived, whole
from .results import Result
from .sessions import Session
from .version import __version__

if TYPE_CHECKING:
    from pandas import DataFrame
    from typing_extensions import Unpack

    from .local import LocalLab

_T = TypeVar("_T")
_URL_VARIABLE = "NEURAL_EXPERIMENT_URL"
_DEFAULT_URL = "http://localhost:8080"
_TEMPORARY = (429, 503)
_NONE: Mapping[str, str] = {}
#: The most that a search lists, and that GET /api/v2/neurons looks up, at once.
_ROWS_A_REQUEST = 10_000
#: Paths of refusals for the total price of a document. A job may cost more in total, but no trial of it.
_PATHS_OF_PRICE = ("", "/trials", "/sweep", "/duration_ms")
_IDS_A_REQUEST = 200
#: The largest document that a service takes.
_DOCUMENT_BYTES = 2**20
#: The shortest pause before a request is repeated, whatever the service says.
_LEAST_PAUSE_S = 1.0
#: Pause before a gateway is asked again.
_GATEWAY_S = 1.0
#: A pause is longer than the service asks for by up to this part of it, so that clients do not all come back at once.
_JITTER = 0.25
#: Columns of a list of jobs.
_STATE_COLUMNS = ["status", "progress", "conditions_done", "conditions"]
#: Keys of requests for jobs whose answers did not come, by the digest of the address and the document.
_KEYS_WITHOUT_ANSWER: dict[str, str] = {}
_LOGGER = logging.getLogger("neural_experiment_client")


class Lab:
    """A service that runs experiments.

    Args:
        url: its address, such as `http://localhost:8080`; by default that in the environment variable
            NEURAL_EXPERIMENT_URL, or else http://localhost:8080. A user and password in it are sent, and never shown.
        timeout_s: how long to wait for the next byte, in seconds. It does not hold for the beginning of a table, a
            .csv, .arrow or .parquet, or a figure: the service sends nothing until its first MiB, or all of a shorter
            one, is computed. Of other experiments it tells every few seconds how far they are.
        wait_at_most_s: how long to wait in all, in seconds, when the service asks to come again later (429, 503). An
            experiment that only waits for others of this Lab waits for as long as these take.
    """

    def __init__(self, url: str | None = None, *, timeout_s: float = 120, wait_at_most_s: float = 120) -> None:
        if url is None:
            url = os.environ.get(_URL_VARIABLE, _DEFAULT_URL)
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            shown = re.sub(r".*@", "...@", url, flags=re.DOTALL)
            raise ValueError(f"url must begin with http:// or https:// and name a host, got {shown!r}")
        user, _, host = parts.netloc.rpartition("@")
        self.url = parts._replace(netloc=host).geturl().rstrip("/")
        if "@" in self.url:
            raise ValueError("url must have / ? # and @ of a password in the form %2F %3F %23 %40")
        self.timeout_s = timeout_s
        self.wait_at_most_s = wait_at_most_s
        self._host = parts.hostname
        self._headers = {"User-Agent": f"neural-experiment-client-python/{__version__}"}
        if user:
            name, _, password = (urllib.parse.unquote(each) for each in user.partition(":"))
            self._headers["Authorization"] = f"Basic {base64.b64encode(f'{name}:{password}'.encode()).decode()}"
        self._gate = Gate()

    @staticmethod
    def local(
        brain: str | os.PathLike[str] | None = None,
        *,
        checkout: str | os.PathLike[str] | None = None,
        image: str | None = None,
        variables: Mapping[str, object] | None = None,
    ) -> LocalLab:
        """Starts a service on this machine, without limits, and says so. It ends with this process.

            lab = Lab.local()
            with Lab.local("malecns-1.0") as lab: ...
            lab = Lab.local("flywire-783", image="neural-experiment-service:cpu")

        Args:
            brain: the path of a connectome file, or the name of one in `data` of the checkout; by default `default`, or
                the brain in the image.
            checkout: a checkout of the project that is built (`npm run build`); by default that of the environment
                variable NEURAL_EXPERIMENT_CHECKOUT, or else the one that this module or the working directory lies in.
            image: a container image of the service (docker/README.md), run by podman or docker. It is not downloaded.
                A checkout is then needed only if `brain` is a name.
            variables: of the service's environment (docs/operations.md), such as `{"WORKERS": 4}`.

        Raises:
            FileNotFoundError: no checkout, no build, no such brain, no Node, or nothing that runs images.
            LabConnectionError: the service did not start; the message has what it said.
        """
        from .local import LocalLab

        return LocalLab(brain, checkout=checkout, image=image, variables=variables)

    @takes_document
    def run(
        self,
        *,
        progress: Callable[[Progress], object] | bool = False,
        truncate: bool = False,
        resume: str | os.PathLike[str] | None = None,
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
            resume: a file that ends in .ndjson, which keeps each condition as soon as it is done. If a call ended
                early, the same call computes only the conditions that the file lacks, and gives the whole result
                (`Result.resumed_at`). `progress` then counts these.
            **document: the members of the document of an experiment, which GET /api/v2/openapi describes in full.
                inputs: what is stimulated, by names of your choice. `node_set`: which neurons; `rate_hz` of each
                    (150), or `{"times_ms": [0, 100], "values": [10, 80]}`. A selector alone will do. A pattern over
                    many sets has `rates` instead: a DataFrame, the path of a CSV file, or a list of dicts, each with
                    `node_set` (or `root_id`) and `rate_hz`.
                silence: the neurons whose outputs are cut; for a part of the trial
                    `{"node_set": selector, "start_ms": 200, "end_ms": 400}`.
                constants: those of the network that differ, such as `{"synapse_mv": 0.3}`.
                wiring: another wiring of the same neurons: `{"shuffle": "weights", "seed": 1}`, with `minimum_synapses`,
                    `jitter`, `"counts": "resampled"` and `"signs": "sampled"`.
                controls: `{"shuffle": "weights", "count": 20}`: shuffled brains that each rate is compared with;
                    `{"signs": "sampled"}`: brains with sampled signs; `{"silence": "matched"}`: matched neurons.
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
            ValueError: the file of `resume` is of another experiment, model or version of the service's answers.
        """
        show = print_progress if progress is True else progress or None
        kept = None
        if resume is not None:
            kept = KeptAnswer(resume, lambda start: self._described(document, {"from": str(start)}))
        return result_of(self._asking(document), truncate=truncate, show=show, kept=kept)

    @takes_document
    def submit(self, **document: Unpack[Document]) -> Job:
        """Begins an experiment as a job: the service goes on when this program ends.

        A job may be much larger than what `run` is allowed: 20,000 conditions and 300,000 brain seconds, unless the
        service says otherwise. But a job keeps at most 2,000,000 rows of events (spikes, input events, potentials) of
        a condition, and fails if there are more. `Lab.table` and `Lab.download` get more, in pages, of an experiment that
        fits into a request.

        If the connection breaks before the answer came, the request is repeated, for at most `wait_at_most_s`. It has a
        key (Idempotency-Key), so no second job is begun. If this is interrupted, or fails for another reason, the same
        call in the same program repeats that request.

        Args:
            **document: as for `run`.
        """
        complete = completed(document)
        text = json.dumps(complete, default=plain)
        digest = hashlib.sha256(f"{self.url}\n{text}".encode()).hexdigest()
        # Threads that submit equal documents begin a job each.
        key = _KEYS_WITHOUT_ANSWER.pop(digest, None) or str(uuid.uuid4())
        headers = {"Prefer": "respond-async", "Idempotency-Key": f'"{key}"'}

        def begun() -> Json:
            with self._post(complete, {}, headers) as response:
                # A service that knows no jobs would answer at once.
                if response.status != http.HTTPStatus.ACCEPTED:
                    raise LabError("The service computes no jobs.", status=response.status)
                return whole(response)

        try:
            state = self._until_answered(begun, every_s=1, is_worth_waiting=may_have_arrived)
        except BaseException:
            _KEYS_WITHOUT_ANSWER[digest] = key
            raise
        kept_jobs.remember(self.url, state["jobID"], complete.get("name"), state["created"])
        return Job(self, state["jobID"])

    def job(self, name: str) -> Job:
        """A job that was begun before, by its name (`Job.name`)."""
        return Job(self, name)

    def jobs(self, *, forget: bool = False) -> Any:
        """The jobs that were submitted to this address by this user of this machine, from any program.

        Their names are kept in `$XDG_STATE_HOME/neural-experiment-client/jobs.ndjson` (by default below
        ~/.local/state), which only this user can read.

        Args:
            forget: whether to forget the jobs that the service does not know. Otherwise they are listed with the status
                `unknown`, because another service may answer just now, and forgotten after 30 days.

        Returns:
            A DataFrame with a row for each job, the last one last: `name` (for `Lab.job`), `title` (the name of the
            experiment), `begun`, `status`, `progress` (per cent), `conditions_done`, `conditions`; without pandas a
            list of dicts.
        """
        rows = []
        gone = set()
        for job in kept_jobs.remembered(self.url):
            state: Json = {"status": "unknown"}
            try:
                state = vars(self.job(job["name"]).state)
            except LabError as error:
                if error.status != http.HTTPStatus.NOT_FOUND:
                    raise
                if forget or kept_jobs.is_old(job):
                    gone.add(job["name"])
                    continue
            head = {name: job[name] for name in ("name", "title", "begun")}
            rows.append({**head, **{name: state.get(name) for name in _STATE_COLUMNS}})
        kept_jobs.forget(lambda job: job["url"] == self.url and job["name"] in gone)
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
    def dry_run(self, *, as_job: bool = False, **document: Unpack[Document]) -> Json:
        """Checks an experiment without running it: the complete document, resolved neurons, conditions and cost.

        Args:
            as_job: whether to check and price it as a job, which may be larger (`submit`).
            **document: as for `run`.
        """
        return self._described(document, {}, {"Prefer": "respond-async"} if as_job else _NONE)

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
        """Runs an experiment and saves its answer as the service writes it (docs/guide/formats.md).

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
        path = checked_path(path)
        return save(self._asking(document), path, {"table": table, "names": names}, truncate=truncate)

    @takes_document
    def table(self, table: str, *, truncate: bool = False, **document: Unpack[Document]) -> DataFrame:
        """Runs an experiment and gives one of its tables as the service has it: the fast way to millions of rows.

            reports = {"all": {"node_set": "@all", "type": "spikes"}}
            spikes = lab.table("spikes", inputs={"sugar": "@sugar"}, reports=reports)

        It comes as Arrow if pyarrow is there, otherwise as CSV, with the same rows.

        Args:
            table: as for `download`; spikes, input events and samples have types and sides of their neurons.
            truncate: as for `download`.
            **document: as for `run`.

        Returns:
            A DataFrame with the columns of docs/guide/formats.md; root ids are texts.
        """
        return frame_of(self._asking(document), table, truncate=truncate)

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
            A DataFrame with a row for each neuron, its labels and `root_id` (text: ids exceed 2^53), its
            `input_synapses` and `output_synapses`; without pandas a list of dicts.
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
        return frame_or_list(rows, [*NEURON_COLUMNS, *SYNAPSE_COLUMNS])

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
            `excitatory`, `inhibitory`, `mixed`, or `none` if they have no fast effect; `excitatory_pairs` and
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
            return whole(response)

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

    def _described(
        self, document: Mapping[str, Any], query: Mapping[str, str | None], headers: Mapping[str, str] = _NONE
    ) -> Json:
        query = {"dry_run": "true", "format": "json", **query}
        with self._post(completed(document), query, headers) as response:
            return whole(response)

    def _asking(self, document: Mapping[str, Any]) -> Ask:
        complete = completed(document)

        @contextlib.contextmanager
        def ask(query: Mapping[str, str | None]) -> Iterator[Any]:
            # An experiment is under way until its answer is read.
            with self._gate.place() as waited_for_place:
                try:
                    held_back = is_held_back(query)
                    response = self._post(
                        complete, query, waited_for_place=waited_for_place, waits_for_beginning=held_back
                    )
                except LabError as error:
                    if error.code == "TOO_EXPENSIVE" and error.path in _PATHS_OF_PRICE:
                        error.args = (f"{error} As a job it may cost more: lab.submit(...) takes the same arguments.",)
                    raise
                with response:
                    yield response

        return ask

    def _post(
        self,
        document: Json,
        query: Mapping[str, str | None],
        headers: Mapping[str, str] = _NONE,
        path: str = "/api/v2/experiments",
        waited_for_place: Callable[[float], bool] = lambda _: False,
        waits_for_beginning: bool = False,
    ) -> Any:
        try:
            body = json.dumps(document, default=plain, allow_nan=False).encode()
        except ValueError as failure:
            # A document that contains itself is the other cause.
            found = (not_finite(document) if "compliant" in str(failure) else None) or failure
            raise ValueError(f"A document cannot hold numbers that are infinite or NaN: {found}") from failure
        if len(body) > _DOCUMENT_BYTES:
            # The service would close the connection while this is still sending, and its answer would be lost.
            raise LabError(
                f"The document has {len(body):,} bytes; at most {_DOCUMENT_BYTES:,} are allowed (1 MiB). Cell types "
                "and sets are shorter than lists of root ids.",
                status=http.HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                code="BODY_TOO_LARGE",
            )
        request = self._request("POST", path, query, body, headers)
        return self._open(request, waited_for_place, waits_for_beginning=waits_for_beginning)

    def _until_answered(
        self,
        ask: Callable[[], _T],
        *,
        every_s: float,
        is_worth_waiting: Callable[[LabError], bool] = lambda _: True,
    ) -> _T:
        """Repeats a request that gets no answer of the service. It must be safe to repeat."""
        give_up_s = time.monotonic() + self.wait_at_most_s
        while True:
            try:
                return ask()
            except LabError as failure:
                is_unanswered = isinstance(failure, LabConnectionError) or is_of_gateway(failure)
                if not is_unanswered or time.monotonic() > give_up_s or not is_worth_waiting(failure):
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
        headers = {**self._headers, **more_headers}
        if body is not None:
            headers["Content-Type"] = "application/json"
        return urllib.request.Request(url, data=body, headers=headers, method=method)

    def _open(
        self,
        request: urllib.request.Request,
        waited_for_place: Callable[[float], bool] = lambda _: False,
        *,
        waits_for_beginning: bool = False,
    ) -> Any:
        """Sends a request, and repeats it if the service says when. Raises every other refusal.

        A GET is also repeated if a gateway does not reach the service.

        Args:
            request: what to send.
            waited_for_place: of Gate.place.
            waits_for_beginning: whether `timeout_s` does not hold for the beginning of the answer.
        """
        opener = opener_for(self._host, waits_for_beginning=waits_for_beginning)
        waited_s = 0.0
        while True:
            try:
                response: Any = opener.open(request, timeout=self.timeout_s)
                response.timeout_s = self.timeout_s
                return response
            except urllib.error.HTTPError as answer:
                with answer:
                    error = http_error(answer)
            except (OSError, HTTPException) as failure:
                raise self._unreachable(failure) from failure
            asked_s = error.retry_after_s if error.status in _TEMPORARY else None
            pause_s = None if asked_s is None else max(_LEAST_PAUSE_S, asked_s)
            jitter = random.uniform(1, 1 + _JITTER)
            if error.code == "QUEUE_FULL" and pause_s is not None and waited_for_place(jitter * pause_s):
                continue
            if pause_s is None and request.get_method() == "GET" and is_of_gateway(error):
                pause_s = _GATEWAY_S
            if pause_s is None or waited_s + pause_s > self.wait_at_most_s:
                raise error
            pause_s *= jitter
            _LOGGER.warning("Waiting %.1f s before the next try: %s", pause_s, error)
            time.sleep(pause_s)
            waited_s += pause_s

    def _unreachable(self, failure: Exception) -> LabConnectionError:
        reason = cause_of(failure)
        if is_time_limit(reason):
            return LabConnectionError(f"{self.url} did not answer within {self.timeout_s:g} s (timeout_s of Lab).")
        return LabConnectionError(
            f"{self.url} cannot be reached: {reason}. Is the service running, and is this its address? "
            f"Lab(url) or {_URL_VARIABLE} sets it."
        )
