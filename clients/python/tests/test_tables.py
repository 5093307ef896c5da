"""Whole tables as DataFrames: by way of Arrow if pyarrow is there, else of CSV."""

import pytest
from conftest import require

from neural_experiment_client import answers


@pytest.fixture
def screen(document):
    """A screen whose axis, groups and events are texts and numbers."""
    return {**document, "sweep": [*document["sweep"], {"set": "inputs.a.rate_hz", "values": [0, 150]}]}


@pytest.fixture(params=["csv", "arrow"])
def ending(request, monkeypatch):
    require("pandas")
    if request.param == "arrow":
        require("pyarrow")
    monkeypatch.setattr(answers, "fastest_ending", lambda: f".{request.param}")


@pytest.mark.usefixtures("ending")
def test_the_spikes_are_those_of_the_result(lab, screen):
    table = lab.table("spikes", **screen)
    assert list(table.columns) == ["condition", "trial", "t_ms", "root_id", "type", "side"]
    spikes = lab.run(**screen).spikes
    assert len(table) > 0
    for name in ("condition", "trial", "t_ms", "root_id"):
        assert table[name].tolist() == spikes[name].tolist()
    assert table.dtypes.astype(str).tolist() == ["int64", "int64", "float64", "object", "object", "object"]
    assert set(table.type) == {"motor", "relay"}


@pytest.mark.usefixtures("ending")
def test_the_rates_are_those_of_the_result_that_were_run(lab, screen):
    job = lab.submit(**screen)
    table = job.table("rates", progress=False, every_s=0.05)
    rates = job.results().rates
    rates = rates[~rates.unchanged].reset_index(drop=True)
    assert rates[table.columns].astype(object).equals(table.astype(object))
    assert set(table["silence.type"]) == {"none", "relay"}


@pytest.mark.usefixtures("ending")
def test_whole_numbers_that_are_swept_are_integers(lab, document):
    sweep = [{"set": "seed", "values": [1, 2]}, {"set": "inputs.a.rate_hz", "values": [50, 50.5]}]
    types = lab.table("rates", **{**document, "sweep": sweep}).dtypes
    assert types[["seed", "inputs.a.rate_hz", "rate_hz_mean"]].astype(str).tolist() == ["int64", "float64", "float64"]


@pytest.mark.usefixtures("ending")
def test_no_rows_are_a_table_with_columns(lab, document):
    table = lab.table("spikes", **{**document, "sweep": [], "inputs": {}})
    assert (len(table), list(table.columns)[-1]) == (0, "side")
    assert table.dtypes.astype(str).tolist() == ["int64", "int64", "float64", "object", "object", "object"]


def test_an_apostrophe_for_spreadsheets_is_no_part_of_a_label(tmp_path):
    require("pandas")
    from neural_experiment_client.frames import table_frame

    file = tmp_path / "table.csv"
    file.write_text("root_id,type,inputs.a.rate_hz,silence\n007,'=A,0.5,none\n8,'B,2,all\n")
    rows = table_frame(file).to_dict("records")
    assert rows == [
        {"root_id": "007", "type": "=A", "inputs.a.rate_hz": 0.5, "silence": "none"},
        {"root_id": "8", "type": "'B", "inputs.a.rate_hz": 2, "silence": "all"},
    ]


def test_input_events_by_id_give_the_spikes_again(lab, document):
    require("pandas")
    reports = {"events": {"type": "inputs", "node_set": "sense"}, "raster": document["reports"]["raster"]}
    drawn = lab.run(**{**document, "sweep": [], "reports": reports})
    events = drawn.inputs
    times_ms = events[events.trial == 3].groupby("root_id").t_ms.apply(list).to_dict()
    replay = {"a": {"node_set": {"root_id": list(times_ms)}, "module": "spikes", "times_ms": times_ms}}
    replayed = lab.run(inputs=replay, reports={"raster": reports["raster"]}, trials=1, duration_ms=100).spikes
    spikes = drawn.spikes[drawn.spikes.trial == 3]
    assert len(spikes) > 0
    assert replayed[["t_ms", "root_id"]].values.tolist() == spikes[["t_ms", "root_id"]].values.tolist()
