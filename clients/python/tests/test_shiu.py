"""`run_exp` as notebooks on the model of Shiu et al. 2024 call it: doses, pairs of rates, screens of responding neurons."""

import json

import pytest
from conftest import FIRST_ID, require

from neural_experiment_client import default_params, run_exp
from neural_experiment_client.shiu import _parquet_metadata

SENSE = [FIRST_ID + at for at in range(4)]
MOTOR = FIRST_ID + 7


@pytest.fixture
def params():
    return {**default_params, "n_run": 3, "t_run": 0.1}


@pytest.fixture
def rates(params):
    """Rates in Hz by root id (rows) and experiment (columns) of files, as a script reads them; None without a spike."""
    require("pandas")
    require("pyarrow")
    import pandas

    def of_files(files):
        spikes = pandas.concat([pandas.read_parquet(file) for file in files])
        counts = spikes.groupby(["flywire_id", "exp_name"]).size() / params["t_run"] / params["n_run"]
        return counts.unstack()

    return of_files


def test_doses_and_a_screen_of_those_that_respond_most(lab, params, rates, tmp_path):
    config = {
        "path_res": tmp_path / "new/data",
        "path_comp": "not_there.csv",
        "path_con": "not_there.parquet",
        "n_proc": -1,
    }
    for rate_hz in (0, 50, 150):
        params["r_poi"] = rate_hz
        run_exp(exp_name=f"dose_{rate_hz}", neu_exc=SENSE, params=params, lab=lab, **config)
    # An experiment without a spike is a file without rows.
    doses = rates([config["path_res"] / f"dose_{rate_hz}.parquet" for rate_hz in (0, 50, 150)])
    assert list(doses.columns) == ["dose_150", "dose_50"]
    assert doses.loc[MOTOR, "dose_150"] > doses.loc[MOTOR, "dose_50"] > 0
    # Ids as pandas has them.
    most = doses.drop(index=SENSE).sort_values("dose_150", ascending=False).index[:3]
    for i in most:
        run_exp(exp_name=f"without_{i}", neu_exc=SENSE, neu_slnc=[i], params=params, lab=lab, **config)
    screen = rates([f"{config['path_res']}/without_{i}.parquet" for i in most])
    assert sorted(screen.columns) == sorted(f"without_{i}" for i in most)
    # The same seed: a neuron that drives nobody changes nothing.
    assert (screen.loc[SENSE] == doses.loc[SENSE, ["dose_150"]].values).all(axis=None)


def test_pairs_of_rates_with_quantities_of_brian(lab, params, rates, tmp_path):
    require("brian2")
    from brian2 import Hz, ms

    params["t_run"] = 100 * ms
    for first, second in ((0, 0), (0, 100), (100, 100)):
        params["r_poi"], params["r_poi2"] = first * Hz, second * Hz
        run_exp(f"{first}_{second}", SENSE[:2], str(tmp_path), None, None, params, [], SENSE[2:], lab=lab)
    params["t_run"] = 0.1
    table = rates(sorted(tmp_path.glob("*.parquet"))).fillna(0)
    assert list(table.columns) == ["0_100", "100_100"]
    assert table.loc[SENSE[:2], "0_100"].tolist() == [0, 0]
    assert (table.loc[SENSE[2:], "0_100"] > 0).all()


@pytest.mark.parametrize("wrong", [720575940600000000.0, True, float("nan"), "7.2e17", None])
def test_ids_that_are_no_integers_are_refused_and_no_file_is_written(lab, params, tmp_path, wrong):
    for arguments in ({"neu_exc": [*SENSE, wrong]}, {"neu_exc": SENSE, "neu_slnc": [wrong]}):
        with pytest.raises(ValueError, match="integers or texts"):
            run_exp("wrong", path_res=tmp_path, params=params, lab=lab, **arguments)
    with pytest.raises(ValueError, match="neu_exc must be a list of root ids"):
        run_exp("wrong", str(SENSE[0]), tmp_path, params=params, lab=lab)
    assert list(tmp_path.iterdir()) == []


def test_constants_of_the_network_may_be_changed_also_in_the_defaults_themselves(lab, params, tmp_path, monkeypatch):
    def constants_of(name, params):
        run_exp(name, SENSE, tmp_path, params=params, lab=lab)
        return json.loads(_parquet_metadata(tmp_path / f"{name}.parquet")["experiment"]).get("constants")

    assert constants_of("none", params) is None
    changed = {"w_syn": 0.0003, "v_th": -0.044, "t_rfc": 0.002, "t_dly": 0.001}
    assert constants_of("all", {**params, **changed}) == {
        "synapse_mv": 0.3, "threshold_mv": -44, "refractory_ms": 2, "delay_ms": 1, "input_event_mv": 75,
    }  # fmt: skip
    monkeypatch.setitem(default_params, "f_poi", 500)
    assert constants_of("own", {**default_params, "n_run": 1}) == {"input_event_mv": 137.5}
    with pytest.raises(ValueError, match="tau is a constant"):
        run_exp("wrong", SENSE, tmp_path, params={"tau": 0.006}, lab=lab)


def test_seeds_pair_calls_or_make_them_independent(lab, params, tmp_path):
    def experiment_of(name, seed):
        run_exp(name, SENSE, tmp_path, params=params, lab=lab, seed=seed, force_overwrite=True)
        return _document_in(tmp_path / f"{name}.parquet", name)

    assert experiment_of("a", 42) == experiment_of("b", 42)
    first, second = experiment_of("a", None), experiment_of("b", None)
    assert first["seed"] != second["seed"]
    assert first == experiment_of("a", None)


def _document_in(file, name):
    """The experiment that a file has the spikes of."""
    document = json.loads(_parquet_metadata(file)["experiment"])
    assert document.pop("name") == name
    return document
