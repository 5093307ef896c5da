"""Documents as they are sent: the shorthands of Python are written out, and wrong tables are refused."""

import pytest
from conftest import require

from neural_experiment_client import Lab
from neural_experiment_client.documents import completed

LC4 = 720575940622838154


def test_rows_of_rates_take_ids():
    rows = [{"root_id": LC4, "rate_hz": 5}, {"node_set": LC4, "rate_hz": 6}]
    assert completed({"inputs": {"odour": {"rates": rows}}})["inputs"]["odour"]["rates"] == [
        {"node_set": {"root_id": str(LC4)}, "rate_hz": 5},
        {"node_set": {"root_id": str(LC4)}, "rate_hz": 6},
    ]
    with pytest.raises((TypeError, ValueError), match="7.2"):
        completed({"inputs": {"odour": {"rates": [{"root_id": 7.2e17, "rate_hz": 5}]}}})


def test_a_table_of_rates_is_no_selector():
    require("pandas")
    import pandas

    table = pandas.DataFrame({"root_id": [LC4], "rate_hz": [5.0]})
    with pytest.raises(ValueError, match=r'inputs\.odour: .*"rates": table'):
        completed({"inputs": {"odour": table}})
    assert completed({"inputs": {"odour": {"rates": table}}})["inputs"]["odour"]["rates"] == [
        {"node_set": {"root_id": str(LC4)}, "rate_hz": 5.0}
    ]
    # A table of neurons stands for them.
    assert completed({"inputs": {"odour": table[["root_id"]]}})["inputs"]["odour"] == {
        "node_set": {"root_id": [str(LC4)]}
    }


def test_members_that_are_none_are_left_out():
    assert completed({"silence": None, "sweep": None, "trials": 2}) == {"trials": 2}


def test_a_report_without_neurons_is_no_selector_of_a_type():
    reports = {"raster": {"type": "spikes"}, "mine": {"type": "LC4"}}
    assert completed({"reports": reports})["reports"] == {
        "raster": {"type": "spikes"},
        "mine": {"node_set": {"type": "LC4"}},
    }


def test_a_missing_number_is_named_with_its_place():
    require("pandas")
    import pandas

    table = pandas.DataFrame({"node_set": ["LC4", "LC6"], "rate_hz": [5.0, None]})
    with pytest.raises(ValueError, match=r"rates, row 1: .*'LC6', 'rate_hz': nan"):
        completed({"inputs": {"odour": {"rates": table}}})
    rates = [{"node_set": "LC4", "rate_hz": 5}, {"node_set": "LC6", "rate_hz": table.rate_hz[1]}]
    with pytest.raises(ValueError, match=r": /inputs/odour/rates/1/rate_hz is nan$"):
        Lab("http://localhost:9").run(inputs={"odour": {"rates": rates}})
    with pytest.raises(ValueError, match=r": /sweep/0/values/1 is inf$"):
        Lab("http://localhost:9").run(sweep={"set": "seed", "values": pandas.Series([1, float("inf")])})
