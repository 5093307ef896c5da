"""The names of jobs that were begun on this machine: the service tells nobody which jobs it has."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

from .documents import Json

#: A service keeps results for at most 2,000,000 s (JOBS_KEPT_S), and a job may take some days before.
_KEPT_FOR = datetime.timedelta(days=30)


class _Change(threading.local):
    #: What to forget when this thread has changed the list; None while it does not change it.
    later: list[Callable[[Json], bool]] | None = None


_CHANGE = _Change()


def remember(url: str, name: str, title: str | None, begun: str) -> None:
    """Adds a job. That it cannot is no reason to fail: the job runs."""
    try:
        path = _path()
        path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(path):
            # Whoever knows the name of a job can end it.
            descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with open(descriptor, "a", encoding="utf-8") as file:
                file.write(json.dumps({"url": url, "name": name, "title": title, "begun": begun}) + "\n")
    except (OSError, RuntimeError) as failure:
        warnings.warn(f"Lab.jobs() will not list the job {name}: {failure}", stacklevel=3)


def remembered(url: str) -> list[Json]:
    """The jobs of a service in the order in which they were begun."""
    try:
        return [job for job in _all(_path()) if job["url"] == url]
    except (OSError, RuntimeError) as failure:
        warnings.warn(f"The list of jobs cannot be read: {failure}", stacklevel=3)
        return []


def forget(is_gone: Callable[[Json], bool]) -> None:
    """Removes jobs that nobody can ask for any more. A fault is a warning, because this also runs at the exit."""
    # The garbage collector may end a service while this thread holds the lock, for which it would then wait for ever.
    if _CHANGE.later is not None:
        _CHANGE.later.append(is_gone)
        return
    try:
        path = _path()
        if not any(is_gone(job) for job in _all(path)):
            return
        with _locked(path):
            kept = [job for job in _all(path) if not is_gone(job)]
            part = path.with_suffix(f".{os.getpid()}.part")
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                file.writelines(json.dumps(job) + "\n" for job in kept)
            os.replace(part, path)
    except (OSError, RuntimeError) as failure:
        warnings.warn(f"The list of jobs cannot be changed: {failure}", stacklevel=3)


def is_old(job: Json) -> bool:
    """Whether no service keeps the results of the job any more."""
    try:
        begun = datetime.datetime.fromisoformat(job["begun"].replace("Z", "+00:00"))
        return datetime.datetime.now(datetime.timezone.utc) - begun > _KEPT_FOR
    except (TypeError, ValueError):
        return False


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keeps other processes from changing the list. Another file is locked, because the list is replaced."""
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    _CHANGE.later = []
    try:
        # Some network file systems have no locks.
        with contextlib.suppress(OSError):
            _lock(descriptor)
        yield
    finally:
        # Closing it unlocks it.
        os.close(descriptor)
        later, _CHANGE.later = _CHANGE.later, None
        for is_gone in later:
            forget(is_gone)


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX)


def _all(path: Path) -> list[Json]:
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return []
    jobs = []
    for line in lines:
        # Whoever was killed while it was written lost a job, not the list.
        with contextlib.suppress(ValueError):
            jobs.append(json.loads(line))
    return jobs


def _path() -> Path:
    """The file. Without a home directory there is a RuntimeError."""
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "neural-experiment-client" / "jobs.ndjson"
