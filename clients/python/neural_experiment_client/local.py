"""A service of one's own: started from a checkout of the project or an image of it, ended with this process."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import uuid
import weakref
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import Any

from . import kept_jobs
from .client import Lab
from .documents import Json
from .errors import LabConnectionError
from .opener import opener_for
from .responses import not_json

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
#: The service ends when its standard input does, which it has from this process: so it ends however this one ends. It
#: says which port it has: any free one, which nobody can take before it does.
_WITH_SERVICE = "data:text/javascript," + urllib.parse.quote("""
import { isMainThread } from 'node:worker_threads';
import { pathToFileURL } from 'node:url';
if (isMainThread) {
  process.stdin.on('end', () => process.kill(process.pid, 'SIGTERM')).resume().unref?.();
  import(pathToFileURL(process.argv[1]).href)
    .then(({ app }) => app && console.log('The port is ' + app.getHttpServer().address().port + '.'))
    .catch(() => {});
}
""")
_PORT_SAID = re.compile(r"^The port is (\d+)\.$", re.MULTILINE)
#: The layout of a connectome file, as src/engine/connectome/sections.ts defines it.
_MAGIC = b"NESCONN\n"
_HEADER_BYTES = 64
_ENTRY_BYTES = 32


@dataclasses.dataclass(eq=False)
class _Service:
    """The process of a service and all that has to be removed with it."""

    folder: Path
    process: subprocess.Popen[bytes] | None = None
    #: As of _Start.
    end_at_once: list[str] = dataclasses.field(default_factory=list)
    url: str | None = None
    owner: int = dataclasses.field(default_factory=os.getpid)

    def __post_init__(self) -> None:
        _SERVICES.add(self)

    def let_go(self) -> None:
        """Closes this process's end of the standard input, for which the service would wait."""
        if self.process is not None and self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()

    def end(self) -> None:
        # A fork has a copy of this object, and not the service.
        if os.getpid() != self.owner:
            return
        if self.process is not None:
            self._end_process(self.process)
        # It may have ended by itself.
        if self.url is not None:
            kept_jobs.forget(lambda job: job["url"] == self.url)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_process(self, process: subprocess.Popen[bytes]) -> None:
        self.let_go()
        try:
            process.wait(_ENDED_WITHIN_S)
        except subprocess.TimeoutExpired:
            if self.end_at_once:
                subprocess.run(self.end_at_once, capture_output=True, check=False)
            process.kill()
            process.wait()


_SERVICES: weakref.WeakSet[_Service] = weakref.WeakSet()


def _let_go_in_fork() -> None:
    for service in _SERVICES:
        service.let_go()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go_in_fork)


class LocalLab(Lab):
    """A service that belongs to this process.

    It ends with the process, with `close()`, with a `with` block, or when nothing refers to this object any more. In
    another process this is a `Lab` of its address.
    """

    def __init__(
        self,
        brain: str | os.PathLike[str] | None = None,
        *,
        checkout: str | os.PathLike[str] | None = None,
        image: str | None = None,
        variables: Mapping[str, object] | None = None,
    ) -> None:
        # Until it says which port it has.
        super().__init__("http://127.0.0.1:0")
        # The service chooses its number of workers, by cores and memory. In this role none is kept free of experiments.
        own = {"ROLE": "worker", "LOG_LEVEL": "error", "METRICS_PORT": 0, "SHUTDOWN_MS": 0}
        wanted = {**_WITHOUT_LIMITS, **own, **(variables or {})}
        #: Its jobs, because another service may have the folder of the checkout, and what it says.
        folder = Path(tempfile.mkdtemp(prefix="service-"))
        self._service = _Service(folder)
        # It must not hold this object, which could then never be given up.
        self._end = weakref.finalize(self, self._service.end)
        self._log = folder / "log"
        try:
            self._start(brain, checkout, image, wanted)
        except BaseException:
            self.close()
            raise

    def _start(
        self,
        brain: str | os.PathLike[str] | None,
        checkout: str | os.PathLike[str] | None,
        image: str | None,
        wanted: Mapping[str, object],
    ) -> None:
        if image is None:
            jobs = self._service.folder / "jobs"
            jobs.mkdir()
            start = _from_checkout(checkout, brain, {"JOBS_PATH": jobs, **wanted})
        else:
            start = _from_image(image, checkout, brain, wanted)
        self._service.end_at_once = start.end_at_once
        with open(self._log, "wb") as log:
            self._service.process = subprocess.Popen(
                start.command,
                cwd=start.folder,
                env=start.environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                # An interrupt of a notebook or terminal is for the cell or the command, not for the service.
                start_new_session=True,
            )
        name = self._brain_when_ready(start, self._service.process)
        print(
            f"Started a service of {name} ({start.brain}) at {self.url}, process {self._service.process.pid}, from "
            f"{start.origin}. It has no limits on requests, answers only this machine and ends with this Python.",
            file=sys.stderr,
        )

    def close(self) -> None:
        """Ends the service; its jobs are lost. May be called again."""
        self._end()

    def __reduce__(self) -> tuple[type[Lab], tuple[str], dict[str, Any]]:
        return Lab, (self.url,), {"timeout_s": self.timeout_s, "wait_at_most_s": self.wait_at_most_s}

    def __enter__(self) -> LocalLab:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _brain_when_ready(self, start: _Start, process: subprocess.Popen[bytes]) -> str:
        give_up_s = time.monotonic() + _READY_WITHIN_S
        while time.monotonic() < give_up_s:
            if process.poll() is not None:
                raise LabConnectionError(f"The service did not start: {self._said()}")
            port = self._port(start)
            if port is not None:
                self.url = self._service.url = f"http://127.0.0.1:{port}"
                ready = self._ready(start.brain)
                if ready is not None:
                    _check_brain(start.file, ready, self.url)
                    return str(ready["name"])
            time.sleep(0.05)
        raise LabConnectionError(f"The service was not ready within {_READY_WITHIN_S} s: {self._said()}")

    def _port(self, start: _Start) -> str | None:
        """The port of the service, when it has one."""
        if not start.asks_port:
            said = _PORT_SAID.search(self._log.read_text("utf-8", errors="replace"))
        else:
            asked = subprocess.run(start.asks_port, capture_output=True, text=True, check=False)
            said = re.search(r":(\d+)$", asked.stdout, re.MULTILINE)
        return None if said is None else said[1]

    def _ready(self, brain: str) -> Json | None:
        """The answer to whether it is ready; None if it is not yet."""
        url = f"{self.url}/readyz"
        try:
            with opener_for("127.0.0.1").open(url, timeout=_READY_WITHIN_S) as answer:
                headers, data, is_ready = answer.headers, answer.read(), True
        except urllib.error.HTTPError as refusal:
            with refusal:
                headers, data, is_ready = refusal.headers, refusal.read(), False
        except (OSError, HTTPException):
            return None
        try:
            body: Json = json.loads(data)
        except ValueError:
            raise LabConnectionError(not_json(url, headers, data)) from None
        # The service would try again for ever: elsewhere somebody may be about to replace the file.
        if body.get("code") == "MODEL_FAILED":
            raise LabConnectionError(f"The service cannot serve {brain}: {body['error']}")
        return body if is_ready else None

    def _said(self) -> str:
        return self._log.read_text("utf-8", errors="replace").strip()[-2000:] or "it said nothing."


def _check_brain(file: Path | None, ready: Json, url: str) -> None:
    """Raises LabConnectionError if the service has another brain than the file."""
    asked = None if file is None else _digest(file)
    if asked not in (None, ready.get("connectome_digest")):
        raise LabConnectionError(
            f"{url} serves another brain, {ready.get('name')} (digest {ready.get('connectome_digest')}), than {file} "
            f"(digest {asked}). Start it again; if the file was just replaced, that is why."
        )


def _digest(file: Path) -> str | None:
    """The digest by which a service names a connectome file; None if it is no such file."""
    with open(file, "rb") as opened:
        header = opened.read(_HEADER_BYTES)
        if not header.startswith(_MAGIC):
            return None
        sections = int.from_bytes(header[12:16], "little")
        table = opened.read(sections * _ENTRY_BYTES)
        entries = [table[at : at + _ENTRY_BYTES] for at in range(0, len(table), _ENTRY_BYTES)]
        entry = next(each for each in entries if each[:16].rstrip(b"\0") == b"metadata")
        opened.seek(int.from_bytes(entry[16:24], "little"))
        metadata = json.loads(opened.read(int.from_bytes(entry[24:32], "little")))
    # Of compiled tables that of the content, which is the same for every form of the tables.
    return metadata.get("contentDigest") or header[32:64].hex()


@dataclasses.dataclass(frozen=True)
class _Start:
    """How a service is started."""

    command: list[str]
    folder: Path | None
    environment: dict[str, str]
    #: In words: the brain that it serves, and the program or image that starts it.
    brain: str
    origin: str
    #: The connectome file; None if it is that of the image.
    file: Path | None
    #: A command that prints the address of its port; empty if the service says it.
    asks_port: list[str]
    #: A command that ends it if it does not end by itself; empty if ending its process is enough.
    end_at_once: list[str]


def _from_checkout(
    checkout: str | os.PathLike[str] | None,
    brain: str | os.PathLike[str] | None,
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
    own = {"HOST": "127.0.0.1", "PORT": 0, "CONNECTOME_FILE": file, **variables}
    handed_on = {name: value for name, value in os.environ.items() if name.upper().startswith(_HANDED_ON)}
    environment = {**handed_on, **{name: str(value) for name, value in own.items()}}
    command = [_node(), "--import", _WITH_SERVICE, _SERVICE]
    return _Start(command, root, environment, str(file), str(root), file, [], [])


def _from_image(
    image: str,
    checkout: str | os.PathLike[str] | None,
    brain: str | os.PathLike[str] | None,
    variables: Mapping[str, object],
) -> _Start:
    """A container without rights that cannot write, whose port is open only to this machine."""
    file = None if brain is None else _brain_file(_checkout(checkout), brain)
    engine = shutil.which("podman") or shutil.which("docker")
    if engine is None:
        raise FileNotFoundError("Lab.local(image=...) needs podman or docker, and neither is on the PATH.")
    own = {"HOST": "0.0.0.0", "PORT": _PORT_IN_CONTAINER, **variables}
    name = f"neural-experiment-{uuid.uuid4().hex}"
    options = ["--rm", "--interactive", "--pull", "never", "--name", name]
    options += ["--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges"]
    options += ["--publish", f"127.0.0.1::{_PORT_IN_CONTAINER}"]
    if file is not None:
        options += ["--volume", f"{file}:{_BRAIN_IN_CONTAINER}:ro"]
        own["CONNECTOME_FILE"] = _BRAIN_IN_CONTAINER
    for variable, value in own.items():
        options += ["--env", f"{variable}={value}"]
    service = ["node", "--import", _WITH_SERVICE, _SERVICE]
    command = [engine, "run", *options, image, *service]
    served = "its own brain" if file is None else str(file)
    asks_port = [engine, "port", name, str(_PORT_IN_CONTAINER)]
    return _Start(command, None, dict(os.environ), served, image, file, asks_port, [engine, "rm", "--force", name])


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
