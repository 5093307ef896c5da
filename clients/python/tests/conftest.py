"""The services of the tests: `Lab.local` on a network of a few neurons, and a server whose answers a test chooses."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients/python"))

from neural_experiment_client import Lab  # noqa: E402

FIRST_ID = 720575940600000000


def require(module: str) -> None:
    """Skips a test without a module, or fails if REQUIRE, a comma list of modules, names it."""
    if module in os.environ.get("REQUIRE", "").split(","):
        __import__(module)
    pytest.importorskip(module)


@pytest.fixture(scope="session", autouse=True)
def _own_state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps the jobs of the tests out of the list of whoever runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        patch.setenv("MPLBACKEND", "agg")
        yield


@pytest.fixture(scope="session")
def small_brain(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Compiles a network from tables: numbers of neurons of each type, and which types excite which, all to all."""

    def compiled(counts: dict[str, int], connected: list[tuple[str, str]], synapses: int = 200) -> Path:
        if not (ROOT / "dist/tools/cli/run.js").is_file():
            pytest.skip("the service is not built: npm run build")
        folder = tmp_path_factory.mktemp("brain")
        types = [name for name, count in counts.items() for _ in range(count)]
        neurons = [f"{FIRST_ID + at},{name},{'left' if at % 2 else 'right'}" for at, name in enumerate(types)]
        edges = [
            f"{FIRST_ID + pre},{FIRST_ID + post},{synapses}"
            for pre, source in enumerate(types)
            for post, target in enumerate(types)
            if (source, target) in connected
        ]
        (folder / "neurons.csv").write_text("\n".join(["id,type,side", *neurons, ""]))
        (folder / "edges.csv").write_text("\n".join(["pre,post,weight", *edges, ""]))
        file = folder / "small.connectome"
        tables = ["--edges", folder / "edges.csv", "--neurons", folder / "neurons.csv"]
        command = ["node", "dist/tools/cli/run.js", "model-compile", *tables, "--name", "Small", "--out", file]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        return file

    return compiled


@pytest.fixture(scope="session")
def brain(small_brain: Callable[..., Path]) -> Path:
    """A network of ten neurons: three layers, and one that is connected to none."""
    counts = {"sense": 4, "relay": 3, "motor": 2, "lonely": 1}
    return small_brain(counts, [("sense", "relay"), ("relay", "motor")])


@pytest.fixture(scope="session")
def lab(brain: Path) -> Iterator[Lab]:
    """A service of the network."""
    with Lab.local(brain, variables={"WORKERS": 1, "BACKEND": "cpu"}) as local:
        yield local


@pytest.fixture
def document() -> dict[str, object]:
    """A screen with one condition that is not run: `lonely` never spikes."""
    return json.loads(
        """{
            "inputs": {"a": {"node_set": "sense", "rate_hz": 100}},
            "reports": {"cells": {"node_set": "motor", "group_by": ["type", "side"]},
                        "first": {"type": "latency", "node_set": "motor"},
                        "raster": {"type": "spikes", "node_set": ["motor", "relay"]}},
            "sweep": [{"each": ["relay", "lonely"], "group_by": ["type"], "as": "silence"}],
            "duration_ms": 100, "trials": 5
        }"""
    )


class Request(NamedTuple):
    """A request that a server of a test got."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Server:
    """A server whose answers a test chooses: `answer` gives the status, the body and headers for a request."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.answer: Callable[[Request], tuple] = lambda _: (200, {})
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def answered(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                request = Request(self.command, self.path, dict(self.headers), body)
                outer.requests.append(request)
                status, content, *headers = outer.answer(request)
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                self.send_response(status)
                for name, value in (headers[0] if headers else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_DELETE = answered  # noqa: N815 -- http.server asks for these names

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server whose answers the test chooses."""
    served = Server()
    yield served
    served.close()
