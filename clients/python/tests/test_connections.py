"""What lies between the client and the service: gateways, proxies, redirects, passwords, full queues."""

import base64
import contextlib
import json
import logging
import pickle
import socket
import threading
from collections.abc import Iterator

import pytest

from neural_experiment_client import Lab, LabConnectionError, LabError, kept_jobs
from neural_experiment_client.answers import drawing_of

HEAD = {"id": "1", "experiment": {"trials": 1}}
ANSWER = b"\n".join(json.dumps(line).encode() for line in (HEAD, {"cost": {}}))
RUNNING = {"status": "running", "progress": 5, "conditions_done": 1, "conditions": 20}
DONE = {**RUNNING, "status": "successful"}
ACCEPTED = {"jobID": "a-job", "created": "2026-01-01T00:00:00.000Z"}


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch):
    """Pauses that a test asks for take no time, and are listed."""
    pauses = []
    monkeypatch.setattr("time.sleep", pauses.append)
    return pauses


@pytest.mark.parametrize(
    "fault",
    [
        (502, b"<html>Bad gateway</html>"),
        (503, b"Unavailable"),
        (504, b""),
        (504, b'{"error": "timeout", "code": 504}'),
        (503, b'{"error": {"code": 503}}'),
    ],
)
def test_a_job_is_waited_for_as_long_as_its_caller_waits(server, fault):
    answers = [fault] * 5 + [(200, RUNNING), fault, (200, DONE), fault, (200, ANSWER)]
    server.answer = lambda _: answers.pop(0)
    lab = Lab(server.url, wait_at_most_s=2)
    assert lab.job("job").wait(progress=False).id == "1"
    assert answers == []


def test_only_what_is_safe_to_repeat_is_repeated(server):
    answers = [(502, b""), (202, ACCEPTED)]
    server.answer = lambda _: answers.pop(0)
    assert Lab(server.url).submit().name == "a-job"
    assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1
    server.answer = lambda _: (502, b"")
    with pytest.raises(LabError, match="HTTP 502"):
        Lab(server.url).run()
    assert len(server.requests) == 3
    # An error of the service itself has a code.
    server.answer = lambda _: (503, {"error": "The worker ended.", "code": "WORKER_LOST"})
    with pytest.raises(LabError, match="The worker ended"):
        Lab(server.url).job("job").wait(progress=False)
    assert len(server.requests) == 4


def test_an_interrupted_submission_is_repeated_by_an_equal_one(server):
    def interrupted(_):
        raise KeyboardInterrupt

    def submitted(answer, **document):
        server.answer = lambda _: (202, ACCEPTED)
        with pytest.MonkeyPatch.context() as patch:
            if answer is not None:
                patch.setattr("neural_experiment_client.client.whole", answer)
            Lab(server.url).submit(**document)
        return server.requests[-1].headers["Idempotency-Key"]

    with pytest.raises(KeyboardInterrupt):
        submitted(interrupted, name="One", trials=2)
    lost = server.requests[-1].headers["Idempotency-Key"]
    assert submitted(None, name="Other", trials=2) != lost
    assert submitted(None, name="One", trials=2) == lost
    # Its answer has come.
    assert submitted(None, name="One", trials=2) != lost


def test_a_document_that_is_too_large_is_not_sent(server):
    ids = [720575940600000000 + number for number in range(60_000)]
    with pytest.raises(LabError, match=r"^The document has 1,[\d,]+ bytes; at most 1,048,576 are allowed") as caught:
        Lab(server.url).run(silence=ids)
    assert (caught.value.status, caught.value.code) == (413, "BODY_TOO_LARGE")
    assert server.requests == []


PASSWORD = "a/secret"
ADDRESS = "http://me%40home:a%2Fsecret@127.0.0.1:{port}/brain"


def test_a_password_is_sent_and_never_shown(server, caplog, capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    caplog.set_level(logging.DEBUG)
    later = (503, {"error": "Later.", "code": "DRAINING"}, {"Retry-After": "1"})
    answers = [later, (202, ACCEPTED), (200, DONE), (200, ANSWER)]
    server.answer = lambda _: answers.pop(0)
    lab = Lab(ADDRESS.format(port=server.port))
    job = lab.submit()
    job.wait()
    expected = base64.b64encode(f"me@home:{PASSWORD}".encode()).decode()
    assert {request.headers["Authorization"] for request in server.requests} == {f"Basic {expected}"}
    assert server.requests[0].path == "/brain/api/v2/experiments"
    assert lab.url == f"http://127.0.0.1:{server.port}/brain"
    shown = [repr(lab), repr(job), caplog.text, *capsys.readouterr(), kept_jobs._path().read_text()]
    for status, body, *headers in ((401, b""), (302, b"", {"Location": "http://u:a%2Fsecret@elsewhere.example/"})):
        server.answer = lambda _, answer=(status, body, *headers): answer
        with pytest.raises(LabError) as refused:
            lab.node_sets()
        shown.append(str(refused.value))
    with pytest.raises(LabConnectionError) as unreachable:
        Lab(ADDRESS.format(port=1), wait_at_most_s=0).node_sets()
    shown.append(str(unreachable.value))
    for wrong in ("ftp://me:a/secret@host", "http//me:a%2Fsecret@host", "http://me:12/secret@host"):
        with pytest.raises(ValueError, match="^url must") as invalid:
            Lab(wrong)
        shown.append(str(invalid.value))
    for text in shown:
        assert "secret" not in text
        assert "me%40home" not in text


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_method_is_followed_on_the_same_host(server, status):
    def answer(request):
        if request.path.startswith("/old"):
            return status, b"", {"Location": request.path.replace("/old", "/new")}
        return 200, ANSWER

    server.answer = answer
    lab = Lab(f"http://me:secret@127.0.0.1:{server.port}/old")
    assert lab.run(name="Name").id == "1"
    before, after = server.requests
    assert (before.method, before.body) == (after.method, after.body) == ("POST", b'{"name": "Name"}')
    assert after.path.startswith("/new/api/v2/experiments?")
    assert after.headers["Authorization"] == before.headers["Authorization"]
    server.answer = lambda _: (status, b"", {"Location": f"http://localhost:{server.port}/"})
    with pytest.raises(LabError, match=rf"^HTTP {status} .* leads to http://localhost:{server.port}/\. Give Lab"):
        lab.run()


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_would_lose_the_document_says_where_it_leads(server, status):
    target = "https://127.0.0.1/api/v2/experiments"
    server.answer = lambda _: (status, b"", {"Location": target})
    with pytest.raises(LabError, match=rf"^HTTP {status} .* leads to {target}\. Give Lab the address"):
        Lab(server.url).run()
    assert [request.method for request in server.requests] == ["POST"]


@pytest.mark.parametrize(
    ("old", "new", "is_followed"),
    [
        ("http://a/x", "https://a/x", True),
        ("https://a/x", "http://a/x", False),
        ("https://a/x", "https://b/x", False),
        ("https://a/x", "https://a:444/x", False),
        ("https://a/x", "https://me@a/x", False),
    ],
)
def test_only_the_same_host_gets_the_document(old, new, is_followed):
    from neural_experiment_client.opener import _is_same_host

    assert _is_same_host(old, new) == is_followed


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_loopback_host_is_asked_without_a_proxy(server, monkeypatch, host):
    from neural_experiment_client.opener import opener_for

    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    opener_for.cache_clear()
    server.answer = lambda _: (200, {"node_sets": []})
    assert len(Lab(f"http://{host}:{server.port}").node_sets()) == 0
    with pytest.raises(LabConnectionError, match="refused"):
        Lab("http://service.example").node_sets()
    opener_for.cache_clear()


def test_an_answer_that_is_no_json_says_what_came(server):
    page = b"<!DOCTYPE html><title>Sign in</title>" + b"x" * 100
    server.answer = lambda _: (200, page, {"Content-Type": "text/html"})
    with pytest.raises(LabConnectionError) as caught:
        Lab(server.url).node_sets()
    start = repr(page[:60].decode())
    assert f"{server.url}/api/v2/node-sets did not answer with JSON, but with text/html that begins {start}." in str(
        caught.value
    )


class Places:
    """A service that computes so many experiments at once."""

    def __init__(self, server, places):
        self.lock = threading.Lock()
        self.places = places
        self.under_way = 0
        self.most = 0
        self.refused = 0
        server.answer = self.answer

    def answer(self, _):
        with self.lock:
            if self.under_way == self.places:
                self.refused += 1
                return 503, {"error": "The queue is full.", "code": "QUEUE_FULL"}, {"Retry-After": "5"}
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        threading.Event().wait(0.02)
        with self.lock:
            self.under_way -= 1
        return 200, ANSWER


def test_many_threads_share_the_places_of_a_service(server, no_pauses):
    places = Places(server, 4)
    lab = Lab(server.url, wait_at_most_s=12)
    failures = []

    def run_three():
        try:
            for _ in range(3):
                lab.run()
        except LabError as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run_three) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert places.most == 4
    assert len(server.requests) == 48 + places.refused
    assert (lab._gate._under_way, lab._gate._waiting) == (0, set())


def test_an_answer_that_is_not_read_to_its_end_gives_its_place_back(server, tmp_path, monkeypatch):
    progress = {"progress": {"conditions_done": 0, "conditions": 1, "trials_done": 0, "trials": 1}}
    lines = [HEAD, progress, {"index": 0}, {"cost": {}}]
    server.answer = lambda _: (200, b"\n".join(json.dumps(line).encode() for line in lines))
    lab = Lab(server.url)

    def fail(*given, **_):
        if isinstance(given[0], Iterator):
            next(given[0])
        raise OSError("No space left on device")

    monkeypatch.setattr("neural_experiment_client.answers._save_lines", fail)
    failures = []
    for ask in (lambda: lab.run(progress=fail), lambda: lab.download(tmp_path / "a.ndjson")):
        with pytest.raises(OSError, match="No space") as failure:
            ask()
        # What holds the failure holds the frames that were reading.
        failures.append(failure)
        assert lab._gate._under_way == 0


def test_a_request_alone_waits_as_the_service_asks_with_jitter(server, no_pauses):
    full = (503, {"error": "The queue is full.", "code": "QUEUE_FULL"}, {"Retry-After": "5"})
    answers = [full, full, (200, ANSWER)]
    server.answer = lambda _: answers.pop(0)
    assert Lab(server.url).run().id == "1"
    assert len(no_pauses) == 2
    assert all(5 <= pause <= 6.25 for pause in no_pauses)
    assert no_pauses[0] != no_pauses[1]


def test_a_service_that_asks_for_no_pause_is_asked_at_most_once_a_second(server, no_pauses):
    at_once = (503, {"error": "The queue is full.", "code": "QUEUE_FULL"}, {"Retry-After": "0"})
    server.answer = lambda _: at_once
    with pytest.raises(LabError, match="The queue is full"):
        Lab(server.url, wait_at_most_s=5).run()
    assert 1 < len(no_pauses) <= 5
    assert all(pause >= 1 for pause in no_pauses)


def until(is_so):
    while not is_so():
        threading.Event().wait(0.005)


def test_requests_enter_in_their_order():
    from neural_experiment_client.gate import Gate

    gate = Gate()
    entered = []

    def enter(name):
        with gate.place():
            entered.append(name)

    threads = []
    with gate.place() as first, gate.place() as second:
        # The first is refused while the second is under way: its turn comes before those that arrive later.
        waiting = threading.Thread(target=lambda: entered.append(("first", first(60))))
        waiting.start()
        until(lambda: 0 in gate._waiting)
        for name in range(5):
            threads.append(threading.Thread(target=enter, args=[name]))
            threads[-1].start()
            until(lambda number=name + 2: number in gate._waiting)
        assert entered == []
        assert second(60) is False
        entered.append("second")
        with gate._changed:
            gate._places += 1
            gate._changed.notify_all()
        waiting.join()
    for thread in threads:
        thread.join()
    assert entered == ["second", ("first", True), 0, 1, 2, 3, 4]


def test_the_oldest_request_tries_again_although_no_other_has_left():
    from neural_experiment_client.gate import Gate

    gate = Gate()
    with gate.place(), gate.place() as second:
        # Another client may have left the service.
        assert second(0.01) is True
        with gate.place():
            assert gate._under_way == 3


def test_a_lab_can_be_sent_to_another_process(server):
    server.answer = lambda _: (200, ANSWER)
    lab = pickle.loads(pickle.dumps(Lab(f"http://me:secret@127.0.0.1:{server.port}")))
    assert lab.run().id == "1"
    assert server.requests[0].headers["Authorization"]


class SlowServer:
    """Sends an answer in pieces, each after a pause in seconds."""

    def __init__(self, pieces):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._pieces = pieces
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with client:
                    client.recv(2**16)
                    for pause_s, piece in self._pieces:
                        threading.Event().wait(pause_s)
                        client.sendall(piece)

    def close(self):
        self._listener.close()


@pytest.fixture
def slow_server():
    opened = []

    def served(*pieces):
        opened.append(SlowServer(pieces))
        return Lab(opened[-1].url, timeout_s=1)

    yield served
    for each in opened:
        each.close()


BEGINNING = b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"


@pytest.mark.parametrize("of", [lambda lab: lab, lambda lab: lab.job("a-job")], ids=["experiment", "job"])
def test_the_time_limit_does_not_hold_until_a_table_begins(slow_server, tmp_path, of):
    file = tmp_path / "table.csv"
    lab = slow_server((2, BEGINNING), (0.1, b"some"), (0.1, b"more"))
    assert of(lab).download(file).read_bytes() == b"somemore"
    # Afterwards it does.
    lab = slow_server((2, BEGINNING), (0, b"some"), (10, b"more"))
    with pytest.raises(LabConnectionError, match=r"began, but then no byte came within 1 s \(timeout_s of Lab\)"):
        of(lab).download(file)


def test_the_time_limit_does_not_hold_until_a_figure_begins(slow_server):
    svg = b"<svg>Experiment: 1</svg>"
    lab = slow_server((2, b"HTTP/1.1 200 OK\r\nContent-Length: 24\r\n\r\n" + svg))
    assert drawing_of(lab._asking({}), {"id": "1"}) == svg.decode()


def test_the_time_limit_holds_for_lines_and_names_itself(slow_server):
    lab = slow_server((10, BEGINNING))
    for lines in (lab.run, lab.job("a-job").results):
        with pytest.raises(LabConnectionError, match=r"did not answer within 1 s \(timeout_s of Lab\)"):
            lines()
    lab = slow_server((0, BEGINNING + b"{"), (10, b"}"))
    with pytest.raises(LabConnectionError, match=r"began, but then no byte came within 1 s \(timeout_s of Lab\)"):
        lab.run()
