"""The notebooks of the examples run from their first cell to their last."""

import json
import os

import pytest
from conftest import ROOT, require

from neural_experiment_client import Lab

EXAMPLES = ROOT / "clients/python/examples"


@pytest.fixture(scope="module")
def looming(small_brain):
    """A service of a network with the cell types of the notebooks."""
    layers = [("LC4", 6), ("LPLC2", 6), ("DNp01", 2)]
    brain = small_brain(dict(layers), [("LC4", "DNp01"), ("LPLC2", "DNp01")], synapses=40)
    with Lab.local(brain, variables={"WORKERS": 1, "BACKEND": "cpu"}) as lab:
        yield lab


@pytest.fixture
def outputs_of(looming, monkeypatch):
    """Runs a notebook; gives the output of each cell of code."""
    for module in ("nbclient", "ipykernel", "pandas", "matplotlib"):
        require(module)
    import nbclient
    import nbformat

    monkeypatch.setenv("NEURAL_EXPERIMENT_URL", looming.url)
    monkeypatch.setenv("PYTHONPATH", os.fspath(ROOT / "clients/python"))
    # The figures are those that a notebook shows.
    monkeypatch.delenv("MPLBACKEND")

    def outputs(name):
        file = EXAMPLES / name
        assert all(cell.get("outputs", []) == [] for cell in json.loads(file.read_text())["cells"])
        notebook = nbformat.read(file, as_version=4)
        nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={}).execute()
        return [
            [output.data for output in cell.outputs if "data" in output] for cell in notebook.cells if "outputs" in cell
        ]

    return outputs


def test_the_dose_curve_runs(outputs_of):
    outputs = outputs_of("dose_curve.ipynb")
    # Each figure is shown once.
    assert [["image/png" in data for data in of_cell] for of_cell in outputs] == [
        [False],
        [True],
        [False],
        [False],
        [True],
    ]
    table = outputs[2][0]["text/plain"]
    assert "rate_hz_ci95_low" in table
    assert [line.split()[0] for line in table.splitlines()[-4:]] == ["25", "50", "100", "150"]


def test_the_closed_loop_runs(outputs_of):
    outputs = outputs_of("closed_loop.ipynb")
    assert [["image/png" in data for data in of_cell] for of_cell in outputs] == [[False], [False], [True], [False]]
    in_loop, of_document = (int(line.split()[-1]) for line in outputs[3][0]["text/plain"].splitlines()[:2])
    assert in_loop == of_document > 0
