"""Compares an open experiment with Brian 2, spike for spike.

usage: /usr/bin/python3 validation/brian2_open_experiment.py --connectome FILE [--url URL] DOCUMENT.json
       (Debian: python3-brian; URL is a service that serves FILE, http://localhost:8080 by default)

The service runs the experiment of DOCUMENT.json, with other reports: the input events and the spikes of all neurons, and
which neurons are stimulated, silenced and swept. Brian 2 simulates the network of FILE with exactly these input events.
A line for each condition counts the spikes that only one of the two has. The exit status is 1 if there is any. Lesions
that the service did not run, because they change nothing, are compared with its baseline.
Nothing here is code of the service but its Python client: the file is read as docs/wiring.md describes it.
"""
import argparse
import json
import sys
import warnings
from pathlib import Path

warnings.filterwarnings("ignore")
import brian2 as b2
import numpy as np
from brian2 import ms, mV

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "clients" / "python"))
from neural_experiment_client import Lab, LabError

SIDES = ["left", "right", "center", ""]
ALL = "@all"


class Connectome:
    """Wiring and labels of a file."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        magic, (version, count) = data[:8], np.frombuffer(data, "<u4", 2, 8)
        if magic != b"NESCONN\n" or version != 2:
            raise SystemExit(f"{path} must be a connectome file of format version 2.")
        self.digest = data[32:64].hex()
        self._sections = {}
        for at in range(64, 64 + 32 * count, 32):
            offset, length = np.frombuffer(data, "<u8", 2, at + 16).tolist()
            self._sections[data[at : at + 16].rstrip(b"\0").decode()] = data[offset : offset + length]
        self.metadata = json.loads(self._sections["metadata"])
        self.neurons = self.metadata["neuronCount"]
        self.pre = np.repeat(np.arange(self.neurons), np.diff(self._array("rowStart", "<u4")))
        self.post = self._array("targets", "<u4")
        self.signed_synapses = self._array("synapseCounts", "<u2") * self._array("signs", "i1")[self.pre]
        ends = self._array("idStart", "<u4").tolist()
        text = self._sections["idText"].decode("ascii")
        self.ids = [text[begin:end] for begin, end in zip(ends, ends[1:])]
        self.place_of_id = {name: place for place, name in enumerate(self.ids)}

    def _array(self, name, type):
        # Names in the table of sections have 16 bytes at most.
        return np.frombuffer(self._sections[name[:16]], type).astype(np.int64)

    def places(self, ids):
        return np.array([self.place_of_id[each] for each in ids], dtype=int)

    def labelled(self, labels):
        """Neurons with all labels of a group, of which `root_id` is one."""
        types = np.array([each["name"] for each in self.metadata["types"]])
        super_classes = np.array([each["superClass"] for each in self.metadata["classes"]])
        columns = {
            "root_id": lambda: np.array(self.ids),
            "type": lambda: types[self._array("typeIndices", "<u2")],
            "side": lambda: np.array(SIDES)[self._array("sides", "u1")],
            "super_class": lambda: super_classes[self._array("classIndices", "<u2")],
        }
        matches = np.ones(self.neurons, dtype=bool)
        for label, value in labels.items():
            matches &= columns[label]() == value
        return np.flatnonzero(matches)


def with_reports(document):
    """The document with reports that say all that Brian 2 has to know."""
    members = {f"input.{name}": each["node_set"] for name, each in document.get("inputs", {}).items()}
    if document.get("silence"):
        members["silence"] = document["silence"]
    for at, axis in enumerate(document.get("sweep", [])):
        if "each" in axis:
            responders = isinstance(axis["each"], dict) and "responders_of" in axis["each"]
            if not responders:
                members[f"sweep.{at}"] = axis["each"]
    listed = {name: {"node_set": each, "group_by": ["neuron"]} for name, each in members.items()}
    return {
        **document,
        "reports": {
            "events": {"node_set": ALL, "type": "inputs"},
            "raster": {"node_set": ALL, "type": "spikes"},
            **listed,
        },
    }


class Condition:
    """What a condition of an answer says: who is stimulated and silenced, and the events and spikes of each trial."""

    def __init__(self, answer, condition, connectome):
        document = answer["experiment"]
        self.parameters = condition["parameters"]
        self.duration_ms = self.parameters.get("duration_ms", document["duration_ms"])
        reports = condition["reports"]
        for name in ("events", "raster"):
            if reports[name].get("truncated"):
                raise SystemExit("The answer has not all spikes: fewer trials, a shorter duration or lower rates.")
        if not condition["complete"]:
            raise SystemExit(f"Condition {condition['index']} was stopped by the limit on synaptic events.")

        def listed(name):
            return connectome.places([group["root_id"] for group in reports.get(name, [])])

        members = {name: listed(f"input.{name}") for name in document["inputs"]}
        silenced = [listed("silence")]
        for at, axis in enumerate(document.get("sweep", [])):
            if "each" not in axis:
                continue
            labels = self.parameters[axis["as"]]
            group = np.array([], dtype=int) if labels is None else connectome.labelled(labels)
            if labels is not None and f"sweep.{at}" in reports:
                group = np.intersect1d(group, listed(f"sweep.{at}"))
            if axis["as"] == "silence":
                silenced.append(group)
            else:
                members[axis["as"].removeprefix("inputs.")] = group
        self.stimulated = np.unique(np.concatenate([[], *members.values()])).astype(int)
        self.silenced = np.unique(np.concatenate(silenced)).astype(int)
        self.inputs = list(document["inputs"])
        self._events = self._columns(reports["events"], connectome)
        self._spikes = self._columns(reports["raster"], connectome)

    def _columns(self, table, connectome):
        steps = np.rint(np.array(table["t_ms"], dtype=float) * 10).astype(int)
        inputs = [self.inputs.index(name) for name in table.get("input", [])]
        return np.array(table["trial"], dtype=int), steps, connectome.places(table["root_id"]), np.array(inputs, int)

    def events(self, trial):
        """Steps, neurons and the places of the inputs."""
        trials, steps, neurons, inputs = self._events
        own = trials == trial
        return steps[own], neurons[own], inputs[own]

    def spikes(self, trial):
        """(step, neuron), each once."""
        trials, steps, neurons, _ = self._spikes
        own = trials == trial
        return list(zip(steps[own].tolist(), neurons[own].tolist()))


class Network:
    """The network in Brian 2, built once: building and compiling take longer than most trials."""

    def __init__(self, connectome, stimulated, inputs):
        """`stimulated` are the neurons of any condition. A source of Brian 2 fires at most once a step, as a train does."""
        self._connectome = connectome
        self._stimulated = stimulated
        self._group = b2.NeuronGroup(
            connectome.neurons,
            """dv/dt = (v_rest - v + g) / tau_m : volt (unless refractory)
            dg/dt = -g / tau_s : volt (unless refractory)
            refractory_time : second""",
            method="linear",
            threshold="v > v_threshold",
            reset="v = v_rest; g = 0*mV",
            refractory="refractory_time",
            namespace=dict(v_rest=-52 * mV, v_threshold=-45 * mV, tau_m=20 * ms, tau_s=5 * ms),
        )
        self._synapses = b2.Synapses(self._group, self._group, "w : volt", on_pre="g += w", delay=1.8 * ms)
        self._synapses.connect(i=connectome.pre, j=connectome.post)
        sources = max(1, len(stimulated) * inputs)
        self._source = b2.SpikeGeneratorGroup(sources, [], [] * ms)
        delivery = b2.Synapses(self._source, self._group, on_pre="v += 68.75*mV")
        if len(stimulated) > 0:
            delivery.connect(i=np.arange(sources), j=np.tile(stimulated, inputs))
        self._monitor = b2.SpikeMonitor(self._group)
        self._network = b2.Network(self._group, self._synapses, self._source, delivery, self._monitor)
        self._network.store()

    def spikes(self, condition, trial):
        """(step, neuron), each once."""
        self._network.restore()
        self._group.v = -52 * mV
        self._group.refractory_time = 2.2 * ms
        if len(condition.stimulated) > 0:
            self._group.refractory_time[condition.stimulated] = 0 * ms
        delivered = ~np.isin(self._connectome.pre, condition.silenced)
        self._synapses.w = self._connectome.signed_synapses * delivered * 0.275 * mV
        steps, neurons, inputs = condition.events(trial)
        place = np.searchsorted(self._stimulated, neurons)
        self._source.set_spikes(inputs * len(self._stimulated) + place, steps * 0.1 * ms)
        self._network.run(condition.duration_ms * ms)
        spike_steps = np.rint(np.asarray(self._monitor.t / b2.second) * 1e4).astype(int)
        return list(zip(spike_steps.tolist(), np.asarray(self._monitor.i).tolist()))


def unchanged(answer):
    """Conditions that were not run, with what the answer says of the baseline in their place."""
    baselines = {json.dumps(each["parameters"]): each for each in answer["conditions"]}
    for parameters in answer["unchanged"]:
        baseline = baselines[json.dumps({**parameters, "silence": None})]
        yield {**baseline, "parameters": parameters, "note": " with an unchanged lesion"}


def differences(ours, theirs):
    """How many spikes of Brian 2 are missing, and how many it does not have. A neuron spikes once a step at most."""
    own, other = set(ours), set(theirs)
    if len(own) != len(ours):
        raise SystemExit("The answer has a spike twice.")
    return len(other - own), len(own - other)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("document", metavar="DOCUMENT.json", type=Path)
    parser.add_argument("--connectome", metavar="FILE", required=True, help="the connectome that the service serves")
    parser.add_argument("--url", default="http://localhost:8080", help="address of the service")
    options = parser.parse_args()
    document = with_reports(json.loads(options.document.read_text()))
    try:
        answer = Lab(options.url).run(**document).json
    except LabError as error:
        raise SystemExit(str(error)) from error
    connectome = Connectome(options.connectome)
    if not answer["model"].endswith(connectome.digest[:12]):
        raise SystemExit(f"The service must serve {options.connectome}, {connectome.digest[:12]}; got {answer['model']}.")

    answers = [*answer["conditions"], *unchanged(answer)]
    conditions = [Condition(answer, each, connectome) for each in answers]
    stimulated = np.unique(np.concatenate([each.stimulated for each in conditions])).astype(int)
    if connectome.neurons < 10_000:
        # Compiling Cython code takes longer than a small network.
        b2.prefs.codegen.target = "numpy"
    network = Network(connectome, stimulated, max(1, len(document.get("inputs", {}))))
    total = differing = 0
    for condition, own in zip(answers, conditions):
        spikes = events = missing = extra = 0
        for trial in range(answer["experiment"]["trials"]):
            theirs = network.spikes(own, trial)
            absent, surplus = differences(own.spikes(trial), theirs)
            spikes, missing, extra = spikes + len(theirs), missing + absent, extra + surplus
            events += len(own.events(trial)[0])
        print(
            f"condition {condition['index']}{condition.get('note', '')} {json.dumps(own.parameters)}: {answer['experiment']['trials']} trials, "
            f"{events} input events, {spikes} spikes of Brian 2, {missing} missing, {extra} extra",
            flush=True,
        )
        total, differing = total + spikes, differing + missing + extra
    print(f"Brian 2 {b2.__version__}, {answer['model']}: {total} spikes, {differing} differ.")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
