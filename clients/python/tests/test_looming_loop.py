"""The example of a loop runs: an object comes, and the giant fibre decides."""

import os
import subprocess
import sys

import pytest
from conftest import ROOT

from neural_experiment_client import Lab

EXAMPLES = ROOT / "clients/python/examples"


@pytest.fixture(scope="module")
def fly(small_brain):
    """A service of a network in which many detectors must fire together before the giant fibres do."""
    layers = {"LC4": 50, "LPLC2": 70, "DNp01": 2}
    brain = small_brain(layers, [("LC4", "DNp01"), ("LPLC2", "DNp01")], synapses=5)
    with Lab.local(brain, variables={"WORKERS": 1, "BACKEND": "cpu"}) as lab:
        yield lab


@pytest.fixture
def example(monkeypatch):
    monkeypatch.syspath_prepend(os.fspath(EXAMPLES))
    import looming_loop

    return looming_loop


def test_it_prints_a_row_for_each_approach_and_the_same_again(fly):
    command = [sys.executable, "-B", EXAMPLES / "looming_loop.py", fly.url]
    environment = {**os.environ, "PYTHONPATH": os.fspath(ROOT / "clients/python")}

    def printed():
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    text = printed()
    rows = [line.split() for line in text.splitlines()[1:]]
    assert [row[:4] for row in rows] == [[r_over_v, "5", "of", "5"] for r_over_v in ("14", "40", "70")]
    medians_ms, sizes_deg, firsts_ms, lasts_ms = ([float(row[at]) for row in rows] for at in (4, 5, 7, 8))
    # The slower the approach, the more time is left.
    assert medians_ms == sorted(medians_ms)
    assert len(set(medians_ms)) == 3
    # No approach is decided at its beginning, under 10 degrees, or by the collision.
    assert all(15 < size_deg < 150 for size_deg in sizes_deg)
    for median_ms, first_ms, last_ms in zip(medians_ms, firsts_ms, lasts_ms):
        assert 0 < last_ms < median_ms < first_ms
    assert printed() == text


def test_the_document_of_an_approach_replays_its_decision(fly, example):
    left_ms, document = example.approach(fly, 40, seed=7)
    # 40 / tan(5 degrees) is 457.2 ms, of which whole steps are left.
    spikes = fly.run(**document).json["conditions"][0]["reports"]["giant_fibre"]
    assert 450 - min(spikes["t_ms"]) == left_ms
    assert example.approach(fly, 40, seed=7) == (left_ms, document)
    # Rates rose from one step to the next.
    rates_hz = document["inputs"]["LC4"]["rate_hz"]["values"]
    assert rates_hz == sorted(rates_hz)
    assert rates_hz[0] == pytest.approx(0.1 * example.sight(40, 450)[1])


def test_what_is_not_seen_does_not_make_it_take_off(fly, example, monkeypatch, capsys):
    monkeypatch.setattr(example, "LC4_HZ_PER_DEG_PER_S", 0)
    monkeypatch.setattr(example, "LPLC2_HZ_PER_DEG", 0)
    example.main(fly)
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split() for row in rows] == [[r_over_v, "0", "of", "5"] for r_over_v in ("14", "40", "70")]


def test_angle_and_velocity(example):
    # As near as it is large: 45 degrees to each side. 2 * 40 / (40**2 + 40**2) is 0.025 rad/ms.
    assert example.sight(40, 40) == pytest.approx((90, 1432.394))
    # The velocity is that at which the angle grows.
    before, after = example.sight(14, 30.01)[0], example.sight(14, 29.99)[0]
    assert example.sight(14, 30)[1] == pytest.approx((after - before) / 0.02 * 1000, rel=1e-6)
