"""The dispersion of synapse counts between the two sides of a brain, measured in the tables of release 783.

    python3 validation/dispersion_of_sides.py DIR

DIR holds classification.csv.gz, consolidated_cell_types.csv.gz and connections.csv.gz. A type counts if it has one neuron on
the left, one on the right and no other. Each pair of such types has a count on the left and one on the right, x and y: from
the source of one side, to the target of the same or of the other side. With the variance n + n^2 / k of a count around its
mean n, the mean of (x - y)^2 / 2 is n + n^2 / k. Prints k for pairs by their mean count, and the pairs that only one side
has: the tables lack pairs of fewer than 5 synapses, so k is too large if the mean is low.
"""

import csv
import gzip
import sys
from collections import Counter, defaultdict
from pathlib import Path

SIDES = ("left", "right")
MEANS = [(10, 20), (20, 30), (30, 50), (50, 100), (100, 200), (200, 8191)]


def rows_of(folder, table):
    with gzip.open(Path(folder) / f"{table}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def single_neurons(folder):
    """Type and side of each neuron whose type has one neuron on either side and no other."""
    sides = {row["root_id"]: row["side"] for row in rows_of(folder, "classification")}
    neurons = defaultdict(list)
    for row in rows_of(folder, "consolidated_cell_types"):
        if row["primary_type"]:
            neurons[row["primary_type"]].append(row["root_id"])
    return {
        neuron: (name, sides[neuron])
        for name, all_of_type in neurons.items()
        if sorted(sides.get(neuron, "") for neuron in all_of_type) == list(SIDES)
        for neuron in all_of_type
    }


def main(folder):
    single = single_neurons(folder)
    counts = Counter()
    for row in rows_of(folder, "connections"):
        source, target = single.get(row["pre_root_id"]), single.get(row["post_root_id"])
        if source and target:
            crosses = source[1] != target[1]
            counts[source[0], target[0], crosses, source[1]] += int(row["syn_count"])
    pairs = {key[:3] for key in counts}
    both = [(counts[(*pair, "left")], counts[(*pair, "right")]) for pair in pairs]
    print("mean,pairs,on_one_side_only,k")
    for low, high in MEANS:
        found = [(x, y) for x, y in both if x and y and low <= (x + y) / 2 < high]
        lacking = sum(1 for x, y in both if not (x and y) and low <= (x + y) / 2 < high)
        variance = sum((x - y) ** 2 / 2 for x, y in found)
        excess = variance - sum((x + y) / 2 for x, y in found)
        # The square of the mean of two counts exceeds n^2 by half of their variance.
        squares = sum(((x + y) / 2) ** 2 for x, y in found) - variance / 2
        print(f"{low}-{high},{len(found)},{lacking},{squares / excess:.1f}")


if __name__ == "__main__":
    main(sys.argv[1])
