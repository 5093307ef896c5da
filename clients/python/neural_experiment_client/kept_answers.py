"""Answers that are kept in a file while they come, so that an interrupted experiment can go on."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable
from pathlib import Path

from .answers import Lines, checked_path, text_of
from .documents import Json
from .errors import LabError
from .screens import Screen


class KeptAnswer:
    """The beginning of an answer in a file of NDJSON: the head, conditions in their order, and at last the totals.

    Args:
        path: the file, which need not be there.
        describe: gives a dry run of the experiment from a condition on.
    """

    def __init__(self, path: str | os.PathLike[str], describe: Callable[[int], Json]) -> None:
        if Path(path).suffix != ".ndjson":
            raise ValueError(
                f"resume must be a file that ends in .ndjson, got {str(path)!r}: only this format can go on. "
                "The DataFrames of the whole result make any other file."
            )
        self._path = checked_path(path)
        self._describe = describe

    def lines(self, ask: Callable[[int], Lines]) -> Lines:
        """All lines of the answer: those of the file, then those that come, which are written to it.

        Args:
            ask: gives the lines of the answer from a condition on.
        """
        kept = self._read()
        start = 0
        unchanged: list[Json] = []
        if kept:
            described = self._describe(0)
            self._check(kept[0][0], described)
            if "cost" in kept[-1][0]:
                self._check_whole(kept[-1][0])
                yield from ((line, None) for line, _ in kept)
                return
            start, unchanged = _continuation([line["index"] for line, _ in kept[1:]], described)
            if start > 0 and not self._has(start):
                # Only the totals are missing, and they come only with a condition.
                start = kept[-1][0]["index"]
            kept = [each for each in kept if each[0].get("index", -1) < start]
        with contextlib.ExitStack() as stack:
            rest = stack.enter_context(contextlib.closing(ask(start)))
            # The file is changed only if the service takes the experiment.
            head, data = next(rest)
            file = stack.enter_context(open(self._path, "ab"))
            if kept:
                self._check(kept[0][0], head)
                file.truncate(kept[-1][1])
            else:
                file.truncate(0)
                file.write(text_of(head, data) + b"\n")
            lines = [line for line, _ in kept] or [head]
            yield from ((line, None) for line in lines)
            for line, data in rest:
                if "progress" in line:
                    yield line, data
                    continue
                lines.append(line)
                is_end = "cost" in line and start > 0
                whole = (_of_whole(line, start, unchanged, lines), None) if is_end else (line, data)
                file.write(text_of(*whole) + b"\n")
                file.flush()
                yield whole

    def _read(self) -> list[tuple[Json, int]]:
        """The lines of the file, each with the place where it ends, without a last one that was cut off."""
        lines: list[tuple[Json, int]] = []
        end = 0
        with contextlib.suppress(FileNotFoundError), open(self._path, "rb") as file:
            for data in file:
                is_head = data.startswith(b'{"id":') and b'"conditions":[' not in data
                if not data.endswith(b"\n") and (lines or is_head):
                    break
                try:
                    line = json.loads(data)
                except ValueError:
                    line = None
                end += len(data)
                if isinstance(line, dict) and "progress" in line:
                    continue
                expected = ("index", "cost") if lines else ("id",)
                if not isinstance(line, dict) or not any(name in line for name in expected):
                    raise ValueError(
                        f"resume must be a file that an earlier call wrote, or a new one: line {len(lines) + 1} of "
                        f"{str(self._path)!r} is not that of an answer."
                    )
                lines.append((line, end))
        return lines

    def _has(self, condition: int) -> bool:
        try:
            self._describe(condition)
        except LabError as error:
            if error.code != "INVALID_PARAMETER":
                raise
            return False
        return True

    def _check_whole(self, totals: Json) -> None:
        """Raises ValueError if there are totals but conditions or rows are missing, nobody knows which."""
        if "partial" in totals or "next_page" in totals:
            raise ValueError(
                f"resume must be a file that an earlier call wrote, or a new one: {str(self._path)!r} has the "
                "results of an unfinished job, or one page of several."
            )

    def _check(self, head: Json, asked: Json) -> None:
        """Raises ValueError if the file is of another experiment or model."""
        if head["id"] == asked["id"]:
            return
        if head["model"] != asked["model"]:
            differs = f"of the model {head['model']}, and the service has {asked['model']}"
        else:
            old, new = head["experiment"], asked["experiment"]
            names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
            why = f"they differ in {', '.join(names)}" if names else "versions of the service's answers differ"
            differs = f"of the experiment {head['id']}, and this is {asked['id']}: {why}"
        raise ValueError(f"{str(self._path)!r} has conditions {differs}. Name another file, or remove this one.")


def _continuation(conditions: list[int], described: Json) -> tuple[int, list[Json]]:
    """The condition at which an answer goes on, and the parameters of those before it that were not run.

    Conditions come in order, so one that is missing before the last was not run. If the dry run does not know its
    parameters, the answer goes on there.
    """
    axes = [axis for axis in described["experiment"].get("sweep", []) if "each" in axis]
    has_responders = any("responders_of" in axis["each"] for axis in axes if isinstance(axis["each"], dict))
    parameters = {each["index"]: each["parameters"] for each in described["conditions"]}
    if not has_responders:
        # The dry run numbers only conditions that may be run.
        missing = (index for index in range(len(parameters) + len(described["unchanged"])) if index not in parameters)
        parameters = {**parameters, **dict(zip(list(missing), described["unchanged"]))}
    # Groups of a single axis of responders have spiked: of these only such are missing that do not exist.
    are_absent = has_responders and len(axes) == 1 and not axes[0]["as"].startswith("connection_overrides")
    end = conditions[-1] + 1 if conditions else 0
    done = set(conditions)
    unchanged: list[Json] = []
    for index in range(end):
        if index in done or are_absent:
            continue
        if index not in parameters:
            return index, unchanged
        unchanged.append(parameters[index])
    return end, unchanged


def _of_whole(totals: Json, start: int, unchanged: list[Json], lines: list[Json]) -> Json:
    """The totals of a whole answer from those of its last part."""
    whole: Json = {**totals, "unchanged": [*unchanged, *totals["unchanged"]]}
    screen = Screen.of(lines[0]["experiment"])
    if screen is not None:
        for line in lines:
            if "index" in line:
                screen.add(line)
        whole["screen"] = screen.result()
    return {**whole, "resumed_at": start}
