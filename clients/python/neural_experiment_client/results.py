"""The answer to an experiment, as tables."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .documents import Json
from .driver_lines import DriverLines
from .frames import frame, frame_of_columns
from .uncertainty import uncertainty

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure
    from pandas import DataFrame

#: How far equal differences are apart at most, as a share of the largest number: the service sends nine digits.
_ROUNDING = 2e-8
ROWS_LEFT_OUT = "Rows beyond the limit of the service are left out, as truncate=True allowed."


class Drawing(str):
    """A figure as the text of an SVG, which a notebook shows."""

    def _repr_svg_(self) -> str:
        return str(self)


class Result:
    """The answer to an experiment.

    Attributes:
        json: the whole answer, as the service's JSON format has it. Where the service sent it in several parts, `cost`
            is that of all of them, and a condition at their border counts in both.
    """

    def __init__(self, answer: Json, draw: Callable[[], str] | None = None) -> None:
        self.json = answer
        self._draw = draw
        self._figure: Drawing | None = None

    def __reduce__(self) -> tuple[type[Result], tuple[Json]]:
        # A copy in another process has no service.
        return Result, (self.json,)

    @property
    def id(self) -> str:
        """Names the experiment on this model: equal experiments have equal ids."""
        return self.json["id"]

    @property
    def document(self) -> Json:
        """The experiment with every default; `lab.run(**result.document)` repeats it."""
        return self.json["experiment"]

    @property
    def is_partial(self) -> bool:
        """Whether it is of a job that is not finished, and has only the conditions that are done."""
        return self.json.get("partial", False)

    @property
    def resumed_at(self) -> int | None:
        """The condition at which an interrupted experiment went on (`Lab.run(resume=...)`); None if it was not.

        `cost`, and warnings about certain conditions, do not cover the conditions before it; the warning `RESUMED` says
        so.
        """
        return self.json.get("resumed_at")

    @property
    def warnings(self) -> list[Json]:
        """Warnings about the results: `code` and `message` of each. They are also shown when the answer arrives."""
        return self.json["warnings"]

    @property
    def rates(self) -> DataFrame:
        """A DataFrame with a row for each condition, report and group.

        `condition`, a column for each swept parameter, `report`, the labels of the group, `neurons`, `responding`
        (neurons with a spike in a trial, mean over trials), `rate_hz_mean` and `rate_hz_sd` (Hz; over trials,
        population sd) and `trials`, their number. Where the experiment has controls also `control_hz_mean` and
        `control_hz_sd` (over the controls), `p` and `q`. Beyond the service's table: `responding_any` (neurons with a
        spike in any trial), `rate_hz_sem` (of the sample sd), `rate_hz_ci95_low` and `rate_hz_ci95_high` (of the mean,
        by Student's t, and not below 0; None if all trials are equal), and `unchanged`: it was not run, as what it changes does nothing, and has the
        values of its baseline, whose number `condition` is.
        """
        controls = _CONTROL_COLUMNS if "controls" in self.document else {}
        return self._group_frame(
            ("rate", "histogram"),
            ["responding", "rate_hz_mean", "rate_hz_sd", *controls],
            lambda group: {
                "responding": _member(group["responding"], "mean"),
                "rate_hz_mean": _member(group["rate_hz"], "mean"),
                "rate_hz_sd": _member(group["rate_hz"], "sd"),
                **{column: _member(group.get("control"), member) for column, member in controls.items()},
                "responding_any": group["responding_any"],
                **uncertainty(_member(group["rate_hz"], "trials") or [], "rate_hz"),
            },
            ["responding_any", "rate_hz_sem", "rate_hz_ci95_low", "rate_hz_ci95_high"],
        )

    def lines(self, path: str | Path) -> DataFrame:
        """`rates` with a column `lines`: the driver lines of the cell types of each row.

            result.lines("lines.csv").sort_values("q")

        The types are those of the groups that a sweep takes in turn, or else of the group that is read. A row has lines
        only if `group_by` has `type`, and the baseline has none.

        Args:
            path: CSV, gzipped or not, with the columns `line` and `type`, which may have several types between
                semicolons.
        """
        lines = DriverLines(path)
        axes = [f"{axis['as']}.type" for axis in self.document.get("sweep", []) if "as" in axis]

        def types_of(head: Json) -> list[str]:
            # The baseline of an axis is "none".
            types = [head.get(column, "") for column in axes or ["type"]]
            return [name for name in dict.fromkeys(types) if name not in ("", "none")]

        return self.rates.assign(
            lines=[lines.text_for(types_of(head)) for head, *_ in self._groups(("rate", "histogram"))]
        )

    @property
    def controls(self) -> DataFrame:
        """A DataFrame with a row for each condition, report of rates, group and control.

        As `rates`, with `control`, its number from 1 on, and `rate_hz_mean` in it (None if a trial was stopped).
        """
        rows = [
            {**head, "control": number, "rate_hz_mean": rate_hz, "trials": self.document["trials"]}
            for head, _, group, is_unchanged in self._groups(("rate",))
            for number, rate_hz in enumerate(group.get("control", {}).get("values", []), 1)
            if not is_unchanged
        ]
        return frame(rows, [*self._head_names(("rate",)), "control", "rate_hz_mean", "trials"])

    @property
    def latency(self) -> DataFrame:
        """A DataFrame with a row for each condition, report of latencies and group.

        As `rates`, with `latency_ms_mean` and `latency_ms_sd` (from `start_ms` of the report to the first spike of any
        neuron of the group; over the trials that have one, population sd), `responding_trials`, the share of these, and
        `latency_ms_sem`, `latency_ms_ci95_low`, `latency_ms_ci95_high`.
        """
        return self._group_frame(
            ("latency",),
            ["latency_ms_mean", "latency_ms_sd", "responding_trials"],
            lambda group: {
                "latency_ms_mean": _member(group["latency_ms"], "mean"),
                "latency_ms_sd": _member(group["latency_ms"], "sd"),
                "responding_trials": group["responding_trials"],
                **uncertainty(_member(group["latency_ms"], "trials") or [], "latency_ms"),
            },
            ["latency_ms_sem", "latency_ms_ci95_low", "latency_ms_ci95_high"],
        )

    @property
    def rates_of_trials(self) -> DataFrame:
        """As `rates`, with a row for each trial: `trial` (from 0) and `rate_hz`."""
        return self._trial_frame(("rate", "histogram"), "rate_hz")

    @property
    def latency_of_trials(self) -> DataFrame:
        """As `latency`, with a row for each trial: `trial` (from 0) and `latency_ms`, NaN if no neuron spiked."""
        return self._trial_frame(("latency",), "latency_ms")

    def difference(self, condition: int, other: int) -> DataFrame:
        """How much more a condition has than another one: differences by trial, whose 95 % interval is a paired one.

            result.difference(1, 0)

        Trials of equal numbers have the same input events, so their differences have less chance in them than both
        means.

        Args:
            condition: its number, as in `rates`.
            other: the number of the condition that is subtracted.

        Returns:
            A DataFrame with a row for each group of a report of rates or latencies: `report`, `measure` (`rate_hz` or
            `latency_ms`), the labels of the group, `neurons`, `difference_mean`, `difference_sem`,
            `difference_ci95_low`, `difference_ci95_high` (Student's t; None if all differences are equal), and `trials`
            that have a value in both.
        """
        by_number = {each["index"]: each for each in self.json["conditions"]}
        for name, number in (("condition", condition), ("other", other)):
            if number not in by_number:
                raise ValueError(f"{name} must be the number of a condition: {_listed(by_number)}, got {number!r}")
        kinds = ("rate", "histogram", "latency")
        labels = self._labels(kinds)
        rows = []
        for report in self._reports(kinds):
            measure = "latency_ms" if self.document["reports"][report]["type"] == "latency" else "rate_hz"
            subtracted = {
                tuple(group.get(label) for label in labels): group for group in by_number[other]["reports"][report]
            }
            for group in by_number[condition]["reports"][report]:
                both = subtracted.get(tuple(group.get(label) for label in labels), {measure: None})
                trials = zip(_member(group[measure], "trials") or [], _member(both[measure], "trials") or [])
                pairs = [pair for pair in trials if None not in pair]
                differences = [more - less for more, less in pairs]
                rounding = _ROUNDING * max(map(max, pairs), default=0)
                own = {label: group.get(label, "") for label in labels}
                head = {"report": report, "measure": measure, **own, "neurons": group["neurons"]}
                mean = math.fsum(differences) / len(differences) if differences else None
                interval = uncertainty(differences, "difference", is_signed=True, rounding=rounding)
                rows.append({**head, "difference_mean": mean, **interval, "trials": len(differences)})
        names = [f"difference_{name}" for name in ("mean", "sem", "ci95_low", "ci95_high")]
        return frame(rows, ["report", "measure", *labels, "neurons", *names, "trials"])

    @property
    def histogram(self) -> DataFrame:
        """A DataFrame with a row for each condition, histogram, group and bin.

        As `rates`, with `bin_start_ms`, from the start of the trial, and `rate_hz`, mean over neurons and trials.
        """
        rows = []
        for head, report, group, is_unchanged in self._groups(("histogram",)):
            document = self.document["reports"][report]
            # Times are multiples of 0.1 ms: sums of whole steps are exact.
            start, width = round(10 * document["start_ms"]), round(10 * document["bin_ms"])
            for place, rate_hz in enumerate(group["bins_hz"] or []):
                own = {"bin_start_ms": (start + place * width) / 10, "rate_hz": rate_hz}
                rows.append({**head, **own, "trials": self.document["trials"], "unchanged": is_unchanged})
        names = ["bin_start_ms", "rate_hz", "trials", "unchanged"]
        return frame(rows, [*self._head_names(("histogram",)), *names])

    @property
    def spikes(self) -> DataFrame:
        """A DataFrame with a row for each spike of the reports of type `spikes`.

        `condition`, `report`, `trial` (from 0), `t_ms` (from the start of the trial), `root_id` (text: ids exceed
        2^53). `Lab.download` writes millions of spikes to a file without holding them in memory, with types and sides.
        """
        return self._table("spikes", ["trial", "t_ms", "root_id"])

    @property
    def inputs(self) -> DataFrame:
        """As `spikes`, with the events of the reports of type `inputs`, and `input`, the name of the input."""
        return self._table("inputs", ["trial", "t_ms", "input", "root_id"])

    @property
    def membrane(self) -> DataFrame:
        """As `spikes`, with the samples of the reports of type `membrane`, and `v_mv`, the membrane potential in mV."""
        return self._table("membrane", ["trial", "t_ms", "root_id", "v_mv"])

    def plot(self, reports: Sequence[str] | None = None) -> Figure:
        """Draws the reports, with what `npm run experiment -- --plot` shows, and gives the Figure of matplotlib.

            lab.run(...).plot().savefig("looming.pdf")

        Of a sweep: dose curves, or for at most six groups of a report maps of two parameters or bars of a screen.
        Where nothing is swept: bars with the trials, and over the time of a trial histograms, spikes and membrane
        potentials. Controls are bars or lines of their own, with the mean and the sd over the controls. A note below
        says what is left out.

        Args:
            reports: names of those to draw; by default all.
        """
        from .plots import figure_of

        return figure_of(self, reports)

    def figure(self) -> Drawing:
        """The figure that `npm run experiment -- --plot` draws, from the service, as SVG. A notebook shows it.

            Path("dose.svg").write_text(lab.run(...).figure(), encoding="utf-8")

        The service draws what it still has: a short answer that it has just sent, or the results of a job. Otherwise it
        computes the experiment again. `plot` needs no service, and gives what you can change.

        Raises:
            LabError: the service refused it, or no longer has the model or the job.
            ValueError: the result is not of a `Lab`.
        """
        if self._figure is None:
            if self._draw is None:
                raise ValueError("figure() needs a result that a Lab has given; plot() draws any.")
            self._figure = Drawing(self._draw())
        return self._figure

    def __repr__(self) -> str:
        name = self.document.get("name")
        title = "Result" if name is None else f"Result of {name!r}"
        return f"<{title}: {len(self.json['conditions'])} conditions, {self.document['trials']} trials each>"

    def _table(self, kind: str, names: list[str]) -> Any:
        columns: dict[str, list[Any]] = {name: [] for name in ["condition", "report", *names]}
        truncated = False
        for condition in self.json["conditions"]:
            for report in self._reports((kind,)):
                table = condition["reports"][report]
                rows = len(table["trial"])
                columns["condition"] += [condition["index"]] * rows
                columns["report"] += [report] * rows
                for name in names:
                    columns[name] += table[name]
                truncated = truncated or table.get("truncated", False)
        if truncated:
            warnings.warn(ROWS_LEFT_OUT, stacklevel=3)
        return frame_of_columns(columns)

    def _reports(self, kinds: tuple[str, ...]) -> list[str]:
        return [name for name, report in self.document["reports"].items() if report["type"] in kinds]

    def _group_frame(
        self, kinds: tuple[str, ...], names: list[str], values_of: Callable[[Json], Json], own_names: list[str]
    ) -> Any:
        trials = self.document["trials"]
        rows = [
            {**head, **values_of(group), "trials": trials, "unchanged": is_unchanged}
            for head, _, group, is_unchanged in self._groups(kinds)
        ]
        return frame(rows, [*self._head_names(kinds), *names, "trials", *own_names, "unchanged"])

    def _trial_frame(self, kinds: tuple[str, ...], name: str) -> Any:
        rows = [
            {**head, "trial": trial, name: value, "unchanged": is_unchanged}
            for head, _, group, is_unchanged in self._groups(kinds)
            for trial, value in enumerate(_member(group[name], "trials") or [])
        ]
        return frame(rows, [*self._head_names(kinds), "trial", name, "unchanged"])

    def _groups(self, kinds: tuple[str, ...]) -> Iterator[tuple[Json, str, Json, bool]]:
        """Groups of all conditions: the first cells of a row, report, group, and True if the condition was not run."""
        labels = self._labels(kinds)
        for condition, is_unchanged in self._conditions():
            for report in self._reports(kinds):
                for group in condition["reports"][report]:
                    own = {label: group.get(label, "") for label in labels}
                    head = {**self._parameters(condition), "report": report, **own, "neurons": group["neurons"]}
                    yield head, report, group, is_unchanged

    def _conditions(self) -> list[tuple[Json, bool]]:
        """The conditions that were run, then the unchanged ones (True): their own parameters, else their baseline.

        An unchanged condition is left out if the answer does not have its baseline, or if two axes take groups
        and the answer does not say which of two baselines it is.
        """
        run = self.json["conditions"]
        axes = [axis["as"] for axis in self.document.get("sweep", []) if "as" in axis]
        found = {_key(condition["parameters"]): condition for condition in run}
        unchanged = self.json.get("unchanged", [])
        # A baseline has fewer groups than its conditions, and may itself be unchanged.
        for parameters in sorted(unchanged, key=lambda each: sum(each[axis] is not None for axis in axes)):
            keys = [_key({**parameters, axis: None}) for axis in axes if parameters[axis] is not None]
            first, *others = [found.get(key) for key in keys] or [None]
            if first is not None and all(other and other["reports"] == first["reports"] for other in others):
                found[_key(parameters)] = {**first, "parameters": parameters}
        rows = [found.get(_key(parameters)) for parameters in unchanged]
        return [*((each, False) for each in run), *((each, True) for each in rows if each is not None)]

    def _head_names(self, kinds: tuple[str, ...]) -> list[str]:
        return [*self._parameter_names(), "report", *self._labels(kinds), "neurons"]

    def _labels(self, kinds: tuple[str, ...]) -> list[str]:
        used = {label for name in self._reports(kinds) for label in self._labels_of(name)}
        return [label for label in _LABELS.values() if label in used]

    def _labels_of(self, report: str) -> list[str]:
        return [_LABELS[label] for label in self.document["reports"][report]["group_by"]]

    def _columns_of(self, axis: Json) -> list[str]:
        return [name for name, _ in _axis_columns(axis)]

    def _parameter_names(self) -> list[str]:
        return ["condition", *(name for axis in self.document.get("sweep", []) for name, _ in _axis_columns(axis))]

    def _parameters(self, condition: Json) -> Json:
        row = {"condition": condition["index"]}
        for axis in self.document.get("sweep", []):
            value = condition["parameters"][axis["set"] if "set" in axis else axis["as"]]
            row.update((name, read(value)) for name, read in _axis_columns(axis))
        return row


#: Of the controls of a group: the column and the member.
_CONTROL_COLUMNS = {"control_hz_mean": "mean", "control_hz_sd": "sd", "p": "p", "q": "q"}
#: The name of a label in `group_by`, and its name in a group.
_LABELS = {"neuron": "root_id", **{label: label for label in ("type", "side", "super_class", "class", "sub_class")}}


def _axis_columns(axis: Json) -> list[tuple[str, Callable[[Any], Any]]]:
    """The columns of an axis of the sweep, and how to read their values from the parameter."""
    if "set" in axis:
        return [(axis["set"], lambda value: value)]
    if not axis["group_by"]:
        return [(axis["as"], lambda group: "none" if group is None else "all")]

    def reader(label: str) -> Callable[[Any], Any]:
        return lambda group: "none" if group is None else group.get(label, "")

    return [(f"{axis['as']}.{_LABELS[label]}", reader(_LABELS[label])) for label in axis["group_by"]]


def _listed(numbers: Iterable[int]) -> str:
    given = list(numbers)
    return f"0 to {given[-1]}" if given == list(range(len(given))) and given else ", ".join(map(str, given)) or "none"


def _key(parameters: Json) -> str:
    return json.dumps(parameters, sort_keys=True)


def _member(value: Json | None, name: str) -> Any:
    return None if value is None else value[name]
