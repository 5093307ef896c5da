"""Sessions that the service loses, steps whose answers do not come, and names that are arguments of the client."""

import json

import pytest
from conftest import Request

from neural_experiment_client import Lab, LabConnectionError, LabError
from neural_experiment_client.sessions import Session

RELAYED = {
    "inputs": {
        "strong": {"node_set": "sense", "rate_hz": 0},
        "weak": {"node_set": "relay", "rate_hz": 0},
        "drive": {"node_set": "lonely", "rate_hz": 0},
    },
    "reports": {"cells": "@all"},
}


@pytest.fixture
def fly(lab):
    with lab.session(**RELAYED) as session:
        session.step(20, strong=50)
        yield session


def lose(session):
    """Ends a session behind the back of the object."""
    session._end(session._path)


CHANGES = {
    "a rate of its first step": (lambda fly: [fly.branch(strong=150)], {"weak": 10}),
    "a rate of a second branch": (lambda fly: [fly.branch(strong=150), {"weak": 10}], {}),
    "a silence and a rate": (lambda fly: [fly.branch(silence="relay"), {"strong": 150}], {"weak": 100}),
    "another silence": (lambda fly: [fly.branch(silence="sense"), {"silence": "relay"}], {"strong": 90}),
    "nobody silenced any more": (lambda fly: [fly.branch(silence="sense", strong=150), {"silence": []}], {"weak": 9}),
}


@pytest.mark.parametrize(("made", "of_step"), CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("lost_before", ["the branch", "the first step", "the second step"])
def test_a_branch_that_the_service_lost_is_the_same_brain(fly, made, of_step, lost_before):
    def spikes(loses):
        branch, *further = made(fly)
        for changes in further:
            if loses and lost_before == "the branch":
                lose(branch)
            first, branch = branch, branch.branch(**changes)
            first.end()
        if loses and lost_before == "the first step":
            lose(branch)
        counts = [branch.step(50, **of_step)["spikes"]]
        if loses and lost_before == "the second step":
            lose(branch)
        counts.append(branch.step(200)["spikes"])
        branch.end()
        return counts

    kept = spikes(False)
    assert min(kept) > 0
    assert spikes(True) == kept


def test_the_document_of_a_branch_that_the_service_lost_has_its_changes(fly):
    kept, lost = (fly.branch(strong=150, silence="lonely") for _ in range(2))
    lose(lost)
    assert lost.document == kept.document
    assert lost.step(100)["spikes"] == kept.step(100)["spikes"] > 0
    kept.end()
    lost.end()


def test_an_input_may_have_the_name_of_an_argument(lab):
    names = ["drive", "silence", "duration_ms", "rates_hz", "self"]
    inputs = {name: {"node_set": "sense", "rate_hz": 0} for name in names}
    with lab.session(inputs=inputs, reports={"cells": "sense"}) as fly:
        for name in names:
            assert fly.step(50, rates_hz={name: 0})["spikes"] == 0
            branch = fly.branch(rates_hz={name: 400})
            assert branch.step(50)["spikes"] == fly.step(50, rates_hz={name: 400})["spikes"] > 0
            branch.end()
            fly.step(200, rates_hz={name: 0})


@pytest.mark.parametrize(
    ("given", "raised", "message"),
    [
        ({"drive": 400}, ValueError, r'drive must be True or False, got 400\. .*rates_hz=\{"drive": 400\}'),
        ({"silence": 400}, ValueError, r'silence must name neurons, got 400\. .*rates_hz=\{"silence": 400\}.* \[400\]'),
        ({"silence": 0.5}, ValueError, r'silence must name neurons, got 0\.5\. .*rates_hz=\{"silence": 0\.5\}'),
        ({"rates_hz": 80}, ValueError, r'rates_hz must be a dict .*rates_hz=\{"rates_hz": 80\}'),
        ({"rates_hz": {"a": 1}, "a": 2}, TypeError, "may be given once, in rates_hz or by its name; twice: a"),
    ],
)
def test_a_rate_is_not_mistaken_for_an_argument(server, given, raised, message):
    session = Session(Lab(server.url), {})
    with pytest.raises(raised, match=message):
        session.step(20, **given)
    if "drive" not in given:
        with pytest.raises(raised, match=message):
            session.branch(**given)
    assert server.requests == []


class Service:
    """A session of a service as far as steps go: it computes each once and repeats the answer to the last one."""

    def __init__(self, server):
        self.t_ms = 0
        self.last = None
        #: Whether an interrupt comes in place of answers: "computed" or "never arrived".
        self.loses = None
        #: A step that is computed only after the next request.
        self.computing = None
        self.steps = []
        server.answer = self.answer

    def answer(self, request: Request):
        session = {"session": "s", "t_ms": self.t_ms}
        if request.path == "/api/v2/sessions":
            return 201, session
        if request.path == "/api/v2/sessions/s":
            return 200, session
        step = json.loads(request.body)
        if step == self.last:
            return 200, {"t_ms": self.t_ms, "spikes": len(self.steps)}
        if self.computing or step["t_ms"] != self.t_ms:
            if self.computing:
                self.compute(self.computing)
            self.computing = None
            return 409, {"error": "Another step.", "code": "STEP_OUT_OF_ORDER"}
        self.compute(step)
        return 200, {"t_ms": self.t_ms, "spikes": len(self.steps)}

    def compute(self, step):
        self.steps.append(step)
        self.last = step
        self.t_ms += step["duration_ms"]


@pytest.fixture
def interrupted(server, monkeypatch):
    """A session, and a service whose answers an interrupt replaces."""
    service = Service(server)
    session = Lab(server.url).session()
    send = session._send

    def sent(action, body, query, **more):
        if service.loses == "computed":
            service.compute(body)
        if service.loses:
            raise KeyboardInterrupt
        return send(action, body, query, **more)

    monkeypatch.setattr(session, "_send", sent)
    return service, session


@pytest.mark.parametrize("lost", ["computed", "never arrived"])
def test_a_session_goes_on_after_an_interrupted_step(interrupted, lost):
    service, session = interrupted
    session.step(10, a=1)
    service.loses = lost
    with pytest.raises(KeyboardInterrupt):
        session.step(20, a=2)
    service.loses = None
    session.step(30, a=3)
    taken = [10, 20, 30] if lost == "computed" else [10, 30]
    assert [step["duration_ms"] for step in service.steps] == taken
    assert session.t_ms == service.t_ms == sum(taken)
    # All of them are repeated if the service loses the session.
    assert session._steps == service.steps


def test_a_step_whose_answer_is_lost_counts_if_its_repetition_is_refused(interrupted, monkeypatch):
    service, session = interrupted
    failures = [LabConnectionError("lost"), LabError("spent", status=429, code="RATE_LIMITED")]
    send = session._send

    def sent(action, body, *query, **more):
        if not failures:
            return send(action, body, *query, **more)
        if len(failures) == 2:
            service.compute(body)
        raise failures.pop(0)

    monkeypatch.setattr(session, "_send", sent)
    with pytest.raises(LabError, match="spent"):
        session.step(20, a=1)
    session.step(30, a=2)
    assert [step["duration_ms"] for step in service.steps] == [20, 30]
    assert session._steps == service.steps


def test_a_step_that_cannot_be_written_is_forgotten(interrupted):
    _, session = interrupted
    with pytest.raises(ValueError, match="/rates_hz/a is nan"):
        session.step(20, a=float("nan"))
    assert session._pending == []


def test_of_several_interrupted_steps_the_one_that_was_computed_is_taken(interrupted):
    service, session = interrupted
    for rate_hz, service.loses in ((1, "never arrived"), (2, "computed")):
        with pytest.raises(KeyboardInterrupt):
            session.step(20, a=rate_hz)
    service.loses = None
    session.step(20, a=3)
    assert [step["rates_hz"]["a"] for step in service.steps] == [2, 3]
    assert session._steps == service.steps


def test_a_step_waits_for_an_interrupted_one_that_is_being_computed(interrupted):
    service, session = interrupted
    service.loses = "never arrived"
    with pytest.raises(KeyboardInterrupt):
        session.step(20, a=1)
    service.loses, service.computing = None, session._pending[0][0]
    session.step(30, a=2)
    assert [step["duration_ms"] for step in service.steps] == [20, 30]
    assert session._steps == service.steps


def test_a_session_that_somebody_else_stepped_says_so(interrupted):
    service, session = interrupted
    service.loses = "never arrived"
    with pytest.raises(KeyboardInterrupt):
        session.step(20)
    service.loses = None
    service.compute({"t_ms": 0, "duration_ms": 7})
    with pytest.raises(LabError, match=r"The session is at 7 ms, and not at 0 ms .*lab\.session"):
        session.step(20)


def test_an_interrupted_step_of_a_service_counts_once(lab):
    with lab.session(**RELAYED) as fly, lab.session(**RELAYED) as other:
        # As if the interrupt came between the answer and its reader.
        fly._pending = [({"t_ms": 0, "duration_ms": 100, "rates_hz": {"strong": 150}}, {"drive": None})]
        fly._send("/steps", *fly._pending[0])
        spikes = fly.step(100)["spikes"]
        other.step(100, strong=150)
        assert (fly.t_ms, spikes) == (200, other.step(100)["spikes"])


def test_a_session_that_was_ended_here_is_not_opened_again(server):
    Service(server)
    with Lab(server.url).session() as session:
        session.step(20)
    asked = len(server.requests)
    for late in (lambda: session.step(20), lambda: session.document, session.branch):
        with pytest.raises(LabError) as failure:
            late()
        assert failure.value.code == "SESSION_ENDED"
    assert len(server.requests) == asked


def test_a_gateway_that_does_not_reach_the_service_is_asked_again(server):
    service = Service(server)
    session = Lab(server.url).session()
    faults = [
        (502, b"<html>Bad gateway</html>"),
        (503, b"Unavailable"),
        (504, b""),
        (504, b'{"error": "timeout", "code": 504}'),
        (503, b'{"error": {"code": 503}}'),
    ]

    def answer(request):
        return faults.pop() if faults else service.answer(request)

    server.answer = answer
    assert session.step(20)["t_ms"] == 20
    assert faults == []
