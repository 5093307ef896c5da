"""How far a mean over trials may be off."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from .documents import Json

_BISECTIONS = 60


def uncertainty(
    values: Sequence[float | None], name: str, *, is_signed: bool = False, rounding: float = 0.0
) -> Json:
    """The standard error of the mean (sample sd) and its 95 % confidence interval by Student's t.

    None if fewer than two trials have a value. Equal values allow no interval: they do not tell how much others would
    differ. The interval supposes normal means. It begins at 0 at the lowest, as rates and latencies do, unless the
    values are signed.

    Args:
        rounding: how far equal values may be apart.
    """
    known = [value for value in values if value is not None]
    names = (f"{name}_sem", f"{name}_ci95_low", f"{name}_ci95_high")
    if len(known) < 2:
        return dict.fromkeys(names)
    mean = math.fsum(known) / len(known)
    if max(known) - min(known) <= rounding:
        return dict(zip(names, (0.0, None, None)))
    degrees = len(known) - 1
    sem = math.sqrt(math.fsum((value - mean) ** 2 for value in known) / degrees / len(known))
    reach = student_t_95(degrees) * sem
    low = mean - reach if is_signed else max(0.0, mean - reach)
    return dict(zip(names, (sem, low, mean + reach)))


@functools.cache
def student_t_95(degrees: int) -> float:
    """The value that |t| stays below with a probability of 95 %: the two-sided quantile of Student's t."""
    low, high = 0.0, math.pi / 2
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _probability_within(middle, degrees) < 0.95 else (low, middle)
    return math.sqrt(degrees) * math.tan(low)


def _probability_within(angle: float, degrees: int) -> float:
    """Of |t| below sqrt(degrees) tan(angle): the finite series for whole degrees (Abramowitz and Stegun 26.7.3, .4)."""
    is_odd = degrees % 2
    term = math.cos(angle) if is_odd else 1.0
    total = term if degrees > 1 else 0.0
    for power in range(2 + is_odd, degrees - 1, 2):
        term *= math.cos(angle) ** 2 * (power - 1) / power
        total += term
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if is_odd else total
