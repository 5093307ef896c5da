"""Tables and figures of results, compared with the answers of a service and with tables of statistics."""

import gzip
import json
import math
import pickle
import statistics
import warnings
from pathlib import Path

import pytest
from conftest import require

from neural_experiment_client import Lab, LabError, Result, kept_jobs
from neural_experiment_client.plot_labels import parameter_label
from neural_experiment_client.uncertainty import student_t_95, uncertainty


@pytest.mark.parametrize(
    ("degrees", "quantile"),
    # Printed tables of Student's t, two-sided 5 %.
    [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (10, 2.228), (29, 2.045), (99, 1.984)],
)
def test_the_quantile_of_student_is_that_of_tables(degrees, quantile):
    assert student_t_95(degrees) == pytest.approx(quantile, abs=5e-4)


def test_the_interval_of_a_mean_worked_out_by_hand():
    # Mean 3, sample sd sqrt(10/4), SEM 0.7071; t of 4 degrees is 2.776.
    assert uncertainty([1, 2, 3, 4, 5, None], "x") == {
        "x_sem": pytest.approx(math.sqrt(0.5)),
        "x_ci95_low": pytest.approx(3 - 1.9629, abs=1e-3),
        "x_ci95_high": pytest.approx(3 + 1.9629, abs=1e-3),
    }
    # Rates and latencies are not negative: mean 1, SEM 1, t of 1 degree 12.706.
    low = {"x_sem": pytest.approx(1), "x_ci95_low": 0.0, "x_ci95_high": pytest.approx(13.706, abs=1e-3)}
    assert uncertainty([0, 2], "x") == low
    assert uncertainty([0, 2], "x", is_signed=True) == {**low, "x_ci95_low": pytest.approx(-11.706, abs=1e-3)}
    assert uncertainty([4.0], "x") == {"x_sem": None, "x_ci95_low": None, "x_ci95_high": None}
    # Equal values do not tell how much others would differ.
    assert uncertainty([4.0, 4.0], "x") == {"x_sem": 0, "x_ci95_low": None, "x_ci95_high": None}


def test_rates_have_trials_errors_and_responders(lab, document):
    require("pandas")
    result = lab.run(**document)
    baseline = result.json["conditions"][0]["reports"]["cells"]
    rates = result.rates
    first = rates[(rates.condition == 0) & ~rates.unchanged].reset_index()
    trials = result.rates_of_trials
    for at, group in enumerate(baseline):
        values = group["rate_hz"]["trials"]
        row = first.loc[at]
        assert row.responding_any == group["responding_any"] == 1
        assert row.rate_hz_sem == pytest.approx(statistics.stdev(values) / math.sqrt(5))
        assert row.rate_hz_ci95_high - row.rate_hz_mean == pytest.approx(2.7764 * row.rate_hz_sem, abs=2e-3)
        own = trials[(trials.condition == 0) & (trials.side == row.side) & ~trials.unchanged]
        assert own.trial.tolist() == [0, 1, 2, 3, 4]
        assert own.rate_hz.tolist() == values
    latency = result.latency
    of_trials = result.latency_of_trials
    own = of_trials[(of_trials["silence.type"] == "none")].latency_ms
    assert latency.latency_ms_mean[0] == pytest.approx(own.mean(), abs=1e-3)
    assert latency.latency_ms_sem[0] == pytest.approx(own.sem())


def test_unchanged_conditions_are_rows_with_the_values_of_their_baseline(lab, document):
    require("pandas")
    result = lab.run(**document)
    assert result.json["unchanged"] == [{"silence": {"type": "lonely"}}]
    values = ["report", "side", "responding", "rate_hz_mean", "rate_hz_sd", "rate_hz_sem", "condition"]
    rates = result.rates
    by_group = {name: rows[values].values.tolist() for name, rows in rates.groupby("silence.type")}
    assert by_group["lonely"] == by_group["none"] != by_group["relay"]
    assert rates[rates.unchanged]["silence.type"].unique().tolist() == ["lonely"]


def test_the_difference_of_two_conditions_is_paired_by_trial():
    require("pandas")

    def condition(index, rates, latencies):
        cells = [{"neurons": 2, "side": side, "rate_hz": {"trials": each}} for side, each in rates.items()]
        first = [{"neurons": 4, "latency_ms": {"trials": latencies}}]
        return {"index": index, "parameters": {}, "reports": {"cells": cells, "first": first}}

    reports = {"cells": {"type": "rate", "group_by": ["side"]}, "first": {"type": "latency", "group_by": []}}
    conditions = [
        condition(0, {"left": [10, 20, 30], "right": [1, 1, 1]}, [5.0, None, 7.0]),
        condition(1, {"right": [1, 1, 1], "left": [11, 22, 33]}, [4.0, 6.0, 5.0]),
    ]
    result = Result({"experiment": {"trials": 3, "reports": reports}, "conditions": conditions})
    difference = result.difference(1, 0)
    # Differences 1, 2, 3: mean 2, sample sd 1, SEM 0.57735; t of 2 degrees is 4.3027. The means alone are 22 and 20.
    left, right, latency = difference[difference.side != "right"].iloc[0], *(difference.iloc[at] for at in (0, 2))
    assert (left.side, left.measure, left.neurons, left.trials) == ("left", "rate_hz", 2, 3)
    assert left.difference_mean == pytest.approx(2)
    assert left.difference_ci95_low == pytest.approx(2 - 2.4841, abs=1e-3)
    assert left.difference_ci95_high == pytest.approx(2 + 2.4841, abs=1e-3)
    assert (right.side, right.difference_mean, right.difference_sem) == ("right", 0, 0)
    assert math.isnan(right.difference_ci95_low) and math.isnan(right.difference_ci95_high)
    # Only trials with a spike in both: -1 and -2.
    assert (latency.measure, latency.trials, latency.difference_mean) == ("latency_ms", 2, -1.5)
    assert result.difference(0, 1).difference_mean.tolist() == [-2, 0, 1.5]
    with pytest.raises(ValueError, match="other must be the number of a condition: 0 to 1, got 2"):
        result.difference(0, 2)


@pytest.mark.parametrize(
    ("after", "before", "has_interval"),
    [
        # Equal differences, apart from the rounding of rates to nine digits.
        ([66.6666667, 100], [33.3333333, 66.6666667], False),
        ([333.333333, 1000.33333], [333, 1000], False),
        ([113.333333, 113.333333], [113.333333, 113.333333], False),
        # One spike of 100,000 neurons in a second.
        ([100.00001, 100], [100, 100], True),
    ],
)
def test_equal_differences_have_no_interval(after, before, has_interval):
    require("pandas")
    conditions = [
        {"index": at, "parameters": {}, "reports": {"cells": [{"neurons": 1, "rate_hz": {"trials": trials}}]}}
        for at, trials in enumerate([before, after])
    ]
    document = {"trials": len(after), "reports": {"cells": {"type": "rate", "group_by": []}}}
    row = Result({"experiment": document, "conditions": conditions}).difference(1, 0).iloc[0]
    assert math.isnan(row.difference_ci95_low) == math.isnan(row.difference_ci95_high) == (not has_interval)
    assert (row.difference_sem > 0) == has_interval


def test_an_unchanged_condition_of_two_screens_is_left_out_where_its_baseline_is_not_known():
    require("pandas")
    group = {"neurons": 1, "responding": None, "responding_any": None, "rate_hz": None}

    def condition(index, a, b, rate):
        values = {**group, "rate_hz": {"mean": rate, "sd": 0, "trials": [rate]}}
        return {"index": index, "parameters": {"silence": a, "o": b}, "reports": {"r": [values]}}

    a, b, none = {"type": "a"}, {"type": "b"}, None
    axes = [{"each": "x", "group_by": ["type"], "as": name} for name in ("silence", "o")]
    document = {"trials": 1, "sweep": axes, "reports": {"r": {"type": "rate", "group_by": []}}}
    both = [condition(0, none, none, 1.0), condition(1, none, b, 2.0), condition(2, a, none, 3.0)]
    answer = {"experiment": document, "conditions": both, "unchanged": [{"silence": a, "o": b}]}
    assert Result(answer).rates.rate_hz_mean.tolist() == [1, 2, 3]
    # If only `a` changes nothing either, both baselines are that of no group at all.
    answer["unchanged"] = [{"silence": a, "o": b}, {"silence": none, "o": b}, {"silence": a, "o": none}]
    answer["conditions"] = both[:1]
    assert Result(answer).rates.rate_hz_mean.tolist() == [1, 1, 1, 1]


def test_columns_have_their_types_if_no_value_is_there():
    require("pandas")
    group = {"neurons": 1, "side": "left", "responding": None, "responding_any": None, "rate_hz": None}
    latency = {"neurons": 1, "side": "left", "latency_ms": None, "responding_trials": None}
    spikes = {"trial": [], "t_ms": [], "root_id": []}
    kinds = ("rate", "latency", "spikes", "inputs", "membrane", "histogram")
    reports = {kind: {"type": kind, "group_by": ["side"], "start_ms": 0, "bin_ms": 1} for kind in kinds}
    tables = {"spikes": spikes, "inputs": {**spikes, "input": []}, "membrane": {**spikes, "v_mv": []}}
    answered = {"rate": [group], "latency": [latency], "histogram": [{**group, "bins_hz": None}], **tables}
    stopped = {"index": 0, "parameters": {}, "reports": answered}
    document = {"trials": 2, "reports": reports, "controls": {}}
    for conditions in ([stopped], []):
        result = Result({"experiment": document, "conditions": conditions})
        frames = [result.rates, result.latency, result.rates_of_trials, result.latency_of_trials, result.controls]
        frames += [result.histogram, result.spikes, result.inputs, result.membrane]
        if conditions:
            frames.append(result.difference(0, 0))
        types = {}
        for each in frames:
            types.update(each.dtypes.astype(str))
        texts = {name for name, dtype in types.items() if dtype in ("object", "str")}
        assert texts - {"measure"} == {"report", "side", "root_id", "input"}
        whole = {name for name, dtype in types.items() if dtype == "int64"}
        assert whole >= {"condition", "trial", "neurons", "trials"}
        floats = {"rate_hz_mean", "rate_hz_sd", "rate_hz_ci95_low", "p", "q", "rate_hz", "latency_ms", "t_ms", "v_mv"}
        assert {types[name] for name in floats} == {"float64"}
        assert types["unchanged"] == "bool"
    # A whole number of Hz is a rate, too.
    rate = {**group, "responding": {"mean": 1}, "rate_hz": {"mean": 10, "sd": 0, "trials": [10, 10]}}
    ran = {**stopped, "reports": {**answered, "rate": [rate], "histogram": []}}
    rates = Result({"experiment": document, "conditions": [ran]}).rates
    assert rates.rate_hz_mean.dtype == rates.p.dtype == "float64"


SWEEPS = {
    "screen": [{"each": ["relay", "lonely"], "group_by": ["type"], "as": "silence"}],
    "dose": [{"set": "inputs.a.rate_hz", "values": [50, 100, 200]}],
    "map": [{"set": "inputs.a.rate_hz", "values": [50, 100]}, {"set": "constants.synapse_mv", "values": [0.1, 0.3]}],
}


def labels(figure):
    return [(place.get_title(loc="left"), place.get_xlabel(), place.get_ylabel()) for place in figure.axes]


def note_of(figure):
    return " ".join(figure._supxlabel.get_text().split()) if figure._supxlabel else ""


def texts_of(figure):
    """The texts of a figure that can be seen, with their boxes in pixels."""
    figure.canvas.draw()
    texts = [figure._suptitle, figure._supxlabel]
    for place in figure.axes:
        legend = place.get_legend()
        low, high = zip(place.get_xlim(), place.get_ylim())
        ticks = [
            label
            for at, axis in enumerate((place.xaxis, place.yaxis))
            for tick, label in zip(axis.get_ticklocs(), axis.get_ticklabels())
            if min(low[at], high[at]) <= tick <= max(low[at], high[at])
        ]
        texts += [place._left_title, place.xaxis.label, place.yaxis.label, *place.texts, *ticks]
        texts += legend.get_texts() if legend else []
    return [(text.get_text(), text.get_window_extent()) for text in texts if text is not None and text.get_text()]


def assert_readable(figure):
    """No text runs into another one or over the edge of the figure."""
    texts = texts_of(figure)
    for at, (text, box) in enumerate(texts):
        assert -1 <= box.x0 < box.x1 <= figure.bbox.x1 + 1, text
        assert -1 <= box.y0 < box.y1 <= figure.bbox.y1 + 1, text
        for other, beside in texts[at + 1 :]:
            width = min(box.x1, beside.x1) - max(box.x0, beside.x0)
            height = min(box.y1, beside.y1) - max(box.y0, beside.y0)
            assert width <= 1 or height <= 1, (text, other)


def test_a_dose_curve_has_the_means_of_the_answer(lab, document):
    require("matplotlib")
    result = lab.run(**{**document, "sweep": SWEEPS["dose"]})
    figure = result.plot()
    rate, latency = figure.axes
    assert labels(figure)[0][:2] == ("cells", "Rate of a (Hz)")
    assert note_of(figure) == "Not drawn are the tables of a sweep: raster."
    assert_readable(figure)
    assert latency.get_ylabel().startswith("Latency (ms)")
    assert [line.get_label() for line in rate.lines] == ["motor left", "motor right"]
    for at, line in enumerate(rate.lines):
        means = [condition["reports"]["cells"][at]["rate_hz"]["mean"] for condition in result.json["conditions"]]
        assert line.get_xdata().tolist() == [50, 100, 200]
        assert line.get_ydata().tolist() == means


def test_the_figure_is_that_of_the_service(lab, document):
    result = lab.run(**document)
    figure = result.figure()
    assert figure.startswith("<svg ") and figure.endswith("</svg>\n")
    assert f"Experiment: {result.id}" in figure
    assert figure._repr_svg_() == figure
    assert lab.submit(**document).wait(progress=False).figure() == figure
    copy = pickle.loads(pickle.dumps(result))
    assert copy.json == result.json
    with pytest.raises(ValueError, match="a result that a Lab has given"):
        copy.figure()


def test_a_screen_and_a_map_have_a_panel_for_each_group(lab, document):
    require("matplotlib")
    screen = lab.run(**{**document, "sweep": SWEEPS["screen"]})
    figure = screen.plot(["cells"])
    assert note_of(figure) == "Not run, as they change nothing: 1 condition."
    assert_readable(figure)
    panels = figure.axes
    assert [title for title, *_ in labels(figure)] == ["cells motor left", "cells motor right"]
    assert panels[0].get_ylabel() == "Silenced"
    assert [text.get_text() for text in panels[0].get_yticklabels()] == ["nothing", "relay"]
    widths = [bar.get_width() for bar in panels[0].patches]
    assert widths == [each["reports"]["cells"][0]["rate_hz"]["mean"] for each in screen.json["conditions"]]
    two = lab.run(**{**document, "sweep": SWEEPS["map"]}).plot(["cells"])
    image = two.axes[0].images[0].get_array()
    assert image.shape == (2, 2)
    assert ("cells motor left", "Rate of a (Hz)", "Synapse (mV)") in labels(two)
    assert_readable(two)


def test_a_single_condition_shows_trials_time_spikes_and_potentials(lab, document, tmp_path):
    require("matplotlib")
    reports = {
        **document["reports"],
        "time": {"type": "histogram", "node_set": "motor", "bin_ms": 20},
        "mv": {"type": "membrane", "node_set": "motor", "dt_ms": 5},
    }
    result = lab.run(**{**document, "sweep": [], "reports": reports})
    figure = result.plot()
    assert [title for title, *_ in labels(figure)] == ["", "", "time", "raster", "mv"]
    assert {place.get_xlim() for place in figure.axes[2:]} == {(0, 100)}
    assert note_of(figure) == "“mv” shows trial 0 of 5."
    assert_readable(figure)
    rings = sum(len(line.get_xdata()) for line in figure.axes[0].lines if line.get_marker() == "o")
    # Two groups of `cells` and one of `time`, of five trials each.
    assert rings == 15
    raster = figure.axes[3].lines[0]
    assert len(raster.get_xdata()) == len(result.json["conditions"][0]["reports"]["raster"]["t_ms"]) > 0
    figure.savefig(tmp_path / "figure.png")
    with pytest.raises(ValueError, match=r"reports must name reports .*, got nothing"):
        result.plot(["nothing"])


def test_the_last_bin_of_a_histogram_ends_with_its_window(lab, document):
    require("matplotlib")
    bins = {"type": "histogram", "node_set": "motor", "bin_ms": 10}
    for window, edges in [({"end_ms": 25}, [0, 10, 20, 25]), ({"start_ms": 80}, [80, 90, 95])]:
        result = lab.run(**{**document, "sweep": [], "reports": {"time": {**bins, **window}}, "duration_ms": 95})
        (outline,) = result.plot().axes[1].patches
        assert outline.get_data().edges.tolist() == edges


@pytest.mark.filterwarnings("ignore:The count of controls")
def test_controls_are_shown_beside_what_they_belong_to(lab, document):
    require("matplotlib")
    reports = {"cells": {"node_set": "motor"}, "nothing": "lonely"}
    asked = {**document, "reports": reports, "controls": {"shuffle": "weights", "count": 3}}
    result = lab.run(**{**asked, "sweep": []})
    figure = result.plot()
    (bars,) = figure.axes
    assert [text.get_text() for text in bars.get_yticklabels()] == ["cells", "controls of cells"]
    group = result.json["conditions"][0]["reports"]["cells"][0]
    assert [bar.get_width() for bar in bars.patches] == [group["rate_hz"]["mean"], group["control"]["mean"]]
    control = group["control"]
    assert bars.texts[1].get_text().endswith(f", p {control['p']:.3g}, q {control['q']:.3g}")
    assert note_of(figure) == "Silent: nothing."
    assert_readable(figure)
    spread = "1 sd over trials (of controls: over controls)"
    assert spread in " ".join(bars.get_xlabel().split())
    dose = lab.run(**{**asked, "sweep": SWEEPS["dose"]}).plot(["cells"])
    (lines,) = dose.axes
    assert [line.get_label() for line in lines.lines][1] == "controls"
    assert spread in " ".join(lines.get_ylabel().split())
    assert_readable(dose)


@pytest.mark.parametrize(
    ("parameter", "label"),
    [
        ("inputs.left_sugar.rate_hz", "Rate of left_sugar (Hz)"),
        ("inputs.a.delay_ms", "Start of a (ms)"),
        ("duration_ms", "Duration of a trial (ms)"),
        ("seed", "Seed"),
        ("constants.synapse_mv", "Synapse (mV)"),
        ("connection_overrides.direct.weight", "Weight of direct"),
        ("wiring.minimum_synapses", "Minimum synapses of the wiring"),
    ],
)
def test_axes_have_names(parameter, label):
    # As src/experiments/figures/condition-labels.ts has them.
    assert parameter_label(parameter) == label


def measured(reports, conditions, **more):
    """A result whose groups have rates: of each condition the parameters and by report the rates by type."""
    document = {
        "trials": 2, "duration_ms": 100, "reports": {name: {"type": "rate", "group_by": ["type"]} for name in reports},
    }  # fmt: skip

    def group(name, mean):
        return {"type": name, "neurons": 1, "rate_hz": {"mean": mean, "sd": 1, "trials": [mean - 1, mean + 1]}}

    return Result({
        "experiment": {**document, **more},
        "conditions": [
            {
                "index": at,
                "parameters": parameters,
                "reports": {report: [group(*each) for each in rates.items()] for report, rates in own.items()},
            }
            for at, (parameters, own) in enumerate(conditions)
        ],
    })  # fmt: skip


LONG = "a_cell_type_with_a_name_that_is_longer_than_any_figure_has_room_for_"


def test_of_too_many_groups_the_most_active_are_drawn_and_the_note_says_so():
    require("matplotlib")
    rates = {f"{LONG}{at}": (7 * at) % 60 for at in range(60)}
    figure = measured(["cells"], [({}, {"cells": rates})], name=f"{LONG} and another {LONG}").plot()
    (bars,) = figure.axes
    assert [bar.get_width() for bar in bars.patches] == list(range(59, 19, -1))
    assert note_of(figure) == "Drawn are the 40 most active of 60 groups."
    assert_readable(figure)
    few = measured(["cells", "none"], [({}, {"cells": {"a": 1, "b": 0}, "none": {"a": 0}})]).plot()
    assert note_of(few) == "Silent: none. Left out: 1 silent group."


def test_of_too_many_lines_those_that_change_most_are_drawn():
    require("matplotlib")
    sweep = [{"set": f"inputs.{LONG}.rate_hz", "values": [10, 20]}]
    conditions = [
        ({sweep[0]["set"]: dose}, {"cells": {f"{LONG}{at}": 50 + at * dose for at in range(12)}}) for dose in (10, 20)
    ]
    figure = measured(["cells"], conditions, sweep=sweep).plot()
    assert [line.get_ydata()[1] for line in figure.axes[0].lines] == [50 + 20 * at for at in range(2, 12)]
    assert note_of(figure) == "Of “cells” the 10 of 12 lines that change most are drawn."
    assert_readable(figure)


def test_a_map_of_many_values_has_readable_axes():
    require("matplotlib")
    sweep = [
        {"set": "inputs.looming_left.rate_hz", "values": [1000 + at for at in range(30)]},
        {"set": "constants.synapse_mv", "values": [at / 1000 for at in range(1, 31)]},
    ]
    names = [axis["set"] for axis in sweep]
    conditions = [
        (dict(zip(names, (x, y))), {"cells": {f"t{at}": x * y + at for at in range(8)}})
        for x in sweep[0]["values"]
        for y in sweep[1]["values"]
    ]
    figure = measured(["cells"], conditions, sweep=sweep).plot()
    assert [title for title, *_ in labels(figure)][:6] == [f"cells t{at}" for at in range(2, 8)]
    assert note_of(figure) == "Of “cells” the 6 most active of 8 maps are drawn."
    assert_readable(figure)


def test_potentials_are_those_of_the_neurons_that_spike_most():
    require("matplotlib")
    neurons = [str(720575940600000000 + at) for at in range(10)]
    reports = {"raster": {"type": "spikes", "group_by": []}, "mv": {"type": "membrane", "group_by": []}}
    # In trial 0 only the last neuron spikes, in trial 1 only the last but one.
    spikes = {"trial": [0, 1], "t_ms": [5, 6], "root_id": [neurons[9], neurons[8]]}
    samples = {"trial": [0] * 10 + [1] * 10, "t_ms": [1] * 20, "root_id": neurons * 2, "v_mv": [-52] * 20}
    condition = {"index": 0, "parameters": {}, "reports": {"raster": spikes, "mv": samples}}
    document = {"trials": 2, "duration_ms": 100, "reports": reports}
    figure = Result({"experiment": document, "conditions": [condition]}).plot()
    _, traces = figure.axes
    assert [line.get_label() for line in traces.lines] == [*neurons[:7], neurons[9]]
    assert note_of(figure) == (
        "Of 10 neurons of “mv” 8 are drawn, those with the most spikes. “mv” shows trial 0 of 2."
    )
    assert_readable(figure)


def test_what_costs_too_much_may_be_a_job(lab, document):
    doses = {"set": "inputs.a.rate_hz", "values": list(range(1, 31))}
    with pytest.raises(LabError, match=r"lab\.submit") as caught:
        lab.run(**{**document, "sweep": doses, "trials": 100, "duration_ms": 600_000})
    assert caught.value.code == "TOO_EXPENSIVE"


def test_a_dry_run_prices_a_job(lab, document):
    large = {**document, "sweep": [], "trials": 100, "duration_ms": 600_000, "name": "Long"}
    assert lab.dry_run(**large, as_job=True)["cost"]["brain_seconds"] == 60_000
    screen = {**document, "sweep": {"set": "inputs.a.rate_hz", "from": 1, "to": 400, "step": 0.1}}
    assert len(lab.dry_run(**screen, as_job=True)["experiment"]["sweep"][0]["values"]) == 3991
    with pytest.raises(LabError, match="conditions"):
        lab.dry_run(**screen)


def test_one_trial_of_too_many_rows_names_the_table(server):
    rows = "Trial 0 of condition 0 has 299000 rows of events; at most 200000 are allowed in JSON and NDJSON."
    lines = [{"id": "1", "experiment": {"trials": 1}}, {"error": rows, "code": "TOO_EXPENSIVE", "path": "/reports"}]
    server.answer = lambda _: (200, "\n".join(map(json.dumps, lines)).encode())
    lab = Lab(server.url)
    for ask in (lab.run, lab.job("job").results):
        with pytest.raises(LabError, match=r'^Trial 0 .* lab\.table\("spikes", \.\.\.\) and job\.table\("spikes"\)'):
            ask()


def test_only_inputs_are_nothing_to_draw(lab, document):
    require("matplotlib")
    reports = {"events": {"type": "inputs", "node_set": "sense"}}
    result = lab.run(**{**document, "sweep": [], "reports": reports})
    with pytest.raises(ValueError, match="nothing to draw"):
        result.plot()


def test_jobs_are_listed_until_the_service_forgets_them(lab, document, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    job = lab.submit(**document, name="Screen")
    result = job.wait(every_s=0.05)
    said = capsys.readouterr().err
    assert f"Waiting for <Job {job.name!r} at {lab.url}>. An interrupt ends the waiting, not the job." in said
    assert "successful: 100 %" in said
    # A process that is killed while it writes a job loses only that job.
    with open(kept_jobs._path(), "a", encoding="utf-8") as file:
        file.write('{"url": "http://')
    # Other tests have jobs too.
    (row,) = [each for each in lab.jobs() if each["name"] == job.name]
    assert {**row, "begun": ""} == {
        "name": job.name, "title": "Screen", "begun": "", "status": "successful", "progress": 100,
        "conditions_done": 3, "conditions": 3,
    }  # fmt: skip
    assert lab.job(row["name"]).results().json == result.json
    assert json.dumps(lab.run(**document, name="Screen").json) == json.dumps(result.json)
    lab.job(row["name"]).wait(progress=False)
    assert "Waiting" not in capsys.readouterr().err
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        job.end()
        lab.jobs()


def test_warnings_point_to_the_line_that_asked(lab, document):
    asked = {**document, "reports": {"cells": ["motor", "nobody"]}, "on_missing": "skip"}
    job = lab.submit(**asked)
    for ask in (lambda: job.wait(progress=False, every_s=0.05), job.results, lambda: lab.run(**asked)):
        with pytest.warns(UserWarning, match="nobody") as caught:
            ask()
        assert {Path(each.filename).name for each in caught} == {"test_results.py"}


def test_rows_have_the_driver_lines_of_their_types(lab, document, tmp_path):
    require("pandas")
    path = tmp_path / "lines.csv"
    rows = ["SSb,relay", "SSa,relay", "SSc,relay;motor ; sense", "SSd,relay", "SSe,", "SSa,relay"]
    path.write_text("\n".join(["line,type", *rows]))
    # The most specific first, then by name; SSc labels two other types.
    of_relay, of_motor = "SSa, SSb, SSd and 1 more", "SSc (+2)"
    screen = lab.run(
        inputs={"a": {"node_set": "sense", "rate_hz": 150}},
        reports={"motor": {"node_set": "motor", "group_by": ["type"]}},
        sweep=[{"each": ["relay", "lonely", "motor"], "group_by": ["type"], "as": "silence"}],
        duration_ms=100,
        trials=2,
    )
    found = screen.lines(path)
    assert found.drop(columns="lines").equals(screen.rates)
    of_rows = dict(zip(found["silence.type"], found.lines))
    assert of_rows == {"none": "", "relay": of_relay, "motor": of_motor, "lonely": "none"}
    read = lab.run(
        inputs={"a": {"node_set": "sense", "rate_hz": 150}},
        reports={
            "types": {"node_set": ["relay", "motor"], "group_by": ["type"]},
            "sides": {"node_set": "relay", "group_by": ["side"]},
        },
        duration_ms=100,
        trials=2,
    ).lines(path)
    assert read[read.report == "types"].lines.tolist() == [of_motor, of_relay]
    assert set(read[read.report == "sides"].lines) == {""}
    packed = tmp_path / "lines.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert screen.lines(packed).equals(found)
    for text, message in [
        ("name,type\nSS1,LC4", "columns line and type"),
        ("line,type\n ,LC4", "line 2: line must be"),
        ("line,type\nSS1,;", "a row with a type"),
    ]:
        path.write_text(text)
        with pytest.raises(ValueError, match=message):
            screen.lines(path)
