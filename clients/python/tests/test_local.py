"""Services that `Lab.local` starts."""

import json
import os
import pickle
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from conftest import ROOT

from neural_experiment_client import Lab, LabConnectionError, kept_jobs, local


def answers(url):
    try:
        with urllib.request.urlopen(f"{url}/livez", timeout=5) as answer:
            return answer.status == 200
    except OSError:
        return False


def test_it_says_what_it_does_and_ends_with_its_block(brain, capsys):
    with Lab.local(brain, variables={"WORKERS": 1, "BACKEND": "cpu"}) as lab:
        said = capsys.readouterr().err
        assert said.startswith(f"Started a service of Small ({brain}) at {lab.url}, process ")
        assert answers(lab.url)
        # The limit of a service for all is 30 runs a minute.
        for _ in range(31):
            lab.dry_run(inputs={"a": "sense"}, reports={"r": "motor"})
    assert not answers(lab.url)
    lab.close()


def test_it_hands_on_no_configuration_but_the_variables(brain, monkeypatch):
    monkeypatch.setenv("EXPERIMENTS_AT_ONCE", "nothing that a service would start with")
    with Lab.local(brain, variables={"WORKERS": 1, "BACKEND": "cpu"}) as lab:
        assert answers(lab.url)


def test_the_service_chooses_its_number_of_workers_by_cores_and_memory(brain):
    module = (ROOT / "dist/service/config/default-workers.js").as_uri()
    script = f"console.log((await import('{module}')).DEFAULT_WORKERS.workers)"
    node = subprocess.run(
        ["node", "--input-type=module", "--eval", script], capture_output=True, text=True, check=True
    )
    with Lab.local(brain, variables={"BACKEND": "cpu"}) as lab:
        with urllib.request.urlopen(f"{lab.url}/readyz", timeout=5) as answer:
            assert json.load(answer)["workers"]["configured"] == int(node.stdout)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_it_ends_with_a_process_that_is_killed(brain):
    script = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "clients/python")!r})
from neural_experiment_client import Lab
lab = Lab.local({str(brain)!r}, variables={{"WORKERS": 1, "BACKEND": "cpu"}})
print(lab.url, flush=True)
os.kill(os.getpid(), 9)
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert run.returncode == -9
    give_up_s = time.monotonic() + 20
    while answers(run.stdout.strip()):
        assert time.monotonic() < give_up_s, "the service outlives the process that started it"
        time.sleep(0.1)


@pytest.mark.skipif(sys.platform == "win32", reason="fork of POSIX")
def test_a_fork_that_ends_leaves_the_service_alone(brain):
    script = f"""
import os, sys
sys.path.insert(0, {str(ROOT / "clients/python")!r})
from neural_experiment_client import Lab
lab = Lab.local({str(brain)!r}, variables={{"WORKERS": 1, "BACKEND": "cpu"}})
forked = os.fork()
if forked:
    os.waitpid(forked, 0)
    job = lab.submit(inputs={{"a": "sense"}}, reports={{"r": "motor"}})
    print(lab._service.folder, lab._service.folder.is_dir(), job)
else:
    lab.close()
"""
    run = subprocess.run([sys.executable, "-B", "-c", script], capture_output=True, text=True, check=False)
    folder, is_there, job = run.stdout.split(maxsplit=2)
    assert is_there == "True"
    assert job.startswith("<Job ")
    assert not Path(folder).exists()


@pytest.mark.skipif(sys.platform == "win32", reason="fork of POSIX")
def test_a_fork_that_lives_on_does_not_keep_the_service(answering):
    lab = answering(READY)
    forked = os.fork()
    if forked == 0:
        time.sleep(60)
        os._exit(0)
    try:
        begun_s = time.monotonic()
        lab.close()
        assert time.monotonic() - begun_s < 5
        assert lab._service.process.returncode != -signal.SIGKILL
    finally:
        os.kill(forked, signal.SIGKILL)
        os.waitpid(forked, 0)


def test_it_says_what_is_missing(tmp_path, monkeypatch, brain):
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(local, "__file__", str(tmp_path / "local.py"))
        elsewhere.chdir(tmp_path)
        with pytest.raises(FileNotFoundError, match="checkout= or NEURAL_EXPERIMENT_CHECKOUT, or work in it"):
            Lab.local(brain)
    with pytest.raises(FileNotFoundError, match=r"brain must be .*got 'malecns-9'.*--dataset malecns-9"):
        Lab.local("malecns-9")
    with pytest.raises(FileNotFoundError, match=f"^{tmp_path}, .* is no checkout of the service"):
        Lab.local(brain, checkout=tmp_path)
    broken = tmp_path / "broken.connectome"
    broken.write_bytes(b"nothing")
    with pytest.raises(LabConnectionError, match=r"cannot serve .*broken\.connectome"):
        Lab.local(broken)
    monkeypatch.setenv("PATH", os.fspath(tmp_path))
    with pytest.raises(FileNotFoundError, match="needs Node"):
        Lab.local(brain)


SERVICE = """
import { createServer } from 'node:http';
const { PORT, HOST, READY_TYPE, READY } = process.env;
const server = createServer((_, response) => {
  response.setHeader('content-type', READY_TYPE);
  response.end(READY.replace('PORT', PORT));
});
await new Promise((done) => server.listen(Number(PORT), HOST, done));
export const app = { getHttpServer: () => server };
"""
OF_HEADER, OF_CONTENT = "11" * 32, "22" * 32


def connectome_bytes(metadata):
    """The header, the table of sections and the first section of a connectome file."""
    text = json.dumps(metadata).encode()
    entry = b"metadata".ljust(16, b"\0") + (128).to_bytes(8, "little") + len(text).to_bytes(8, "little")
    sizes = (2).to_bytes(4, "little") + (1).to_bytes(4, "little") + (128 + len(text)).to_bytes(8, "little") + bytes(8)
    return (b"NESCONN\n" + sizes + bytes.fromhex(OF_HEADER) + entry).ljust(128, b"\0") + text


@pytest.fixture
def answering(tmp_path, monkeypatch):
    """Starts a program in place of the service, which answers everything in the same way."""
    checkout = tmp_path / "checkout"
    files = {"src/main.ts": "", "package.json": '{"type": "module"}', "dist/main.js": SERVICE}
    for file, text in files.items():
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        (checkout / file).write_text(text)

    def started(ready, media_type="application/json", metadata=None):
        brain = tmp_path / "brain.connectome"
        brain.write_bytes(connectome_bytes(metadata or {}))
        variables = {"READY": ready, "READY_TYPE": media_type}
        return Lab.local(brain, checkout=checkout, variables=variables)

    return started


def test_it_takes_the_port_that_the_service_got_and_asks_no_proxy(answering, capsys, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    ready = json.dumps({"name": "port PORT", "connectome_digest": OF_HEADER})
    with answering(ready) as first, answering(ready) as second:
        # Both were told to take any port.
        assert capsys.readouterr().err.count("Started a service of port 0 ") == 2
        assert first.url != second.url
        assert first._get("/readyz") == second._get("/readyz")


READY = json.dumps({"name": "Any", "connectome_digest": OF_HEADER})


def test_it_ends_when_nothing_refers_to_it_any_more(answering):
    lab = answering(READY)
    first, folder = lab.url, lab._service.folder
    lab = answering(READY)
    assert not answers(first)
    assert not folder.exists()
    assert answers(lab.url)


def test_the_jobs_of_a_service_that_died_are_forgotten(answering):
    lab = answering(READY)
    kept_jobs.remember(lab.url, "a-job", None, "")
    lab._service.process.kill()
    lab._service.process.wait()
    lab.close()
    assert kept_jobs.remembered(lab.url) == []


def test_in_another_process_it_is_a_lab_of_its_address(answering):
    with answering(READY) as lab:
        lab.timeout_s = 7
        other = pickle.loads(pickle.dumps(lab))
        assert (type(other), other.url, other.timeout_s) == (Lab, lab.url, 7)
        assert other._get("/readyz")["name"] == "Any"


@pytest.mark.parametrize(
    ("metadata", "digest", "is_same"),
    [
        ({}, OF_HEADER, True),
        ({"contentDigest": OF_CONTENT}, OF_CONTENT, True),
        ({"contentDigest": OF_CONTENT}, OF_HEADER, False),
        ({}, OF_CONTENT, False),
    ],
)
def test_it_refuses_another_brain_than_that_of_the_file(answering, metadata, digest, is_same):
    ready = json.dumps({"name": "Another", "connectome_digest": digest})
    if is_same:
        answering(ready, metadata=metadata).close()
        return
    message = rf"serves another brain, Another \(digest {digest}\), than .*brain\.connectome \(digest"
    with pytest.raises(LabConnectionError, match=message):
        answering(ready, metadata=metadata)


def test_it_says_what_came_in_place_of_json(answering):
    message = r"http://127\.0\.0\.1:\d+/readyz did not answer with JSON, but with text/html that begins '<p>Sign in'"
    with pytest.raises(LabConnectionError, match=message):
        answering("<p>Sign in", "text/html")


def test_an_image_serves_a_brain_by_name_or_says_how_to_get_it(tmp_path, monkeypatch, brain):
    checkout = tmp_path / "checkout"
    for file in ("src/main.ts", "package.json", "data/mine.connectome"):
        (checkout / file).parent.mkdir(parents=True, exist_ok=True)
        (checkout / file).write_bytes(b"")
    with pytest.raises(
        FileNotFoundError, match=r"there: mine\), got 'yours'.*`npm run up -- --dataset yours` makes it"
    ):
        Lab.local("yours", image="an-image", checkout=checkout)
    # A program in place of the engine of containers repeats its arguments.
    engine = tmp_path / "bin/podman"
    engine.parent.mkdir()
    engine.write_text('#!/bin/sh\necho "$@"\n')
    engine.chmod(0o755)
    monkeypatch.setenv("PATH", os.fspath(engine.parent), prepend=os.pathsep)
    for given, file in (("mine", checkout / "data/mine.connectome"), (brain, brain)):
        mounted = rf"--volume {file}:(\S+):ro .* CONNECTOME_FILE=\1 an-image "
        with pytest.raises(LabConnectionError, match=mounted):
            Lab.local(given, image="an-image", checkout=checkout)
