"""The names of jobs that were begun on this machine: the service tells nobody which jobs it has."""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

from .documents import Json


def remember(url: str, name: str, title: str | None, begun: str) -> None:
    """Adds a job. That it cannot is no reason to fail: the job runs."""
    path = _path()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Whoever knows the name of a job can end it.
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with open(descriptor, "a", encoding="utf-8") as file:
            file.write(json.dumps({"url": url, "name": name, "title": title, "begun": begun}) + "\n")
    except OSError as failure:
        warnings.warn(f"Lab.jobs() will not list the job {name}: {failure}", stacklevel=3)


def remembered(url: str) -> list[Json]:
    """The jobs of a service in the order in which they were begun."""
    return [job for job in _all() if job["url"] == url]


def forget(is_gone: Callable[[Json], bool]) -> None:
    """Removes jobs that nobody can ask for any more."""
    every = _all()
    kept = [job for job in every if not is_gone(job)]
    if len(kept) < len(every):
        path = _path()
        part = path.with_suffix(f".{os.getpid()}.part")
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(job) + "\n" for job in kept)
        os.replace(part, path)


def _all() -> list[Json]:
    try:
        lines = _path().read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    jobs = []
    for line in lines:
        # Whoever was killed while it was written lost a job, not the list.
        with contextlib.suppress(ValueError):
            jobs.append(json.loads(line))
    return jobs


def _path() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "neural-experiment-client" / "jobs.ndjson"
