"""Experiments that were interrupted and go on from a file."""

import io
import json
from pathlib import Path

import pytest

from neural_experiment_client import Lab, LabConnectionError, LabError, answers
from neural_experiment_client.screens import Screen


def lines_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def without_cost(result):
    """The parts of an answer that do not tell whether it went on."""
    whole = {name: value for name, value in result.json.items() if name not in ("cost", "resumed_at")}
    return {**whole, "warnings": [each for each in result.warnings if each["code"] != "RESUMED"]}


@pytest.fixture
def screen(document):
    """Two rates of a screen: conditions 1 and 4 of six need no run."""
    rates = {"set": "inputs.a.rate_hz", "values": [50, 100]}
    return {**document, "sweep": [rates, *document["sweep"]]}


@pytest.fixture
def whole(lab, screen, tmp_path):
    """The result of an uninterrupted run, and its file."""
    path = tmp_path / "whole.ndjson"
    result = lab.run(**screen, resume=path)
    assert result.resumed_at is None
    return result, path


def test_the_file_of_a_whole_run_is_that_of_a_download(lab, screen, whole, tmp_path):
    result, path = whole
    assert [each["index"] for each in result.json["conditions"]] == [0, 2, 3, 5]
    assert json.dumps(result.json) == json.dumps(lab.run(**screen).json)
    assert path.read_bytes() == lab.download(tmp_path / "download.ndjson", **screen).read_bytes()


@pytest.mark.parametrize("kept", [1, 2, 3, 4, 5])
def test_it_computes_what_the_file_lacks_and_gives_the_whole_result(lab, screen, whole, tmp_path, kept):
    result, path = whole
    part = tmp_path / "part.ndjson"
    lines = path.read_bytes().splitlines(keepends=True)
    # The head, some conditions, and a line that was cut off.
    part.write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
    resumed = lab.run(**screen, resume=part)
    assert json.dumps(without_cost(resumed)) == json.dumps(without_cost(result))
    # The totals come only with a condition, so the last one is computed again if all are there.
    starts = {1: None, 2: 1, 3: 3, 4: 4, 5: 5}
    assert resumed.resumed_at == starts[kept]
    codes = [each["code"] for each in resumed.warnings]
    assert ("RESUMED" in codes) == (starts[kept] is not None)
    # Condition 2 needs its baseline, condition 0, again.
    if kept > 2:
        assert resumed.json["cost"]["brain_seconds"] < result.json["cost"]["brain_seconds"]
    assert [line.get("index") for line in lines_of(part)] == [line.get("index") for line in lines_of(path)]
    # Nothing is computed for a file that is whole.
    assert lab.run(**screen, resume=part).json == resumed.json


def test_a_condition_is_in_the_file_as_soon_as_it_is_done(lab, screen, tmp_path, monkeypatch):
    path = tmp_path / "screen.ndjson"
    doses = {**screen, "reports": {"cells": "motor"}, "sweep": screen["sweep"][0]}
    read = []

    def interrupted(response):
        read.append(response)
        if len(read) > 2:
            raise KeyboardInterrupt
        return response.readline()

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(answers, "read_line", interrupted)
        lab.run(**doses, resume=path)
    assert [line.get("index") for line in lines_of(path)] == [None, 0]
    assert lab.run(**doses, resume=path).resumed_at == 1


def test_conditions_that_responders_lack_are_not_computed_again(lab, screen, whole, tmp_path):
    responders = {"each": {"responders_of": "baseline", "top": 5}, "group_by": ["type"], "as": "silence"}
    asked = {**screen, "sweep": [screen["sweep"][0], responders]}
    path = tmp_path / "responders.ndjson"
    result = lab.run(**asked, resume=path)
    # Three of five groups respond.
    assert [each["index"] for each in result.json["conditions"]] == [0, 1, 2, 3, 6, 7, 8, 9]
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:7]))
    resumed = lab.run(**asked, resume=path)
    assert (resumed.resumed_at, without_cost(resumed)) == (8, without_cost(result))


def test_a_screen_is_corrected_over_all_conditions(lab, screen, tmp_path):
    controls = {"silence": "matched", "count": 3, "match": []}
    asked = {**screen, "controls": controls, "on_missing": "skip"}
    path = tmp_path / "controls.ndjson"
    result = lab.run(**asked, resume=path)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:3]))
    assert lab.run(**asked, resume=path).json["screen"] == result.json["screen"]


def test_a_screen_worked_out_by_hand():
    def condition(index, *shares):
        controls = [{"p": p, "values": [0.0] * 99} for p in shares]
        groups = [{"neurons": 1, "type": str(at), "control": control} for at, control in enumerate(controls)]
        return {"index": index, "parameters": {"silence": None}, "reports": {"cells": groups, "raster": {"t_ms": []}}}

    conditions = [condition(0, 0.5, 0.03), condition(1, 0.01, None), condition(2, 0.02)]
    collected = Screen()
    for each in conditions:
        collected.add(each)
    screen = collected.result()
    assert screen["tests"] == 4
    # 4 p / rank is 0.04, 0.04, 0.04 and 0.5.
    assert [(each["index"], each["group"], each["p"], each["q"]) for each in screen["found"]] == [
        (1, {"type": "0"}, 0.01, 0.04),
        (2, {"type": "0"}, 0.02, 0.04),
        (0, {"type": "1"}, 0.03, 0.04),
    ]

    # 3 of 3 tests with p = 1/20 have q = 1/20.
    equal = Screen()
    few = {"p": 1 / 20, "values": [0.0] * 30, "compared": 19}
    for index in range(3):
        equal.add({"index": index, "parameters": {}, "reports": {"cells": [{"neurons": 1, "control": few}]}})
    assert [each["q"] for each in equal.result()["found"]] == [0.05, 0.05, 0.05]

    # The pages of an answer give the same, with each condition once: the first one is divided.
    head = {"id": "a", "experiment": {"trials": 1, "controls": {"silence": "matched", "count": 3}}}
    totals = {"unchanged": [], "cost": {"brain_seconds": 1.0}, "warnings": [], "cite": []}
    pages = {
        None: [head, conditions[0], {**totals, "next_page": "0.1"}],
        "0.1": [head, *conditions, totals],
    }

    def answer(query, **more):
        lines = [{**line, **more} if "cost" in line else line for line in pages[query["page"]]]
        return io.BytesIO(b"".join(json.dumps(line).encode() + b"\n" for line in lines))

    def totals_of(*asked, **more):
        return list(answers._lines_of_pages(lambda query: answer(query, **more), *asked))[-1][0]

    assert totals_of({})["screen"] == screen
    assert "screen" not in totals_of({"from": "0"})
    assert "screen" not in totals_of({}, partial=True)


def test_a_file_of_something_else_is_refused_and_stays(lab, screen, whole, tmp_path):
    result, path = whole
    before = path.read_bytes()

    def message(changed=None, **asked):
        if changed is not None:
            head, rest = before.split(b"\n", 1)
            path.write_bytes(json.dumps({**json.loads(head), **changed}).encode() + b"\n" + rest)
        content = path.read_bytes()
        with pytest.raises(ValueError, match=r"^'.*whole.ndjson' has conditions of the ") as caught:
            lab.run(**{**screen, **asked}, resume=path)
        assert path.read_bytes() == content
        return str(caught.value).partition(" has conditions ")[2]

    other = lab.dry_run(**{**screen, "trials": 7, "seed": 3})["id"]
    assert message(trials=7, seed=3) == (
        f"of the experiment {result.id}, and this is {other}: they differ in trials, seed. "
        "Name another file, or remove this one."
    )
    assert message({"id": "0", "model": "another"}).startswith(
        f"of the model another, and the service has {result.json['model']}."
    )
    assert message({"id": "0"}).startswith(
        f"of the experiment 0, and this is {result.id}: versions of the service's answers differ."
    )


@pytest.mark.parametrize(
    ("content", "line"), [("notes\n", 1), ("notes", 1), ('{"id": "1"}\nnotes\n', 2), ('{"cost": {}}\n', 1)]
)
def test_a_file_that_is_no_answer_is_refused_and_stays(server, tmp_path, content, line):
    path = tmp_path / "notes.ndjson"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"line {line} of .* is not that of an answer"):
        Lab(server.url).run(resume=path)
    assert path.read_text() == content
    assert server.requests == []


@pytest.mark.parametrize("more", [{"partial": True}, {"next_page": "0.1"}])
def test_results_that_lack_something_in_between_are_refused(lab, screen, whole, more):
    _, path = whole
    lines = lines_of(path)
    lines[-1].update(more)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    with pytest.raises(ValueError, match="an unfinished job, or one page of several"):
        lab.run(**screen, resume=path)


def test_it_says_which_files_can_go_on(server, tmp_path):
    with pytest.raises(ValueError, match=r"resume must be a file that ends in \.ndjson, got .*a\.parquet"):
        Lab(server.url).run(resume=tmp_path / "a.parquet")
    with pytest.raises(FileNotFoundError):
        Lab(server.url).run(resume=tmp_path / "nowhere" / "a.ndjson")


def test_a_refused_experiment_leaves_no_file(server, tmp_path):
    server.answer = lambda _: (400, {"error": "Refused.", "code": "INVALID_PARAMETER"})
    path = tmp_path / "a.ndjson"
    with pytest.raises(LabError, match="Refused"):
        Lab(server.url).run(resume=path)
    assert not path.exists()


def test_an_answer_that_breaks_off_leaves_its_conditions(server, tmp_path):
    head = {"id": "1", "model": "m", "experiment": {"trials": 1}}
    condition = {"index": 0, "parameters": {}, "reports": {}}
    server.answer = lambda _: (200, b"".join(json.dumps(line).encode() + b"\n" for line in (head, condition)))
    path = tmp_path / "a.ndjson"
    with pytest.raises(LabConnectionError):
        Lab(server.url).run(resume=path)
    assert lines_of(path) == [head, condition]
