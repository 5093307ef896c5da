"""The services of the tests: `Lab.local` on a network of a few neurons, and a server that says what a test wants."""

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "clients/python"))

from neural_experiment_client import Lab  # noqa: E402

FIRST_ID = 720575940600000000
#: Of each type: neurons. A neuron excites all those of the types that follow it below; `lonely` is connected to none.
TYPES = {"sense": 4, "relay": 3, "motor": 2, "lonely": 1}


def require(module: str) -> None:
    """Skips a test without a module, or fails where REQUIRE names it, as test/support/requirements.ts does."""
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
def brain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A network of ten neurons in three layers, compiled from tables."""
    folder = tmp_path_factory.mktemp("brain")
    types = [name for name, count in TYPES.items() for _ in range(count)]
    layers = ["sense", "relay", "motor"]
    pairs = [
        (pre, post)
        for pre, source in enumerate(types)
        for post, target in enumerate(types)
        if (source, target) in zip(layers, layers[1:])
    ]
    neurons = [f"{FIRST_ID + at},{name},{'left' if at % 2 else 'right'}" for at, name in enumerate(types)]
    random.Random(1).shuffle(neurons)
    (folder / "neurons.csv").write_text("\n".join(["id,type,side", *neurons, ""]))
    edges = [f"{FIRST_ID + pre},{FIRST_ID + post},200" for pre, post in pairs]
    (folder / "edges.csv").write_text("\n".join(["pre,post,weight", *edges, ""]))
    file = folder / "small.connectome"
    if not (ROOT / "dist/cli/run.js").is_file():
        pytest.skip("the service is not built: npm run build")
    options = ["--edges", folder / "edges.csv", "--neurons", folder / "neurons.csv", "--name", "Small", "--out", file]
    subprocess.run(["node", "dist/cli/run.js", "model-compile", *options], cwd=ROOT, check=True, capture_output=True)
    return file


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
