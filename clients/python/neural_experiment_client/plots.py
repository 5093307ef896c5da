"""Figures of results by matplotlib, with the content of the figures that `--plot` draws."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .documents import Json
from .plot_labels import groups_label, joined, parameter_label, setting_text, short
from .plot_marks import (
    TITLE_WIDTH,
    Bar,
    add_legend,
    chance_text,
    draw_bars,
    draw_line,
    height_of_bars,
    set_title,
    spread_text,
)

if TYPE_CHECKING:
    from .results import Result

_MAX_LINES = 10
_MAX_BARS = 40
_MAX_MAPS = 6
_MAX_TRACES = 8
#: Largest number of neurons whose ids a raster has.
_MAX_NAMED = 12
#: Largest number of values of an axis of a map that have labels, and whose cells have numbers.
_MAX_TICKS = 12
_WIDTH_IN = 7.5
#: Characters of a note, of a label below a panel, and of a label beside an inch of it.
_NOTE_WIDTH = 125
_X_WIDTH = 55
_CHARACTERS_PER_IN = 11


class _Measure(NamedTuple):
    """A kind of numbers of groups."""

    kinds: tuple[str, ...]
    member: str
    label: str
    #: 1 if the highest are the most active, -1 if the lowest are.
    sign: int


_MEASURES = [
    _Measure(("rate", "histogram"), "rate_hz", "Mean rate (Hz)", 1),
    _Measure(("latency",), "latency_ms", "Latency (ms)", -1),
]


class _Row(NamedTuple):
    """A number of a group in a condition, and that of its controls."""

    report: str
    #: The labels of the group.
    group: str
    head: Json
    value: Json
    #: None without controls.
    control: Json | None

    @property
    def is_active(self) -> bool:
        return bool(self.value["mean"] or (self.control or {}).get("mean"))


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
    drawing = _Drawing(result, list(result.document["reports"]) if reports is None else reports)
    drawing.draw()
    panels = drawing.panels
    if not panels:
        raise ValueError("The result has nothing to draw: its reports are silent, stopped, or of type inputs.")
    heights = [height for height, _ in panels]
    note = textwrap.fill(" ".join(dict.fromkeys(drawing.notes)), _NOTE_WIDTH)
    figure, places = pyplot.subplots(
        len(panels),
        squeeze=False,
        figsize=(_WIDTH_IN, sum(heights) + 0.15 * len(note.splitlines())),
        gridspec_kw={"height_ratios": heights},
        layout="constrained",
    )
    for place, (height, draw) in zip(places[:, 0], panels):
        place.spines[["top", "right"]].set_visible(False)
        draw(place)
        # A label that is longer than its panel would run into that of the next one, or over the edge.
        width = max(12, int(_CHARACTERS_PER_IN * (height - 0.6)))
        place.set_xlabel(textwrap.fill(place.get_xlabel(), _X_WIDTH))
        place.set_ylabel("\n".join(textwrap.fill(line, width) for line in place.get_ylabel().split("\n")))
    if "name" in result.document:
        figure.suptitle(textwrap.fill(result.document["name"], TITLE_WIDTH))
    if note:
        figure.supxlabel(note, x=0.01, ha="left", fontsize=8)
    # A notebook shows the value of a cell; it would show an open figure a second time.
    pyplot.close(figure)
    return figure


class _Drawing:
    """The panels of a figure, and sentences about what they leave out.

    Args:
        result: what is drawn.
        reports: the names of those to draw.
    """

    def __init__(self, result: Result, reports: Sequence[str]) -> None:
        #: Of each the height in inches, and the function that draws it.
        self.panels: list[tuple[float, Callable[[Any], None]]] = []
        self.notes: list[str] = []
        self._result = result
        self._reports = reports
        self._axes = result.document.get("sweep", [])

    def draw(self) -> None:
        for measure in _MEASURES:
            self._draw_measure(measure)
        if not self._axes:
            self._draw_courses()
            self._draw_rasters()
            self._draw_traces()
        types = {name: report["type"] for name, report in self._result.document["reports"].items()}
        tables = ("inputs",) if not self._axes else ("inputs", "spikes", "membrane")
        left_out = [name for name in self._reports if types[name] in tables]
        if left_out:
            which = "of a sweep" if self._axes else "of input events"
            self.notes.append(f"Not drawn are the tables {which}: {', '.join(left_out)}.")
        unchanged = len(self._result.json.get("unchanged", []))
        if unchanged:
            self.notes.append(f"Not run, as they change nothing: {_counted(unchanged, 'condition')}.")

    def _draw_measure(self, measure: _Measure) -> None:
        rows = self._rows(measure)
        reports = _divided(rows, lambda row: row.report)
        # Silent reports are left out, unless all are silent.
        active = {report: own for report, own in reports.items() if any(row.is_active for row in own)}
        chosen = active or dict(list(reports.items())[:1])
        silent = [report for report in reports if report not in chosen]
        if silent:
            self.notes.append(f"Silent: {', '.join(silent)}.")
        each = [axis for axis in self._axes if "each" in axis]
        several = [axis for axis in self._axes if "set" in axis and len(axis["values"]) > 1]
        if each:
            for report, own in chosen.items():
                self._draw_screens(report, own, each[0], measure)
        elif len(several) > 1:
            for report, own in chosen.items():
                self._draw_maps(report, own, several[:2], measure)
        elif self._axes:
            for report, own in chosen.items():
                self._draw_dose(report, own, (several or self._axes)[0], measure)
        elif chosen:
            self._draw_groups([row for own in chosen.values() for row in own], measure)

    def _rows(self, measure: _Measure) -> list[_Row]:
        rows = []
        missing = 0
        for head, report, group, is_unchanged in self._result._groups(measure.kinds):
            # An unchanged condition repeats its baseline.
            if is_unchanged or report not in self._reports:
                continue
            value = group[measure.member]
            if value is None:
                missing += 1
                continue
            control = group.get("control")
            has_controls = control is not None and control["mean"] is not None
            rows.append(_Row(report, self._group_name(head, report), head, value, control if has_controls else None))
        if missing:
            why = "no spike or stopped" if measure.sign < 0 else "stopped"
            self.notes.append(f"Without a value ({why}): {_counted(missing, 'group')}.")
        return rows

    def _draw_groups(self, rows: list[_Row], measure: _Measure) -> None:
        """Bars of a single condition, with a ring for each trial, or for each of its controls."""
        active = [row for row in rows if row.is_active] or rows
        most = _MAX_BARS // 2 if any(row.control for row in active) else _MAX_BARS
        shown = active
        if len(active) > most:
            shown = sorted(active, key=lambda row: -measure.sign * row.value["mean"])[:most]
            which = "lowest" if measure.sign < 0 else "most active"
            self.notes.append(f"Drawn are the {most} {which} of {len(rows)} groups.")
        elif len(rows) > len(active):
            self.notes.append(f"Left out: {_counted(len(rows) - len(active), 'silent group')}.")
        bars: list[Bar] = []
        for row in shown:
            name = joined([row.report, row.group])
            bars.append((name, row.value, ""))
            if row.control is not None:
                trials = row.control["values"]
                bars.append((f"controls of {name}", {**row.control, "trials": trials}, chance_text(row.control)))

        def draw(place: Any) -> None:
            draw_bars(place, bars, measure.label, has_controls=len(bars) > len(shown))
            for at, (_, value, _) in enumerate(bars):
                trials = [each for each in value["trials"] if each is not None]
                place.plot(trials, [at] * len(trials), "o", mfc="none", mec="0.25", ms=4)

        self.panels.append((height_of_bars(bars), draw))

    def _draw_screens(self, report: str, rows: list[_Row], axis: Json, measure: _Measure) -> None:
        """Bars of the groups that an axis takes in turn, the largest change first, beside the baseline."""
        own = self._result._columns_of(axis)
        parts = {
            title: part
            for title, part in _divided(rows, lambda row: self._series_name(row, axis)).items()
            if any(row.is_active for row in part)
        }
        if len(parts) > _MAX_MAPS:
            self.notes.append(f"Of “{report}” the first {_MAX_MAPS} of {len(parts)} panels are drawn.")
        for title, part in list(parts.items())[:_MAX_MAPS]:
            self._draw_screen(joined([report, title]), part, axis, own, measure)

    def _draw_screen(self, title: str, rows: list[_Row], axis: Json, own: list[str], measure: _Measure) -> None:
        baselines = [row for row in rows if all(row.head[name] == "none" for name in own)]
        baseline = baselines[0].value["mean"] if baselines else 0.0
        is_input = axis["as"].startswith("inputs.")
        groups = [row for row in rows if row not in baselines]
        groups.sort(key=lambda row: -row.value["mean"] if is_input else -abs(row.value["mean"] - baseline))
        shown = baselines + groups[:_MAX_BARS]
        if len(groups) > _MAX_BARS:
            which = "highest" if is_input else "most changed"
            self.notes.append(f"Of “{title}” the {_MAX_BARS} {which} of {len(groups)} groups are drawn.")
        bars: list[Bar] = []
        for row in shown:
            name = "nothing" if row in baselines else joined(row.head[name] for name in own)
            bars.append((name, row.value, chance_text(row.control)))

        def draw(place: Any) -> None:
            draw_bars(place, bars, measure.label)
            place.set_ylabel(groups_label(axis["as"]))
            set_title(place, title)
            for row in baselines:
                place.axvline(row.value["mean"], color="0.4", ls="--", lw=1)

        self.panels.append((height_of_bars(bars), draw))

    def _draw_dose(self, report: str, rows: list[_Row], axis: Json, measure: _Measure) -> None:
        """Means over a swept number, with a band of one standard deviation; dashed those of controls."""
        dose = axis["set"]
        series = _divided(rows, lambda row: self._series_name(row, axis))
        names = list(series)
        has_controls = any(row.control for row in rows)
        most = _MAX_LINES // 2 if has_controls else _MAX_LINES
        if len(names) > most:
            change = {name: [row.value["mean"] for row in own] for name, own in series.items()}
            ranked = sorted(names, key=lambda name: min(change[name]) - max(change[name]))[:most]
            names = [name for name in names if name in ranked]
            self.notes.append(f"Of “{report}” the {most} of {len(series)} lines that change most are drawn.")

        def draw(place: Any) -> None:
            for name in names:
                own = sorted(series[name], key=lambda row: row.head[dose])
                points = [(row.head[dose], row.value["mean"], row.value["sd"]) for row in own]
                color = draw_line(place, points, label=name)
                beside = [(row.head[dose], row.control["mean"], row.control["sd"]) for row in own if row.control]
                if beside:
                    draw_line(place, beside, label=", ".join(filter(None, [name, "controls"])), color=color)
            set_title(place, report)
            place.set(xlabel=parameter_label(dose), ylabel=f"{measure.label}\n± {spread_text(has_controls)}")
            place.set_ylim(bottom=0)
            add_legend(place, names if not has_controls else ["controls"])

        self.panels.append((3.0, draw))

    def _draw_maps(self, report: str, rows: list[_Row], axes: list[Json], measure: _Measure) -> None:
        """A map over two swept numbers for each of the most active groups, all on one scale."""
        parts = _divided(rows, lambda row: self._series_name(row, *axes))
        highest = max(row.value["mean"] for row in rows) or 1.0
        ranked = sorted(parts, key=lambda name: -max(row.value["mean"] for row in parts[name]))
        most = [name for name in parts if name in ranked[:_MAX_MAPS]]
        if len(parts) > len(most):
            self.notes.append(f"Of “{report}” the {len(most)} most active of {len(parts)} maps are drawn.")
        names = [axis["set"] for axis in axes]
        xs, ys = (sorted({row.head[name] for row in rows}) for name in names)

        def draw_map(part: str, place: Any) -> None:
            cells = [[math.nan] * len(xs) for _ in ys]
            for row in parts[part]:
                x, y = (row.head[name] for name in names)
                cells[ys.index(y)][xs.index(x)] = row.value["mean"]
            image = place.imshow(cells, origin="lower", aspect="auto", vmin=0, vmax=highest, cmap="viridis")
            for y, line in enumerate(cells):
                for x, value in enumerate(line):
                    if not math.isnan(value) and len(xs) <= _MAX_TICKS:
                        color = "white" if value < 0.6 * highest else "black"
                        place.text(x, y, f"{value:.3g}", ha="center", va="center", color=color, fontsize=7)
            for ticks, values in ((place.set_xticks, xs), (place.set_yticks, ys)):
                stride = math.ceil(len(values) / _MAX_TICKS)
                ticks(range(0, len(values), stride), [f"{value:g}" for value in values[::stride]])
            set_title(place, joined([report, part]))
            place.set(xlabel=parameter_label(names[0]), ylabel=parameter_label(names[1]))
            place.figure.colorbar(image, ax=place, label=measure.label.replace(" (", "\n("))

        for part in most:
            self.panels.append((0.8 + 0.35 * max(4, len(ys)), functools.partial(draw_map, part)))

    def _draw_courses(self) -> None:
        """Histograms over time."""
        for report in self._of_type("histogram"):
            document = self._result.document["reports"][report]
            lines = [
                (self._group_name(head, report), group["bins_hz"])
                for head, name, group, _ in self._result._groups(("histogram",))
                if name == report and group["bins_hz"] is not None
            ]
            if not lines:
                continue
            shown = lines
            if len(lines) > _MAX_LINES:
                shown = sorted(lines, key=lambda line: -sum(line[1]))[:_MAX_LINES]
                self.notes.append(f"Of “{report}” the {_MAX_LINES} most active of {len(lines)} lines are drawn.")

            def draw(place: Any, report: str = report, document: Json = document, shown: Any = shown) -> None:
                end_ms = document.get("end_ms", self._result.document["duration_ms"])
                for name, bins in shown:
                    starts = [document["start_ms"] + at * document["bin_ms"] for at in range(len(bins))]
                    # The last bin may be shorter than the others.
                    edges = [*starts, min(starts[-1] + document["bin_ms"], end_ms)]
                    place.stairs(bins, edges, label=short(name), lw=1.2)
                self._draw_time(place, report, f"Rate (Hz), bins of {document['bin_ms']:g} ms")
                place.set_ylim(bottom=0)
                add_legend(place, [name for name, _ in shown])

            self.panels.append((2.5, draw))

    def _draw_rasters(self) -> None:
        """A row for each neuron and trial that spiked, the trials of a neuron together."""
        for report, table in self._tables("spikes"):
            rows = sorted(set(zip(table["root_id"], table["trial"])))
            neurons = _divided(list(enumerate(rows)), lambda row: row[1][0])

            def draw(
                place: Any, report: str = report, table: Json = table, rows: Any = rows, neurons: Any = neurons
            ) -> None:
                at = {row: number for number, row in enumerate(rows)}
                y = [at[row] for row in zip(table["root_id"], table["trial"])]
                place.plot(table["t_ms"], y, "|", color="0.1", ms=max(1.0, min(6.0, 150 / len(rows))))
                self._draw_time(place, report, f"{_counted(len(neurons), 'neuron')} with spikes, trials together")
                place.set_yticks([])
                if len(neurons) <= _MAX_NAMED:
                    middles = [sum(number for number, _ in own) / len(own) for own in neurons.values()]
                    place.set_yticks(middles, list(neurons), fontsize=7)

            self.panels.append((2.5, draw))

    def _draw_traces(self) -> None:
        """Membrane potentials in the first trial, of the neurons that spike most in it."""
        spikes = [
            neuron
            for _, table in self._tables("spikes", self._result._reports(("spikes",)))
            for neuron, trial in zip(table["root_id"], table["trial"])
            if trial == 0
        ]
        for report, table in self._tables("membrane"):
            rows = zip(table["trial"], table["root_id"], table["t_ms"], table["v_mv"])
            neurons = _divided([row[1:] for row in rows if row[0] == 0], lambda row: row[0])
            names = list(neurons)
            if len(names) > _MAX_TRACES:
                ranked = sorted(names, key=lambda name: -spikes.count(name))[:_MAX_TRACES]
                names = [name for name in names if name in ranked]
                which = "those with the most spikes" if any(each in spikes for each in neurons) else "the first ones"
                self.notes.append(f"Of {len(neurons)} neurons of “{report}” {_MAX_TRACES} are drawn, {which}.")
            if self._result.document["trials"] > 1:
                self.notes.append(f"“{report}” shows trial 0 of {self._result.document['trials']}.")

            def draw(place: Any, report: str = report, neurons: Any = neurons, names: Any = names) -> None:
                for name in names:
                    place.plot([row[1] for row in neurons[name]], [row[2] for row in neurons[name]], lw=0.9, label=name)
                self._draw_time(place, report, "Membrane potential (mV)")
                add_legend(place, names)

            self.panels.append((2.5, draw))

    def _draw_time(self, place: Any, title: str, label: str) -> None:
        """Title and axes of a panel over time: all of them have one limit, so that they can be compared."""
        set_title(place, title)
        place.set(xlabel="Time (ms)", ylabel=label)
        place.set_xlim(0, self._result.document["duration_ms"])

    def _of_type(self, kind: str) -> list[str]:
        return [report for report in self._result._reports((kind,)) if report in self._reports]

    def _tables(self, kind: str, reports: Sequence[str] | None = None) -> list[tuple[str, Json]]:
        return [
            (report, condition["reports"][report])
            for condition in self._result.json["conditions"]
            for report in (self._of_type(kind) if reports is None else reports)
            if condition["reports"][report]["t_ms"]
        ]

    def _group_name(self, head: Json, report: str) -> str:
        """The labels of a group, without which it is the whole report."""
        return joined(head[name] for name in self._result._labels_of(report))

    def _series_name(self, row: _Row, *drawn: Json) -> str:
        """The group, and the values of the axes that a panel does not have."""
        settings = [
            setting_text(axis, [row.head[name] for name in self._result._columns_of(axis)])
            for axis in self._axes
            if axis not in drawn
        ]
        return ", ".join(filter(None, [row.group, *settings]))


def _divided(entries: list[Any], name_of: Callable[[Any], Hashable]) -> dict[Any, list[Any]]:
    parts: dict[Any, list[Any]] = {}
    for entry in entries:
        parts.setdefault(name_of(entry), []).append(entry)
    return parts


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
