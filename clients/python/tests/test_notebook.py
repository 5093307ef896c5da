"""The notebook of the examples runs from its first cell to its last."""

import json
import os
import sys

import pytest
from conftest import ROOT, require

from neural_experiment_client import Lab

NOTEBOOK = ROOT / "clients/python/examples/dose_curve.ipynb"


@pytest.fixture(scope="module")
def looming(small_brain):
    """A service of a network with the cell types of the notebook."""
    layers = [("LC4", 6), ("LPLC2", 6), ("DNp01", 2)]
    brain = small_brain(dict(layers), [("LC4", "DNp01"), ("LPLC2", "DNp01")], synapses=40)
    with Lab.local(brain, variables={"WORKERS": 1, "BACKEND": "cpu"}) as lab:
        yield lab


def test_the_notebook_runs(looming, monkeypatch):
    require("nbclient")
    require("ipykernel")
    require("pandas")
    require("matplotlib")
    import nbclient
    import nbformat

    assert all(cell.get("outputs", []) == [] for cell in json.loads(NOTEBOOK.read_text())["cells"])
    monkeypatch.setenv("NEURAL_EXPERIMENT_URL", looming.url)
    monkeypatch.setenv("PYTHONPATH", os.fspath(ROOT / "clients/python"))
    # The figures are those that a notebook shows.
    monkeypatch.delenv("MPLBACKEND")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={})
    client.execute()
    outputs = [[output for output in cell.outputs if "data" in output] for cell in notebook.cells if "outputs" in cell]
    kinds = [["image/png" in output.data for output in of_cell] for of_cell in outputs]
    # Each figure is shown once.
    assert kinds == [[False], [True], [False], [False], [True]], sys.version
    table = outputs[2][0].data["text/plain"]
    assert "rate_hz_ci95_low" in table
    assert [line.split()[0] for line in table.splitlines()[-4:]] == ["25", "50", "100", "150"]
