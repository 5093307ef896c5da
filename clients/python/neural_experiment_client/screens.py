"""The member `screen` of an answer that comes in parts. No part has it, because q corrects for the tests of all."""

from __future__ import annotations

from typing import Optional

from .documents import Json

#: The largest q of what a screen finds, as in the service.
_MAX_Q = 0.05


class Screen:
    """The comparisons of groups with their matched controls."""

    def __init__(self) -> None:
        #: Each test with the denominator of its p.
        self._tests: list[tuple[Json, int]] = []

    @classmethod
    def of(cls, experiment: Json) -> Optional[Screen]:
        """A screen if the answer to this complete document has one."""
        controls = experiment.get("controls") or {}
        is_screen = "matched" in controls.values() and controls.get("only") is None
        return cls() if is_screen else None

    def add(self, condition: Json) -> None:
        """Adds the tests of a condition. Call it in the order of the conditions."""
        self._tests += (
            (
                {
                    **{name: condition[name] for name in ("index", "parameters")},
                    "report": report,
                    "group": {name: label for name, label in group.items() if isinstance(label, str)},
                    "p": group["control"]["p"],
                },
                1 + group["control"].get("compared", len(group["control"]["values"])),
            )
            for report, groups in condition["reports"].items()
            if isinstance(groups, list)
            for group in groups
            if (group.get("control") or {}).get("p") is not None
        )

    def result(self) -> Json:
        """The member of the answer, as the service computes it (Benjamini and Hochberg 1995)."""
        tests = sorted(self._tests, key=lambda each: (each[0]["p"], each[0]["index"]))
        lowest = 1.0
        found: list[Json] = []
        for position in range(len(tests), 0, -1):
            test, of_all = tests[position - 1]
            # A quotient of integers: 3 of 3 tests with p = 1/20 have a q of 0.05, and not of 0.05000000000000001.
            rank = round(test["p"] * of_all)
            lowest = min(lowest, (rank * len(tests)) / (of_all * position))
            if lowest <= _MAX_Q:
                found.insert(0, {**test, "q": lowest})
        return {"tests": len(tests), "found": found}
