"""The list of jobs that were begun on this machine."""

import datetime
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from conftest import ROOT

from neural_experiment_client import Lab, kept_jobs

NOW = datetime.datetime.now(datetime.timezone.utc)
ACCEPTED = {"jobID": "a-job", "created": "2026-01-01T00:00:00.000Z"}


@pytest.fixture
def without_home(monkeypatch):
    """A user without a home directory, as containers have."""

    def home():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", home)


@pytest.fixture
def own_list(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


@pytest.mark.usefixtures("without_home")
def test_a_job_of_a_user_without_a_home_runs(server):
    server.answer = lambda _: (202, ACCEPTED)
    with pytest.warns(UserWarning, match=r"Lab\.jobs\(\) will not list the job a-job: Could not determine home"):
        assert Lab(server.url).submit().name == "a-job"
    with pytest.warns(UserWarning, match="The list of jobs cannot be read"):
        assert len(Lab(server.url).jobs()) == 0
    with pytest.warns(UserWarning, match="The list of jobs cannot be changed"):
        kept_jobs.forget(lambda _: True)


@pytest.mark.usefixtures("own_list")
def test_a_list_that_cannot_be_replaced_is_a_warning(monkeypatch):
    kept_jobs.remember("http://a", "one", None, "")

    def refuse(*_):
        raise PermissionError("read-only")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.warns(UserWarning, match="read-only"):
        kept_jobs.forget(lambda _: True)


@pytest.mark.usefixtures("own_list")
def test_a_service_may_be_given_up_in_the_middle_of_a_change(monkeypatch):
    kept_jobs.remember("http://gone", "old", None, "")
    dumps = json.dumps

    def collecting_garbage(value):
        kept_jobs.forget(lambda job: job["url"] == "http://gone")
        return dumps(value)

    monkeypatch.setattr("json.dumps", collecting_garbage)
    change = threading.Thread(target=lambda: kept_jobs.remember("http://a", "new", None, ""), daemon=True)
    change.start()
    change.join(10)
    assert not change.is_alive()
    assert [kept_jobs.remembered(url) for url in ("http://gone", "http://a")] == [
        [],
        [{"url": "http://a", "name": "new", "title": None, "begun": ""}],
    ]


@pytest.mark.usefixtures("own_list")
def test_processes_that_write_at_once_lose_no_name():
    script = f"""
import sys
sys.path.insert(0, {str(ROOT / "clients/python")!r})
from neural_experiment_client import kept_jobs
own = sys.argv[1]
print("ready", flush=True)
sys.stdin.readline()
for number in range(400):
    kept_jobs.remember("http://a", f"{{own}}-{{number}}", None, "")
    if number % 4 == 3:
        kept_jobs.remember("http://gone", own, None, "")
        kept_jobs.forget(lambda job: job["url"] == "http://gone" and job["name"] == own)
"""
    command = [sys.executable, "-B", "-c", script]
    writers = [subprocess.Popen([*command, own], stdin=subprocess.PIPE, stdout=subprocess.PIPE) for own in ("a", "b")]
    # Both have started before either begins.
    for writer in writers:
        writer.stdout.readline()
    for writer in writers:
        writer.stdin.close()
    assert [writer.wait() for writer in writers] == [0, 0]
    names = [job["name"] for job in kept_jobs.remembered("http://a")]
    assert sorted(names) == sorted(f"{own}-{number}" for own in "ab" for number in range(400))
    assert kept_jobs.remembered("http://gone") == []


@pytest.mark.usefixtures("own_list")
def test_a_job_that_is_not_found_once_stays_in_the_list(server, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    lab = Lab(server.url)
    old = NOW - datetime.timedelta(days=31)
    for name, begun in (("old", old), ("new", NOW)):
        kept_jobs.remember(lab.url, name, "Title", begun.isoformat().replace("+00:00", "Z"))
    kept_jobs.remember("http://elsewhere", "new", None, "")
    server.answer = lambda _: (404, {"error": "There is nothing.", "code": "NOT_FOUND"})
    for _ in range(2):
        (row,) = lab.jobs()
        assert (row["name"], row["title"], row["status"], row["progress"]) == ("new", "Title", "unknown", None)
    info = {"status": "running", "progress": 5, "conditions_done": 1, "conditions": 20}
    server.answer = lambda _: (200, info)
    assert [(row["name"], row["status"]) for row in lab.jobs()] == [("new", "running")]
    server.answer = lambda _: (404, {"error": "There is nothing.", "code": "NOT_FOUND"})
    assert lab.jobs(forget=True) == []
    assert kept_jobs.remembered(lab.url) == []
    assert len(kept_jobs.remembered("http://elsewhere")) == 1
