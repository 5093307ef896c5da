"""A service of one's own: started from a checkout of the project, ended with this process."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import kept_jobs
from .client import Lab
from .errors import LabConnectionError

CHECKOUT_VARIABLE = "NEURAL_EXPERIMENT_CHECKOUT"
_SERVICE = "dist/main.js"
_READY_WITHIN_S = 120
_ENDED_WITHIN_S = 10
#: Nobody else is to be protected from this user: limits are off, or at their highest.
_WITHOUT_LIMITS = {
    "RATE_LIMIT": 0,
    "EXPERIMENT_BRAIN_SECONDS_PER_MINUTE": 0,
    "EXPERIMENT_BRAIN_SECONDS": 1_000_000,
    "EXPERIMENTS_AT_ONCE": 1000,
    "JOB_BRAIN_SECONDS_PER_CLIENT": 1_000_000_000,
    "JOBS_AT_ONCE": 10_000,
}
#: The service ends when its standard input does, which it has from this process: so it ends however this one ends.
_ENDS_WITH_INPUT = """
import { isMainThread } from 'node:worker_threads';
if (isMainThread) process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume().unref?.();
"""


class LocalLab(Lab):
    """A service that belongs to this process, and ends with it, with `close()` or with a `with` block."""

    def __init__(
        self,
        brain: str | os.PathLike[str] | None = None,
        *,
        checkout: str | os.PathLike[str] | None = None,
        variables: Mapping[str, object] | None = None,
    ) -> None:
        root = _checkout(checkout)
        file = _brain_file(root, brain)
        port = _free_port()
        super().__init__(f"http://127.0.0.1:{port}")
        own = {"HOST": "127.0.0.1", "PORT": port, "METRICS_PORT": 0, "CONNECTOME_FILE": file, "SHUTDOWN_MS": 0}
        wanted = {**_WITHOUT_LIMITS, "LOG_LEVEL": "error", **own, **(variables or {})}
        environment = {**os.environ, **{name: str(value) for name, value in wanted.items()}}
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- until close()
        self._process = subprocess.Popen(
            [_node(), "--import", f"data:text/javascript,{_ENDS_WITH_INPUT}", _SERVICE],
            cwd=root,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            # An interrupt of a notebook or terminal is for the cell or the command, not for the service.
            start_new_session=True,
        )
        atexit.register(self.close)
        with self._closed_on_failure():
            name = self._brain_when_ready(file)
        print(
            f"Started a service of {name} ({file}) at {self.url}, process {self._process.pid}, from {root}. "
            "It has no limits on requests, answers this machine alone and ends with this Python.",
            file=sys.stderr,
        )

    def close(self) -> None:
        """Ends the service; its jobs are lost. May be called again."""
        atexit.unregister(self.close)
        if self._process.poll() is None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()
            try:
                self._process.wait(_ENDED_WITHIN_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            kept_jobs.forget(lambda job: job["url"] == self.url)
        self._log.close()

    def __enter__(self) -> LocalLab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def _closed_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _brain_when_ready(self, file: Path) -> str:
        give_up_s = time.monotonic() + _READY_WITHIN_S
        while time.monotonic() < give_up_s:
            if self._process.poll() is not None:
                raise LabConnectionError(f"The service did not start: {self._said()}")
            try:
                with urllib.request.urlopen(f"{self.url}/readyz", timeout=_READY_WITHIN_S) as answer:
                    return str(json.load(answer)["name"])
            except urllib.error.HTTPError as answer:
                with answer:
                    error = json.load(answer)
                # The service would try again for ever: elsewhere somebody may be about to replace the file.
                if error["code"] == "MODEL_FAILED":
                    raise LabConnectionError(f"The service cannot serve {file}: {error['error']}") from None
            except OSError:
                pass
            time.sleep(0.05)
        raise LabConnectionError(f"The service was not ready within {_READY_WITHIN_S} s: {self._said()}")

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-2000:] or "it said nothing."


def _checkout(given: str | os.PathLike[str] | None) -> Path:
    """The checkout that is named, or the one that this file or the working directory lies in."""
    named = given if given is not None else os.environ.get(CHECKOUT_VARIABLE)
    if named is not None:
        candidates = [Path(named).expanduser().resolve()]
    else:
        candidates = [*Path(__file__).resolve().parents, Path.cwd(), *Path.cwd().parents]
    roots = [root for root in candidates if (root / "src/main.ts").is_file() and (root / "package.json").is_file()]
    if not roots:
        looked = f"{candidates[0]} is none" if named is not None else "this folder is in none"
        raise FileNotFoundError(
            f"Lab.local() needs a checkout of the service, and {looked}: name it with checkout= or {CHECKOUT_VARIABLE}."
        )
    if not (roots[0] / _SERVICE).is_file():
        raise FileNotFoundError(f"The checkout {roots[0]} is not built: run `npm ci && npm run build` there.")
    return roots[0]


def _brain_file(root: Path, brain: str | os.PathLike[str] | None) -> Path:
    """The file of a brain: a path, or the name of one in `data`, which `npm run up` makes."""
    name = "default" if brain is None else os.fspath(brain)
    paths = [Path(name).expanduser(), root / "data" / f"{name}.connectome"]
    for path in paths if brain is not None else paths[1:]:
        if path.is_file():
            return path.resolve()
    there = ", ".join(sorted(path.stem for path in (root / "data").glob("*.connectome"))) or "none"
    make = "npm run up" if name == "default" else f"npm run up -- --dataset {name}"
    raise FileNotFoundError(
        f"brain must be the path of a connectome file or the name of one in {root / 'data'} (there: {there}), "
        f"got {name!r}. There, `{make}` makes one."
    )


def _node() -> str:
    node = shutil.which("node")
    if node is None:
        raise FileNotFoundError("Lab.local() needs Node, whose command `node` is not on the PATH.")
    return node


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
