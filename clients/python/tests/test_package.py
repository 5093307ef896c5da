"""The package as pip installs it and as an editor sees it."""

import inspect
import json
import subprocess
import sys
import typing

import pytest
from conftest import ROOT, require

from neural_experiment_client import Document, Lab

CLIENT = ROOT / "clients/python"


def test_the_signature_has_the_members_of_the_description():
    described = json.loads((ROOT / "openapi-v2.json").read_text())["components"]["schemas"]["Experiment"]
    assert list(Document.__annotations__) == list(described["properties"])
    for method in (Lab.run, Lab.submit, Lab.dry_run, Lab.download):
        assert set(described["properties"]) <= set(inspect.signature(method).parameters), method


def test_names_of_members_can_be_resolved():
    assert typing.get_type_hints(Document)["trials"] is int


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A virtual environment with the package, installed without a network from a copy of the sources."""
    require("setuptools")
    require("wheel")
    folder = tmp_path_factory.mktemp("installed")
    # pip builds in the folder of the sources.
    copy = folder / "sources"
    subprocess.run(["cp", "-rL", CLIENT, copy], check=True)
    made = subprocess.run(
        [sys.executable, "-m", "venv", "--system-site-packages", folder / "venv"], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip("no virtual environment: python3-venv")
    python = folder / "venv/bin/python"
    # Without the extras that this Python has not: nothing may be downloaded.
    extras = [name for name, module in (("frames", "pandas"), ("plot", "matplotlib")) if _has(module)]
    what = f"{copy}[{','.join(extras)}]" if extras else str(copy)
    command = [python, "-m", "pip", "install", "--quiet", "--no-build-isolation", "--no-index", what]
    subprocess.run(command, check=True, cwd=folder)
    return python


def _has(module):
    return subprocess.run([sys.executable, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def test_pip_installs_it_without_a_network(installed, tmp_path):
    script = """
import importlib.metadata, json, pathlib, neural_experiment_client as client
metadata = importlib.metadata.metadata("fly-brain-experiments")
folder = pathlib.Path(client.__file__).parent
print(json.dumps({
    "installed": "site-packages" in str(folder), "typed": (folder / "py.typed").is_file(),
    "same": metadata["Version"] == client.__version__, "extras": sorted(metadata.get_all("Provides-Extra")),
    "readme": "Lab.local" in metadata.get_payload() or "Lab.local" in (metadata["Description"] or ""),
    "licence": any("LICENSE" in str(file) for file in importlib.metadata.files("fly-brain-experiments")),
}))
"""
    run = subprocess.run([installed, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == {
        "installed": True, "typed": True, "same": True, "extras": ["arrow", "frames", "plot", "test"],
        "readme": True, "licence": True,
    }  # fmt: skip


def test_its_own_types_agree(tmp_path):
    require("mypy")
    command = [sys.executable, "-m", "mypy", "--cache-dir", tmp_path]
    run = subprocess.run(command, cwd=CLIENT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout


def test_types_are_checked_where_it_is_installed(installed, tmp_path):
    require("mypy")
    (tmp_path / "script.py").write_text("""\
from neural_experiment_client import Lab, Progress, run_exp

def show(progress: Progress) -> None:
    print(progress.left_s)

with Lab.local("flywire-783") as lab:
    result = lab.run(inputs={"loom": "LC4"}, silence={"A", "B"}, trials=10, progress=show)
    result.plot().savefig("figure.pdf")
    reveal_type(lab.submit(**result.document).wait())
    run_exp("name", [1], "folder", neu_slnc=set())
    lab.run(trials="ten")
    lab.run(trails=10)
    lab.session().step("20")
""")
    options = ["--strict", "--python-executable", installed, "--cache-dir", tmp_path / "cache"]
    command = [sys.executable, "-m", "mypy", *options, "--enable-incomplete-feature=Unpack", "script.py"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "neural_experiment_client.results.Result" in run.stdout
    errors = [line.split(":")[:3] for line in run.stdout.splitlines() if ": error:" in line]
    assert errors == [["script.py", line, " error"] for line in ("11", "12", "13")], run.stdout
