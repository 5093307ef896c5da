"""Jobs: experiments that the service computes while nobody waits."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
import urllib.parse
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .answers import checked_path, frame_of, is_held_back, result_of, save
from .documents import Json
from .errors import LabError
from .responses import error_of, is_of_gateway, whole
from .results import Result

if TYPE_CHECKING:
    from pandas import DataFrame

    from .client import Lab


@dataclasses.dataclass(frozen=True)
class JobState:
    """How far a job is."""

    #: `accepted`, `running`, `successful`, `failed` or `dismissed`.
    status: str
    #: Per cent.
    progress: int
    conditions_done: int
    conditions: int
    #: Estimate of the service; None if it has none.
    left_s: float | None
    #: The failure of the job.
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
            every_s: how often to ask, in seconds. A service that cannot be reached is asked for `Lab.wait_at_most_s`,
                and a gateway that does not reach it for as long as you wait.
            truncate: as for `Lab.run`.

        Raises:
            LabError: the job failed, was ended, or is not known (any more).
        """
        self._finish(progress, every_s)
        return result_of(self._results, truncate=truncate)

    def table(
        self,
        table: str,
        *,
        progress: Callable[[JobState], object] | bool = True,
        every_s: float = 1,
        truncate: bool = False,
    ) -> DataFrame:
        """Waits until the job is finished, and gives one table as the service has it, as `Lab.table` does.

        Of large jobs that is faster than `wait().spikes`, and needs less memory.

        Args:
            table: as for `Lab.download`.
            progress: as for `wait`.
            every_s: as for `wait`.
            truncate: as for `Lab.download`.

        Raises:
            LabError: the job failed, was ended, or is not known (any more).
        """
        self._finish(progress, every_s)
        return frame_of(self._results, table, truncate=truncate)

    def results(self, *, truncate: bool = False) -> Result:
        """The results, or those of the conditions that are done (`Result.is_partial`).

        Args:
            truncate: as for `Lab.run`.
        """
        return result_of(self._results, truncate=truncate)

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
        path = checked_path(path)
        statuses = set()

        def ask(query: Mapping[str, str | None]) -> Any:
            response = self._results(query)
            statuses.add(response.headers.get("Job-Status", "successful"))
            return response

        save(ask, path, {"table": table, "names": names}, truncate=truncate)
        for status in sorted(statuses - {"successful"}):
            warnings.warn(f"The job is {status}: {path} has only the conditions that are done.", stacklevel=2)
        return path

    def end(self) -> JobState:
        """Ends the job and removes its results."""
        with self._lab._open(self._lab._request("DELETE", self._path, {})) as response:
            return _job_state(whole(response))

    def __repr__(self) -> str:
        return f"<Job {self.name!r} at {self._lab.url}>"

    def _finish(self, progress: Callable[[JobState], object] | bool, every_s: float) -> None:
        show = print_job_state if progress is True else progress or None
        if progress is True:
            print(f"Waiting for {self!r}. An interrupt ends the waiting, not the job.", file=sys.stderr)
        while True:
            # The service may be replaced just now.
            try:
                state = self._lab._until_answered(lambda: self.state, every_s=every_s)
            except LabError as error:
                if not is_of_gateway(error):
                    raise
                continue
            if show is not None:
                show(state)
            if state.error is not None:
                raise state.error
            if state.is_finished:
                return
            time.sleep(every_s)

    def _results(self, query: Mapping[str, str | None]) -> Any:
        request = self._lab._request("GET", f"{self._path}/results", query)
        return self._lab._open(request, waits_for_beginning=is_held_back(query))


def _job_state(info: Json) -> JobState:
    error = info.get("error")
    return JobState(
        status=info["status"],
        progress=info["progress"],
        conditions_done=info["conditions_done"],
        conditions=info["conditions"],
        left_s=info.get("seconds_left"),
        error=None if error is None else error_of(error, status=None, retry_after_s=None),
    )
