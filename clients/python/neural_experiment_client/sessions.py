"""Sessions: brains that go on step by step."""

from __future__ import annotations

import contextlib
import http
import numbers
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .documents import Json, Selector, completed
from .errors import LabConnectionError, LabError
from .responses import read, whole

if TYPE_CHECKING:
    from .client import Lab

_T = TypeVar("_T")
_NONE: Mapping[str, str] = {}
#: Maximum number of steps to repeat if a session has to be opened again.
_STEPS_KEPT = 500
#: Pause before a session is asked again.
_EVERY_S = 0.2
#: The highest rate of an input. A larger number as `silence` is the id of a neuron.
_MAX_RATE_HZ = 500


class Session:
    """A brain that goes on, step by step: `Lab.session` opens it.

    If the service has lost it, because it was restarted or another replica answers, it is opened again from its
    document and the steps since: what it does from then on is the same, spike for spike.

    A step may be interrupted. If the service computed it nevertheless, the next call takes it for done: see `t_ms`.

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
        #: Steps from here, with their queries, whose answers did not come. At most one of them was computed.
        self._pending: list[tuple[Json, Mapping[str, str | None]]] = []
        self._is_ended = False

    def step(
        self,
        duration_ms: int,
        *,
        silence: Selector | None = None,
        drive: bool = False,
        rates_hz: Mapping[str, float] | None = None,
        **rates: float,
    ) -> Json:
        """Goes on by 1 to 1000 ms.

            fly.step(20, sugar=80)["reports"]["mn9"][0]["rate_hz"]["mean"]
            fly.step(20, rates_hz={"drive": 80})  # an input whose name is an argument

        Args:
            duration_ms: how long the step is.
            silence: whose outputs are cut from here on, in place of those that were; [] for nobody.
            drive: whether to give the drives of an animated body, too.
            rates_hz: rates from here on of inputs of module poisson, by their names. Others stay as they are.
            **rates: the same, for names that are no other argument.

        Returns:
            `t_ms`, where it is now; `spikes` of all neurons; `responding_neurons`, `input_events`, `synaptic_events`;
            `reports` by their names, as those of an experiment of one trial.
        """
        if not isinstance(drive, bool):
            raise ValueError(f"drive must be True or False, got {drive!r}. {_as_rate('drive', drive)}")
        changes = _changes(silence, rates_hz, rates)
        query = {"drive": "true" if drive else None}

        def stepped() -> Json:
            step = {"t_ms": self.t_ms, "duration_ms": duration_ms, **_merged(self._changes, changes)}
            self._pending.append((step, query))
            may_be_computed = False

            def sent() -> Json:
                nonlocal may_be_computed
                try:
                    return self._send("/steps", step, query)
                except LabError as error:
                    may_be_computed = may_be_computed or _may_have_been_computed(error)
                    raise

            try:
                answer = self._wherever_it_is(sent)
            except LabError as error:
                # A later try may be refused, for example because an allowance is spent.
                if not may_be_computed and not _may_have_been_computed(error):
                    self._pending.pop()
                raise
            except (TypeError, ValueError):
                # It is not JSON, so it was not sent.
                self._pending.pop()
                raise
            self._advance(step, answer)
            return answer

        return self._when_known(stepped)

    @property
    def document(self) -> Json:
        """The session so far: `lab.run(**fly.document)` gives its spikes, `lab.session(**fly.document)` goes on."""

        def asked() -> Json:
            document = self._wherever_it_is(lambda: self._lab._get(f"{self._path}/document"), needs_changes=True)
            # At its start the document ends after 1 ms.
            if self._pending and document["duration_ms"] > max(1, self.t_ms):
                raise LabError("A pending step ended just now.", code="STEP_OUT_OF_ORDER")
            return document

        self._document = self._when_known(asked)
        self._steps = []
        return self._document

    def branch(
        self,
        *,
        silence: Selector | None = None,
        rates_hz: Mapping[str, float] | None = None,
        **rates: float,
    ) -> Session:
        """A second session that goes on from here by itself. The changes that are given hold in it from here on.

        Args:
            silence: as for `step`.
            rates_hz: as for `step`.
            **rates: as for `step`.
        """
        given = _changes(silence, rates_hz, rates)

        def branched() -> Session:
            # If the service has lost this session, it knows nothing of changes before the next step.
            changes = _merged(self._changes, given)
            branch = Session(self._lab, self._document)
            branch._path = _path_of(self._wherever_it_is(lambda: self._send("/branches", changes)))
            branch.t_ms = self.t_ms
            branch._steps = list(self._steps)
            branch._changes = changes
            return branch

        return self._when_known(branched)

    def end(self) -> None:
        """Ends it, if the service still has it. Later calls raise a LabError with the code SESSION_ENDED."""
        self._is_ended = True
        self._end(self._path)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __repr__(self) -> str:
        return f"<Session at {self.t_ms} ms, {self._lab.url}>"

    def _open(self) -> None:
        """Opens it from its document and repeats the steps since."""
        with self._lab._post(self._document, {}, path="/api/v2/sessions") as response:
            opened = whole(response)
        path, t_ms = _path_of(opened), opened["t_ms"]
        for step in self._steps:
            t_ms = self._send("/steps", step, path=path)["t_ms"]
        # Only now: if this is interrupted before, the session is still lost, and is opened again.
        self._path, self.t_ms = path, t_ms

    def _end(self, path: str) -> None:
        with contextlib.suppress(LabError), self._lab._open(self._lab._request("DELETE", path, {})) as response:
            read(response)

    def _send(
        self, action: str, body: Json, query: Mapping[str, str | None] = _NONE, *, path: str | None = None
    ) -> Json:
        with self._lab._post(body, query, path=(path or self._path) + action) as response:
            return whole(response)

    def _advance(self, step: Json, answer: Json) -> None:
        self._pending = []
        self._changes = {}
        self.t_ms = answer["t_ms"]
        self._steps.append(step)
        if len(self._steps) % _STEPS_KEPT == 0:
            # The step counts, also if this request fails.
            with contextlib.suppress(LabError):
                _ = self.document

    def _when_known(self, ask: Callable[[], _T]) -> _T:
        """Sends a request after it is known whether the service has computed a pending step."""
        while True:
            was_pending = bool(self._pending)
            if was_pending:
                self._settle()
            try:
                return ask()
            except LabError as error:
                # The service is computing it, or has done so since.
                if error.code != "STEP_OUT_OF_ORDER" or not was_pending:
                    raise
            time.sleep(_EVERY_S)

    def _settle(self) -> None:
        """Takes the answer to the pending step that the service has computed, if it has computed one."""
        now_ms = self._wherever_it_is(lambda: self._lab._get(self._path))["t_ms"]
        if now_ms == self.t_ms:
            return
        for step, query in self._pending:
            if self.t_ms + step["duration_ms"] != now_ms:
                continue
            with contextlib.suppress(_OtherStepError):
                self._advance(step, self._again(step, query))
                return
        raise LabError(
            f"The session is at {now_ms} ms, and not at {self.t_ms} ms or after a step of this object: somebody else "
            "has gone on with it. Open another one with lab.session(...)."
        )

    def _again(self, step: Json, query: Mapping[str, str | None]) -> Json:
        """Sends a step again. The service repeats its answer if it is the last one that it computed."""
        try:
            return self._wherever_it_is(lambda: self._send("/steps", step, query))
        except LabError as error:
            if error.code == "STEP_OUT_OF_ORDER":
                raise _OtherStepError from error
            raise

    def _wherever_it_is(self, ask: Callable[[], Json], *, needs_changes: bool = False) -> Json:
        """Sends a request that is safe to repeat. If the session was lost, opens it again.

        Args:
            ask: sends it.
            needs_changes: whether the answer depends on changes that are sent with the next step.
        """

        def asked() -> Json:
            if self._is_ended:
                raise LabError("This program has ended the session.", code="SESSION_ENDED")
            try:
                return ask()
            except LabError as error:
                if error.code != "SESSION_ENDED":
                    raise
            self._open()
            if needs_changes and self._changes:
                opened = self._path
                self._path = _path_of(self._send("/branches", self._changes))
                self._end(opened)
            return ask()

        return self._lab._until_answered(asked, every_s=_EVERY_S)


class _OtherStepError(Exception):
    """The service has computed another step than this one."""


def _path_of(session: Json) -> str:
    return f"/api/v2/sessions/{session['session']}"


def _may_have_been_computed(error: LabError) -> bool:
    is_refusal = error.status is not None and error.status < http.HTTPStatus.INTERNAL_SERVER_ERROR
    return isinstance(error, LabConnectionError) or not is_refusal


def _merged(before: Json, after: Json) -> Json:
    """Changes that follow others: rates of inputs that are not named stay, and silence is replaced."""
    rates_hz = {**before.get("rates_hz", {}), **after.get("rates_hz", {})}
    return {**before, **after, **({"rates_hz": rates_hz} if rates_hz else {})}


def _changes(silence: Any, rates_hz: Mapping[str, float] | None, rates: Mapping[str, float]) -> Json:
    if rates_hz is not None and not isinstance(rates_hz, Mapping):
        wanted = _as_rate("rates_hz", rates_hz)
        raise ValueError(f"rates_hz must be a dict of rates by names of inputs, got {rates_hz!r}. {wanted}")
    given = dict(rates_hz or {})
    both = [name for name in rates if name in given]
    if both:
        raise TypeError(f"The rate of an input may be given once, in rates_hz or by its name; twice: {', '.join(both)}")
    given.update(rates)
    changes: Json = {"rates_hz": given} if given else {}
    if isinstance(silence, numbers.Real) and (not isinstance(silence, numbers.Integral) or silence <= _MAX_RATE_HZ):
        raise ValueError(
            f"silence must name neurons, got {silence!r}. {_as_rate('silence', silence)} The neuron of this id is "
            f"[{silence!r}]."
        )
    if silence is not None:
        changes["silence"] = completed({"silence": silence})["silence"]
    return changes


def _as_rate(name: str, rate: object) -> str:
    return f'The rate of an input called {name} is rates_hz={{"{name}": {rate!r}}}.'
