"""The services of the tests: `Lab.local` on a network of a few neurons, and a server whose answers a test chooses."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

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
