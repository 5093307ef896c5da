"""Documents as they are sent: the shorthands of Python are written out, and wrong tables are refused."""

import pytest
from conftest import require

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
