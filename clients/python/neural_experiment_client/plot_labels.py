"""Words for the axes and series of figures, as those of `npm run experiment -- --plot`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .documents import Json

#: Longest label of a bar or a line, in characters.
_MAX_LABEL = 44
_OF_INPUTS = {
    "rate_hz": ("Rate of {}", "Hz"),
    "scale": ("Scale of {}", ""),
    "event_mv": ("Event of {}", "mV"),
    "delay_ms": ("Start of {}", "ms"),
    "duration_ms": ("Window of {}", "ms"),
}
_OF_DOCUMENT = {"duration_ms": ("Duration of a trial", "ms"), "seed": ("Seed", "")}
_UNITS = {"mv": "mV", "ms": "ms"}


def parameter_words(parameter: str) -> tuple[str, str]:
    """The name and the unit of a swept number: `Rate of sugar` and `Hz` for `inputs.sugar.rate_hz`."""
    *path, member = parameter.split(".")
    if not path:
        return _OF_DOCUMENT.get(member, (member, ""))
    first, *names = path
    name = ".".join(names)
    if first == "inputs" and member in _OF_INPUTS:
        words, unit = _OF_INPUTS[member]
        return words.format(name), unit
    words, _, suffix = member.rpartition("_")
    unit = _UNITS.get(suffix, "")
    words = (words if unit else member).replace("_", " ").capitalize()
    subject = name or ("the wiring" if first == "wiring" else "")
    return f"{words} of {subject}" if subject else words, unit


def parameter_label(parameter: str) -> str:
    """The name of an axis: `Rate of sugar (Hz)`."""
    words, unit = parameter_words(parameter)
    return f"{words} ({unit})" if unit else words


def groups_label(parameter: str) -> str:
    """The name of an axis of groups: `Silenced`, `Stimulated as sugar`, `Source of direct`."""
    if parameter == "silence":
        return "Silenced"
    first, _, name = parameter.partition(".")
    return f"Stimulated as {name}" if first == "inputs" else parameter_label(parameter)


def setting_text(axis: Json, values: list[Any]) -> str:
    """The value of an axis within a list: `rate of sugar 100 Hz`, `CB0889 silenced`, `nothing silenced`."""
    if "set" in axis:
        words, unit = parameter_words(axis["set"])
        return f"{words[:1].lower()}{words[1:]} {values[0]:g} {unit}".rstrip()
    done = {"silence": "silenced", "inputs": "stimulated"}.get(axis["as"].partition(".")[0], "changed")
    return f"{'nothing' if 'none' in values else joined(values)} {done}"


def joined(labels: Iterable[Any]) -> str:
    """The labels that are there, in one text."""
    return " ".join(str(label) for label in labels if label != "")


def short(label: str) -> str:
    """A label that leaves room for the figure."""
    return label if len(label) <= _MAX_LABEL else f"{label[: _MAX_LABEL - 1]}…"
