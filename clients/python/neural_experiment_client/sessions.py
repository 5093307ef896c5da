"""Sessions: brains that go on step by step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from .documents import Json, Selector, completed
from .errors import LabError
from .responses import parsed, read

if TYPE_CHECKING:
    from .client import Lab

_NONE: Mapping[str, str] = {}
#: Maximum number of steps to repeat if a session has to be opened again.
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
        """A second session that goes on from here by itself. The changes that are given hold in it from here on."""
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
            read(response)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __repr__(self) -> str:
        return f"<Session at {self.t_ms} ms, {self._lab.url}>"

    def _open(self) -> None:
        with self._lab._post(self._document, {}, path="/api/v2/sessions") as response:
            opened = parsed(read(response))
        self._path = f"/api/v2/sessions/{opened['session']}"
        self.t_ms = opened["t_ms"]

    def _send(self, path: str, body: Json, query: Mapping[str, str | None] = _NONE) -> Json:
        with self._lab._post(body, query, path=self._path + path) as response:
            return parsed(read(response))

    def _wherever_it_is(self, ask: Callable[[], Json]) -> Json:
        """Sends a request that is safe to repeat. If the session was lost, opens it again."""

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
