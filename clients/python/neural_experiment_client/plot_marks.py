"""Bars, lines and texts in an Axes of matplotlib."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from .documents import Json
from .plot_labels import short

#: Characters of a title in a line.
TITLE_WIDTH = 85

#: Of a bar: its label, its value, and what stands behind the numbers of it.
Bar = tuple[str, Json, str]


def spread_text(has_controls: bool) -> str:
    """The spread that whiskers and bands show."""
    return f"1 sd over trials{' (of controls: over controls)' if has_controls else ''}"


def draw_bars(place: Any, bars: list[Bar], label: str, has_controls: bool = False) -> None:
    """Draws bars with their numbers at the right."""
    at = range(len(bars))
    means, sd = ([value[name] for _, value, _ in bars] for name in ("mean", "sd"))
    for row, (_, value, note) in enumerate(bars):
        numbers = f"{value['mean']:.3g} ± {value['sd']:.3g}{note}"
        place.text(1.01, row, numbers, transform=place.get_yaxis_transform(), va="center", fontsize=7)
    place.barh(at, means, xerr=sd, color="C0", alpha=0.75, error_kw={"lw": 1})
    place.set_yticks(list(at), [short(name) for name, *_ in bars])
    place.set_ylim(len(bars) - 0.4, -0.6)
    place.set_xlim(left=0)
    place.set_xlabel(f"{label}; whiskers: {spread_text(has_controls)}")


def height_of_bars(bars: Sequence[Bar]) -> float:
    """The height in inches that they need."""
    return 0.9 + 0.22 * max(3, len(bars))


def chance_text(control: Json | None) -> str:
    """The p and q of a group, if there are any, to stand behind its numbers."""
    given = {name: (control or {}).get(name) for name in ("p", "q")}
    return "".join(f", {name} {value:.3g}" for name, value in given.items() if value is not None)


def draw_line(place: Any, points: list[tuple[float, float, float]], label: str, color: Any = None) -> Any:
    """Draws a line of means with its band, dashed if it has the color of another one. Returns its color."""
    x, mean, sd = zip(*points)
    low, high = ([m + sign * s for m, s in zip(mean, sd)] for sign in (-1, 1))
    (line,) = place.plot(x, mean, "o-" if color is None else "s--", ms=3, label=short(label), color=color)
    place.fill_between(x, [max(0, value) for value in low], high, color=line.get_color(), alpha=0.2, lw=0)
    return line.get_color()


def set_title(place: Any, title: str) -> None:
    """Sets a title that breaks its line before the end of the figure."""
    place.set_title(textwrap.fill(title, TITLE_WIDTH), loc="left", fontsize="medium")


def add_legend(place: Any, names: Sequence[str]) -> None:
    """Adds a legend at the right, if a line has a name."""
    if any(names):
        place.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1, 1))
