"""Wiring and labels read from raw tables by the words of docs/wiring.md alone, for brian2_open_experiment.py.

Shares nothing with the compiler: sums the rows of each pair, leaves out the weak ones, gives each neuron its sign.
"""

import csv
import gzip
from pathlib import Path

import numpy as np

import signs_of_tables

LABELS = ["type", "class", "sub_class", "super_class", "side"]
# The rule "fast": whatever is not named here has no fast effect.
FAST_SIGNS = {"ach": 1, "acetylcholine": 1, "gaba": -1, "glut": -1, "glu": -1, "glutamate": -1}
FAST_SIGNS |= {"hist": -1, "his": -1, "histamine": -1}
SIDES = {"l": "left", "r": "right", "m": "center"}


def rows_of(path):
    with (gzip.open if str(path).endswith(".gz") else open)(path, "rt", encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


class RawTables:
    """Has the members of Connectome in brian2_open_experiment.py."""

    digest = None

    def __init__(self, neurons, edges, minimum_synapses):
        """neurons: dicts with id, sign and labels; edges: (pre, post, synapses), where a pair may have several rows"""
        neurons = sorted(neurons, key=lambda each: int(each["id"]))
        self.ids = [each["id"] for each in neurons]
        self.neurons = len(self.ids)
        self.place_of_id = {name: place for place, name in enumerate(self.ids)}
        self.signs = np.array([each["sign"] for each in neurons])
        self._labels = {label: np.array([each.get(label, "") for each in neurons]) for label in LABELS}
        synapses = {}
        for pre, post, count in edges:
            if pre in self.place_of_id and post in self.place_of_id:
                pair = (self.place_of_id[pre], self.place_of_id[post])
                synapses[pair] = synapses.get(pair, 0) + int(count)
        kept = sorted(pair for pair, count in synapses.items() if count >= minimum_synapses)
        self.pre, self.post = np.array(kept, dtype=np.int64).reshape(-1, 2).T
        self.signed_synapses = np.array([synapses[pair] for pair in kept], dtype=np.int64) * self.signs[self.pre]

    @classmethod
    def of_flywire(cls, folder, rule, minimum_synapses):
        """The tables of Codex; rule is predicted or corrected."""
        folder = Path(folder)
        types = {row["root_id"]: row["primary_type"] for row in rows_of(folder / "consolidated_cell_types.csv.gz")}
        classes = {row["root_id"]: row for row in rows_of(folder / "classification.csv.gz")}
        neurons = []
        for row in rows_of(folder / "neurons.csv.gz"):
            own = classes.get(row["root_id"], {})
            transmitter, _ = signs_of_tables.transmitter_of(row)
            signs = signs_of_tables.signs_of(transmitter, types.get(row["root_id"], ""), own)
            labels = {label: own.get(label, "") for label in LABELS} | {"type": types.get(row["root_id"], "")}
            neurons.append({**labels, "id": row["root_id"], "sign": signs[["predicted", "corrected"].index(rule)]})
        edges = rows_of(folder / "connections.csv.gz")
        pairs = ((row["pre_root_id"], row["post_root_id"], row["syn_count"]) for row in edges)
        return cls(neurons, pairs, minimum_synapses)

    @classmethod
    def of_laboratory(cls, edges, neurons, minimum_synapses):
        """CSV with the columns that docs/wiring.md names; signs by the rule "fast", or as a column gives them."""
        listed = []
        for row in rows_of(neurons):
            sign = int(float(row["sign"])) if "sign" in row else FAST_SIGNS.get(row["transmitter"].lower(), 0)
            listed.append({**row, "sign": sign, "side": SIDES.get(row.get("side", "").lower(), row.get("side", ""))})
        pairs = ((row["pre"], row["post"], row["weight"]) for row in rows_of(edges))
        return cls(listed, pairs, minimum_synapses)

    def places(self, ids):
        return np.array([self.place_of_id[each] for each in ids], dtype=int)

    def labelled(self, labels):
        """Neurons with all labels of a group, of which `root_id` is one."""
        matches = np.ones(self.neurons, dtype=bool)
        for label, value in labels.items():
            matches &= (np.array(self.ids) if label == "root_id" else self._labels[label]) == value
        return np.flatnonzero(matches)
