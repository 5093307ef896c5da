"""A service of one's own: started from a checkout of the project or an image of it, ended with this process."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
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
_PORT_IN_CONTAINER = 8080
_BRAIN_IN_CONTAINER = "/brain.connectome"
_READY_WITHIN_S = 120
_ENDED_WITHIN_S = 10
#: Nobody else is to be protected from this user: limits are off, or at their highest.
_WITHOUT_LIMITS: dict[str, object] = {
    "RATE_LIMIT": 0,
    "EXPERIMENT_BRAIN_SECONDS_PER_MINUTE": 0,
    "EXPERIMENT_BRAIN_SECONDS": 1_000_000,
    "EXPERIMENTS_AT_ONCE": 1000,
    "JOB_BRAIN_SECONDS_PER_CLIENT": 1_000_000_000,
    "JOBS_AT_ONCE": 10_000,
}
#: The part of the environment that a service gets: variables that programs and drivers of a GPU need. None of them
#: configures the service; only `variables` does.
_HANDED_ON = (
    "PATH", "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TMP", "TEMP", "SYSTEM", "WINDIR", "LANG", "LC_", "TZ", "XDG_",
    "LD_", "DYLD_", "VK_", "NVIDIA_", "CUDA_", "MESA_", "DISPLAY", "WAYLAND_",
)  # fmt: skip
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
        image: str | None = None,
        variables: Mapping[str, object] | None = None,
    ) -> None:
        port = _free_port()
        super().__init__(f"http://127.0.0.1:{port}")
        # The service chooses its number of workers, by cores and memory. In this role none is kept free of experiments.
        own = {"ROLE": "worker", "LOG_LEVEL": "error", "METRICS_PORT": 0, "SHUTDOWN_MS": 0}
        wanted = {**_WITHOUT_LIMITS, **own, **(variables or {})}
        #: Another service may have the folder of the checkout.
        self._jobs = tempfile.TemporaryDirectory(prefix="jobs-")
        if image is None:
            wanted = {"JOBS_PATH": self._jobs.name, **wanted}
            start = _from_checkout(checkout, brain, port, wanted)
        else:
            start = _from_image(image, checkout, brain, port, wanted)
        self._end_at_once = start.end_at_once
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 -- until close()
        self._process = subprocess.Popen(
            start.command,
            cwd=start.folder,
            env=start.environment,
            stdin=subprocess.PIPE,
            stdout=self._log,
            stderr=subprocess.STDOUT,
            # An interrupt of a notebook or terminal is for the cell or the command, not for the service.
            start_new_session=True,
        )
        atexit.register(self.close)
        with self._closed_on_failure():
            name = self._brain_when_ready(start.brain)
        print(
            f"Started a service of {name} ({start.brain}) at {self.url}, process {self._process.pid}, from "
            f"{start.origin}. It has no limits on requests, answers only this machine and ends with this Python.",
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
                if self._end_at_once:
                    subprocess.run(self._end_at_once, capture_output=True, check=False)
                self._process.kill()
                self._process.wait()
            kept_jobs.forget(lambda job: job["url"] == self.url)
        self._log.close()
        self._jobs.cleanup()

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

    def _brain_when_ready(self, brain: str) -> str:
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
                    raise LabConnectionError(f"The service cannot serve {brain}: {error['error']}") from None
            except OSError:
                pass
            time.sleep(0.05)
        raise LabConnectionError(f"The service was not ready within {_READY_WITHIN_S} s: {self._said()}")

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace").strip()[-2000:] or "it said nothing."


@dataclasses.dataclass(frozen=True)
class _Start:
    """How a service is started."""

    command: list[str]
    folder: Path | None
    environment: dict[str, str]
    #: In words: the brain that it serves, and the program or image that starts it.
    brain: str
    origin: str
    #: A command that ends it if it does not end by itself; empty if ending its process is enough.
    end_at_once: list[str]


def _from_checkout(
    checkout: str | os.PathLike[str] | None,
    brain: str | os.PathLike[str] | None,
    port: int,
    variables: Mapping[str, object],
) -> _Start:
    root = _checkout(checkout)
    if root is None:
        raise FileNotFoundError(
            "Lab.local() needs a checkout of the service: name it with checkout= or "
            f"{CHECKOUT_VARIABLE}, or work in it."
        )
    if not (root / _SERVICE).is_file():
        raise FileNotFoundError(f"The checkout {root} is not built: run `npm ci && npm run build` there.")
    file = _brain_file(root, "default" if brain is None else brain)
    own = {"HOST": "127.0.0.1", "PORT": port, "CONNECTOME_FILE": file, **variables}
    handed_on = {name: value for name, value in os.environ.items() if name.upper().startswith(_HANDED_ON)}
    environment = {**handed_on, **{name: str(value) for name, value in own.items()}}
    command = [_node(), "--import", f"data:text/javascript,{_ENDS_WITH_INPUT}", _SERVICE]
    return _Start(command, root, environment, str(file), str(root), [])


def _from_image(
    image: str,
    checkout: str | os.PathLike[str] | None,
    brain: str | os.PathLike[str] | None,
    port: int,
    variables: Mapping[str, object],
) -> _Start:
    """A container without rights that cannot write, whose port is open only to this machine."""
    file = None if brain is None else _brain_file(_checkout(checkout), brain)
    engine = shutil.which("podman") or shutil.which("docker")
    if engine is None:
        raise FileNotFoundError("Lab.local(image=...) needs podman or docker, and neither is on the PATH.")
    own = {"HOST": "0.0.0.0", "PORT": _PORT_IN_CONTAINER, **variables}
    name = f"neural-experiment-{os.getpid()}-{port}"
    options = ["--rm", "--interactive", "--pull", "never", "--name", name]
    options += ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
    options += ["--publish", f"127.0.0.1:{port}:{_PORT_IN_CONTAINER}"]
    if file is not None:
        options += ["--volume", f"{file}:{_BRAIN_IN_CONTAINER}:ro"]
        own["CONNECTOME_FILE"] = _BRAIN_IN_CONTAINER
    for variable, value in own.items():
        options += ["--env", f"{variable}={value}"]
    service = ["node", "--import", f"data:text/javascript,{_ENDS_WITH_INPUT}", _SERVICE]
    command = [engine, "run", *options, image, *service]
    served = "its own brain" if file is None else str(file)
    return _Start(command, None, dict(os.environ), served, image, [engine, "rm", "--force", name])


def _checkout(given: str | os.PathLike[str] | None) -> Path | None:
    """The checkout that is named, or the one that this file or the working directory lies in."""
    named = given if given is not None else os.environ.get(CHECKOUT_VARIABLE)
    if named is not None:
        candidates = [Path(named).expanduser().resolve()]
    else:
        candidates = [*Path(__file__).resolve().parents, Path.cwd(), *Path.cwd().parents]
    for root in candidates:
        if (root / "src/main.ts").is_file() and (root / "package.json").is_file():
            return root
    if named is not None:
        raise FileNotFoundError(f"{named}, as checkout= or {CHECKOUT_VARIABLE} says, is no checkout of the service.")
    return None


def _brain_file(root: Path | None, brain: str | os.PathLike[str]) -> Path:
    """The file of a brain: a path, or the name of one in `data` of a checkout, which `npm run up` makes."""
    name = os.fspath(brain)
    paths = [Path(name).expanduser()]
    if root is not None:
        paths.append(root / "data" / f"{name}.connectome")
    for path in paths:
        if path.is_file():
            return path.resolve()
    if root is None:
        allowed = f"`data` of a checkout of the service, which checkout= or {CHECKOUT_VARIABLE} names"
    else:
        there = ", ".join(sorted(path.stem for path in (root / "data").glob("*.connectome"))) or "none"
        allowed = f"{root / 'data'} (there: {there})"
    make = "npm run up" if name == "default" else f"npm run up -- --dataset {name}"
    # A path that is wrong is no name of a data set.
    hint = "" if Path(name).name != name else f" In {root or 'a checkout'}, `{make}` makes it."
    raise FileNotFoundError(
        f"brain must be the path of a connectome file or the name of one in {allowed}, got {name!r}.{hint}"
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
