"""An approaching object, a fly that sees it, and the moment at which its giant fibre decides to take off.

An object of half size r comes at a constant speed v, so it appears under the angle 2 atan((r/v) / time left). Every
10 ms the angle and its velocity set the rates of the detectors LPLC2 and LC4 of the left eye, and the brain goes on by
10 ms. The first spike of a giant fibre (DNp01) is the decision: it ends the approach.

Which feature each type follows was measured: LC4 angular velocity (von Reyn et al. 2017,
doi:10.1016/j.neuron.2017.05.036), LPLC2 angular size (Ache et al. 2019, doi:10.1016/j.cub.2019.01.079). How many Hz a
degree makes is engineered: the two gains below, in round numbers. All cells of a type get the same rate, as if each
saw the whole object, and the eye has no delay. So compare how take-off moves with r/v, rather than single milliseconds,
with the times of flies and their giant fibres, which are in these two articles and not repeated here. What is called
take-off here is the spike; a fly leaves the ground some time after it.

Run it with the address of a service: python3 looming_loop.py http://localhost:8080
"""

from __future__ import annotations

import math
import statistics
import sys
from typing import Any

from neural_experiment_client import Lab

R_OVER_V_MS = [14, 40, 70]
#: Each approach is repeated with other events of the detectors.
SEEDS = [1, 2, 3, 4, 5]
STEP_MS = 10
START_DEG = 10
#: The engineered part: rates of the detectors by the growth that they see, up to the highest rate that the service takes.
LC4_HZ_PER_DEG_PER_S = 0.1
LPLC2_HZ_PER_DEG = 0.2
MAX_HZ = 500


def sight(r_over_v_ms: float, left_ms: float) -> tuple[float, float]:
    """The object's angular size in degrees and its velocity in degrees/s, so long before the collision."""
    size_rad = 2 * math.atan2(r_over_v_ms, left_ms)
    velocity_rad_per_ms = 2 * r_over_v_ms / (left_ms**2 + r_over_v_ms**2)
    return math.degrees(size_rad), 1000 * math.degrees(velocity_rad_per_ms)


def approach(lab: Lab, r_over_v_ms: float, seed: int) -> tuple[float | None, dict[str, Any]]:
    """The time left when a giant fibre fires, None if the object is there first; the session as a document."""
    steps = int(r_over_v_ms / math.tan(math.radians(START_DEG / 2)) / STEP_MS)
    collision_ms = steps * STEP_MS
    with lab.session(
        inputs={name: {"node_set": f"{name}:left", "rate_hz": 0} for name in ("LC4", "LPLC2")},
        reports={"giant_fibre": {"node_set": "DNp01", "type": "spikes"}},
        seed=seed,
    ) as fly:
        while fly.t_ms < collision_ms:
            size_deg, velocity_deg_per_s = sight(r_over_v_ms, collision_ms - fly.t_ms)
            step = fly.step(
                STEP_MS,
                LC4=min(MAX_HZ, LC4_HZ_PER_DEG_PER_S * velocity_deg_per_s),
                LPLC2=min(MAX_HZ, LPLC2_HZ_PER_DEG * size_deg),
            )
            spikes_ms = step["reports"]["giant_fibre"]["t_ms"]
            if spikes_ms:
                return collision_ms - min(spikes_ms), fly.document
        return None, fly.document


def main(lab: Lab) -> None:
    """Prints a row for each r/v: take-offs, the median time, and the angle and its velocity at that time."""
    print("r/v (ms)  take-offs  ms before collision  size (deg)  velocity (deg/s)  first   last")
    for r_over_v_ms in R_OVER_V_MS:
        decisions = [approach(lab, r_over_v_ms, seed)[0] for seed in SEEDS]
        taken_off_ms = [left_ms for left_ms in decisions if left_ms is not None]
        row = f"{r_over_v_ms:8}{f'{len(taken_off_ms)} of {len(SEEDS)}':>11}"
        if taken_off_ms:
            median_ms = statistics.median(taken_off_ms)
            size_deg, velocity_deg_per_s = sight(r_over_v_ms, median_ms)
            row += f"{median_ms:21.1f}{size_deg:12.1f}{velocity_deg_per_s:18.0f}"
            row += f"{max(taken_off_ms):7.1f}{min(taken_off_ms):7.1f}"
        print(row)


if __name__ == "__main__":
    main(Lab(sys.argv[1] if len(sys.argv) > 1 else None))
