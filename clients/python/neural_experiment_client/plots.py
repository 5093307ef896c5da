"""Figures of results by matplotlib, with the content of the figures that `--plot` draws."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .documents import Json

if TYPE_CHECKING:
    from .results import Result

_MAX_LINES = 10
_MAX_BARS = 40
_MAX_MAPS = 6
_MAX_TRACES = 8
_WIDTH_IN = 7.5
#: Of each kind of numbers: the types of reports, the member of a group, the label of its axis.
_MEASURES = [(("rate", "histogram"), "rate_hz", "Mean rate (Hz)"), (("latency",), "latency_ms", "Latency (ms)")]

#: A panel: its height in inches, and the function that draws it.
_Panel = tuple[float, Callable[[Any], None]]


def figure_of(result: Result, reports: Sequence[str] | None) -> Any:
    """A figure with a panel for each report that has something to show; of a sweep a dose curve, map or screen."""
    try:
        from matplotlib import pyplot
    except ImportError as missing:
        raise ImportError("Figures need matplotlib: pip install matplotlib.") from missing
    unknown = set(reports or []) - set(result.document["reports"])
    if unknown:
        known = ", ".join(result.document["reports"])
        raise ValueError(f"reports must name reports of the experiment ({known}), got {', '.join(sorted(unknown))}")
    axes = result.document.get("sweep", [])
    panels = [panel for measure in _MEASURES for panel in _measured(result, axes, reports, measure)]
    if not axes:
        panels += [*_courses(result, reports), *_rasters(result, reports), *_traces(result, reports)]
    if not panels:
        raise ValueError("The result has nothing to draw: its reports are silent, stopped, or of type inputs.")
    height = sum(panel_height for panel_height, _ in panels)
    figure, places = pyplot.subplots(
        len(panels),
        squeeze=False,
        figsize=(_WIDTH_IN, height),
        gridspec_kw={"height_ratios": [panel_height for panel_height, _ in panels]},
        layout="constrained",
    )
    for place, (_, draw) in zip(places[:, 0], panels):
        place.spines[["top", "right"]].set_visible(False)
        draw(place)
    if "name" in result.document:
        figure.suptitle(result.document["name"])
    # A notebook shows the value of a cell; it would show an open figure a second time.
    pyplot.close(figure)
    return figure


def _measured(result: Result, axes: Sequence[Json], reports: Sequence[str] | None, measure: Any) -> list[_Panel]:
    kinds, member, label = measure
    entries: dict[str, list[Json]] = {}
    for head, report, group, is_unchanged in result._groups(kinds):
        value = group[member]
        # An unchanged condition repeats its baseline.
        if value is not None and not is_unchanged and (reports is None or report in reports):
            name = _group_name(head, report, result)
            control = group.get("control") or {}
            means = [value["mean"], control.get("mean")]
            own = {"head": head, "is_active": any(means)}
            entries.setdefault(report, []).append({**own, "group": name, **value})
            if means[1] is not None:
                beside = {"mean": means[1], "sd": control["sd"], "trials": control["values"]}
                entries[report].append({**own, "group": ", ".join(filter(None, [name, "controls"])), **beside})
    # Silent reports are left out, unless all are silent.
    active = {report: own for report, own in entries.items() if any(entry["is_active"] for entry in own)}
    chosen = active or dict(list(entries.items())[:1])
    each = [axis for axis in axes if "each" in axis]
    several = [axis["set"] for axis in axes if "set" in axis and len(axis["values"]) > 1]
    swept = [name for name in result._parameter_names() if name != "condition"]
    if each:
        return [panel for report, own in chosen.items() for panel in _screens(report, own, each[0], swept, label)]
    if len(several) > 1:
        return [panel for report, own in chosen.items() for panel in _maps(report, own, several[:2], swept, label)]
    if swept:
        dose = several[0] if several else swept[0]
        return [_dose(report, own, dose, swept, label) for report, own in chosen.items()]
    return [_bars([entry for own in chosen.values() for entry in own], label)] if chosen else []


def _bars(entries: list[Json], label: str) -> _Panel:
    """Bars of a single condition, with a ring for each trial, or for each of its controls."""
    active = [entry for entry in entries if entry["is_active"]] or entries
    shown = active[:_MAX_BARS]
    names = [f"{entry['head']['report']} {entry['group']}".strip() for entry in shown]

    def draw(place: Any) -> None:
        at = range(len(shown))
        _draw_bars(place, names, shown, label)
        for bar in at:
            trials = [value for value in shown[bar]["trials"] if value is not None]
            place.plot(trials, [bar] * len(trials), "o", mfc="none", mec="0.25", ms=4)
        _say_left_out(place, len(active) - len(shown))

    return _height_of_bars(shown), draw


def _screens(report: str, entries: list[Json], axis: Json, swept: list[str], label: str) -> list[_Panel]:
    """Bars of the groups that an axis takes in turn, the largest change first, beside the baseline."""
    own = [name for name in swept if name == axis["as"] or name.startswith(f"{axis['as']}.")]
    rest = [name for name in swept if name not in own]
    is_input = axis["as"].startswith("inputs.")
    panels = []
    for title, part in _divided(entries, lambda entry: _series_name(entry, rest)).items():
        if not any(entry["mean"] > 0 for entry in part):
            continue
        baselines = [entry for entry in part if all(entry["head"][name] == "none" for name in own)]
        baseline = baselines[0]["mean"] if baselines else 0.0
        groups = [entry for entry in part if entry not in baselines]
        groups.sort(key=lambda entry: -entry["mean"] if is_input else -abs(entry["mean"] - baseline))
        shown = baselines + groups[:_MAX_BARS]
        names = ["none" if entry in baselines else _joined(entry["head"][name] for name in own) for entry in shown]
        panels.append(_screen(f"{report} {title}".strip(), axis["as"], names, shown, label, baselines, len(groups)))
    return panels[:_MAX_MAPS]


def _screen(
    title: str, what: str, names: list[str], shown: list[Json], label: str, baselines: list[Json], groups: int
) -> _Panel:
    def draw(place: Any) -> None:
        _draw_bars(place, names, shown, label)
        place.set_ylabel(what)
        place.set_title(title)
        for entry in baselines:
            place.axvline(entry["mean"], color="0.4", ls="--", lw=1)
        _say_left_out(place, groups + len(baselines) - len(shown))

    return _height_of_bars(shown), draw


def _draw_bars(place: Any, names: list[str], shown: list[Json], label: str) -> None:
    at = range(len(shown))
    sd = [entry["sd"] for entry in shown]
    place.barh(at, [entry["mean"] for entry in shown], xerr=sd, color="C0", alpha=0.75, error_kw={"lw": 1})
    place.set_yticks(list(at), names)
    place.invert_yaxis()
    place.set_xlim(left=0)
    place.set_xlabel(f"{label}; whiskers: 1 sd over trials")


def _dose(report: str, entries: list[Json], dose: str, swept: list[str], label: str) -> _Panel:
    """Means over a swept number, with a band of one standard deviation."""
    rest = [name for name in swept if name != dose]
    series = _divided(entries, lambda entry: _series_name(entry, rest))

    def draw(place: Any) -> None:
        for name, own in list(series.items())[:_MAX_LINES]:
            points = sorted((entry["head"][dose], entry["mean"], entry["sd"]) for entry in own)
            x, mean, sd = zip(*points)
            low, high = ([m + sign * s for m, s in zip(mean, sd)] for sign in (-1, 1))
            (line,) = place.plot(x, mean, "o-", ms=3, label=name)
            place.fill_between(x, [max(0, value) for value in low], high, color=line.get_color(), alpha=0.2, lw=0)
        place.set(title=report, xlabel=dose, ylabel=f"{label}\n± 1 sd over trials")
        place.set_ylim(bottom=0)
        _legend(place, list(series))
        _say_left_out(place, len(series) - _MAX_LINES)

    return 3.0, draw


def _maps(report: str, entries: list[Json], over: list[str], swept: list[str], label: str) -> list[_Panel]:
    """A map over two swept numbers for each of the most active groups, all on one scale."""
    rest = [name for name in swept if name not in over]
    parts = _divided(entries, lambda entry: _series_name(entry, rest))
    highest = max(entry["mean"] for entry in entries) or 1.0
    most = sorted(parts, key=lambda name: -max(entry["mean"] for entry in parts[name]))[:_MAX_MAPS]
    xs, ys = (sorted({entry["head"][name] for entry in entries}) for name in over)

    def panel(name: str) -> _Panel:
        def draw(place: Any) -> None:
            cells = [[math.nan] * len(xs) for _ in ys]
            for entry in parts[name]:
                x, y = (entry["head"][axis] for axis in over)
                cells[ys.index(y)][xs.index(x)] = entry["mean"]
            image = place.imshow(cells, origin="lower", aspect="auto", vmin=0, vmax=highest, cmap="viridis")
            for y, row in enumerate(cells):
                for x, value in enumerate(row):
                    if not math.isnan(value) and len(xs) <= 16:
                        color = "white" if value < 0.6 * highest else "black"
                        place.text(x, y, f"{value:.3g}", ha="center", va="center", color=color, fontsize=7)
            place.set_xticks(range(len(xs)), [f"{value:g}" for value in xs])
            place.set_yticks(range(len(ys)), [f"{value:g}" for value in ys])
            place.set(title=f"{report} {name}".strip(), xlabel=over[0], ylabel=over[1])
            place.figure.colorbar(image, ax=place, label=label)

        return 0.8 + 0.35 * max(4, len(ys)), draw

    return [panel(name) for name in most]


def _courses(result: Result, reports: Sequence[str] | None) -> list[_Panel]:
    """Histograms over time."""
    entries = [
        {"report": report, "name": _group_name(head, report, result), "bins": group["bins_hz"]}
        for head, report, group, _ in result._groups(("histogram",))
        if group["bins_hz"] is not None and (reports is None or report in reports)
    ]

    def panel(report: str, lines: list[Json]) -> _Panel:
        document = result.document["reports"][report]

        def draw(place: Any) -> None:
            for line in lines[:_MAX_LINES]:
                edges = [document["start_ms"] + at * document["bin_ms"] for at in range(len(line["bins"]) + 1)]
                place.stairs(line["bins"], edges, label=line["name"], lw=1.2)
            place.set(title=report, xlabel="Time (ms)", ylabel="Rate (Hz)")
            place.set_ylim(bottom=0)
            _legend(place, [line["name"] for line in lines])
            _say_left_out(place, len(lines) - _MAX_LINES)

        return 2.5, draw

    return [panel(report, own) for report, own in _divided(entries, lambda entry: entry["report"]).items()]


def _rasters(result: Result, reports: Sequence[str] | None) -> list[_Panel]:
    """A row for each neuron and trial that spiked, the trials of a neuron together."""

    def panel(report: str, table: Json) -> _Panel:
        rows = sorted(set(zip(table["root_id"], table["trial"])))
        at = {row: place for place, row in enumerate(rows)}
        neurons = len(set(table["root_id"]))

        def draw(place: Any) -> None:
            y = [at[row] for row in zip(table["root_id"], table["trial"])]
            place.plot(table["t_ms"], y, "|", color="0.1", ms=max(1.0, min(6.0, 150 / len(rows))))
            place.set(title=report, xlabel="Time (ms)", ylabel=f"{neurons} neurons with spikes,\ntheir trials together")
            place.set_xlim(0, result.document["duration_ms"])
            place.set_yticks([])

        return 2.5, draw

    return [panel(report, table) for report, table in _tables(result, "spikes", reports) if table["t_ms"]]


def _traces(result: Result, reports: Sequence[str] | None) -> list[_Panel]:
    """Membrane potentials of the first neurons in the first trial."""

    def panel(report: str, table: Json) -> _Panel:
        rows = zip(table["trial"], table["root_id"], table["t_ms"], table["v_mv"])
        neurons = _divided([row[1:] for row in rows if row[0] == 0], lambda row: row[0])

        def draw(place: Any) -> None:
            for neuron, samples in list(neurons.items())[:_MAX_TRACES]:
                place.plot([row[1] for row in samples], [row[2] for row in samples], lw=0.9, label=neuron)
            place.set(title=f"{report}, trial 0", xlabel="Time (ms)", ylabel="Membrane potential (mV)")
            _legend(place, list(neurons))
            _say_left_out(place, len(neurons) - _MAX_TRACES)

        return 2.5, draw

    return [panel(report, table) for report, table in _tables(result, "membrane", reports) if table["t_ms"]]


def _tables(result: Result, kind: str, reports: Sequence[str] | None) -> list[tuple[str, Json]]:
    return [
        (report, condition["reports"][report])
        for condition in result.json["conditions"]
        for report in result._reports((kind,))
        if reports is None or report in reports
    ]


def _group_name(head: Json, report: str, result: Result) -> str:
    """The labels of a group, without which it is the whole report."""
    return _joined(head[name] for name in result._labels_of(report))


def _series_name(entry: Json, rest: list[str]) -> str:
    return ", ".join(filter(None, [entry["group"], *(f"{name}={entry['head'][name]}" for name in rest)]))


def _joined(labels: Any) -> str:
    return " ".join(str(label) for label in labels if label != "")


def _divided(entries: list[Any], name_of: Callable[[Any], str]) -> dict[str, list[Any]]:
    parts: dict[str, list[Any]] = {}
    for entry in entries:
        parts.setdefault(name_of(entry), []).append(entry)
    return parts


def _height_of_bars(shown: list[Json]) -> float:
    return 0.9 + 0.22 * max(3, len(shown))


def _legend(place: Any, names: list[str]) -> None:
    if any(names):
        place.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))


def _say_left_out(place: Any, number: int) -> None:
    if number > 0:
        place.annotate(
            f"{number} more in the DataFrame", (1, 1), xycoords="axes fraction", ha="right", va="bottom", fontsize=8
        )
