"""Signs of the neurons of release 783, read from the tables by the words of docs/wiring.md alone.

A second reading, which shares nothing with the compiler: a test compares the two, neuron by neuron.

    python3 validation/signs_of_tables.py DIR

DIR holds neurons.csv.gz, classification.csv.gz and consolidated_cell_types.csv.gz. Prints a row for each neuron: its
root id, its transmitter and where that comes from, its sign under either rule, and in 255ths the probabilities that it
excites and inhibits under the rule corrected.
"""

import csv
import gzip
import sys
from pathlib import Path

# In the order of the columns of neurons.csv, in which the first of equal means counts.
TRANSMITTERS = ["DA", "SER", "GABA", "GLUT", "ACH", "OCT"]


def rows_of(folder, table):
    with gzip.open(Path(folder) / f"{table}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def transmitter_of(neuron):
    if neuron["nt_type"]:
        return neuron["nt_type"], "nt_type"
    means = [float(neuron[f"{name.lower()}_avg"] or 0) for name in TRANSMITTERS]
    if max(means) == 0:
        return "", "none"
    return TRANSMITTERS[means.index(max(means))], "mean"


def signs_of(transmitter, cell_type, labels):
    predicted = -1 if transmitter in ("GABA", "GLUT") else 1
    if cell_type in ("R1-6", "R7", "R8"):
        return -1, -1
    if labels.get("sub_class") == "ocellar":
        return predicted, -1
    if labels.get("class") == "ALLN" and transmitter in ("DA", "SER"):
        return predicted, -1
    if labels.get("super_class") in ("sensory", "sensory_ascending"):
        return predicted, 1
    return predicted, predicted


def probabilities_of(neuron, sign_of, own):
    means = {name: float(neuron[f"{name.lower()}_avg"] or 0) for name in TRANSMITTERS}
    total = sum(means.values())
    if total == 0:
        return (255, 0) if own > 0 else (0, 255)
    # Halves are rounded up, as the compiler does.
    excites = int(255 * sum(mean for name, mean in means.items() if sign_of(name) > 0) / total + 0.5)
    return excites, 255 - excites


def main(folder):
    types = {row["root_id"]: row["primary_type"] for row in rows_of(folder, "consolidated_cell_types")}
    classes = {row["root_id"]: row for row in rows_of(folder, "classification")}
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["root_id", "transmitter", "source", "predicted", "corrected", "excites", "inhibits"])
    for neuron in rows_of(folder, "neurons"):
        root_id = neuron["root_id"]
        transmitter, source = transmitter_of(neuron)
        labels = types.get(root_id, ""), classes.get(root_id, {})
        signs = signs_of(transmitter, *labels)
        chances = probabilities_of(neuron, lambda name: signs_of(name, *labels)[1], signs[1])
        writer.writerow([root_id, transmitter, source, *signs, *chances])


if __name__ == "__main__":
    main(sys.argv[1])
