"""Compares an open experiment with Brian 2, spike for spike.

usage: /usr/bin/python3 validation/brian2_open_experiment.py --connectome FILE [--url URL] DOCUMENT.json...
       (Debian: python3-brian; URL is a service that serves FILE, http://localhost:8080 by default)
       with --tables DIR [--signs predicted] in place of --connectome, the wiring is read from the tables of FlyWire; with
       --edges FILE --neurons FILE, from the CSV tables of a laboratory: then nothing but these is shared with the service
       with --recorded FILE.npz, Brian 2 computes only the trials that FILE lacks, and FILE keeps these too

The service runs the experiment of DOCUMENT.json, with other reports: the input events and the spikes of all neurons, and
which neurons are stimulated, silenced, overridden and swept; reports of membranes stay. Brian 2 simulates the network of
FILE with exactly these input events, and with the constants, overrides and windows of the document. A line for each
condition counts the spikes that only one of the two has, and says how far membrane potentials are apart. The exit status
is 1 if a spike differs or a potential by more than 1e-9 mV. Lesions that the service did not run, because they change
nothing, are compared with its baseline.
A recorded trial is found by a digest of the network, the events, the version of Brian 2 and the class BrianNetwork: if one
of them changes, Brian 2 runs again.
Nothing here is code of the service but its Python client: the file is read as docs/wiring.md describes it.
"""
import argparse
import hashlib
import inspect
import json
import sys
import warnings
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import numpy as np

warnings.filterwarnings("ignore")

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "clients" / "python"))
from neural_experiment_client import Lab, LabError
from raw_tables import RawTables

SIDES = ["left", "right", "center", ""]
ALL = "@all"
CONSTANTS = {
    "synapse_mv": 0.275,
    "excitatory_scale": 1,
    "inhibitory_scale": 1,
    "threshold_mv": -45,
    "refractory_ms": 2.2,
    "delay_ms": 1.8,
    "input_event_mv": 68.75,
}
MAX_DIFFERENCE_MV = 1e-9


class Connectome:
    """Wiring and labels of a file."""

    def __init__(self, path):
        data = Path(path).read_bytes()
        magic, (version, count) = data[:8], np.frombuffer(data, "<u4", 2, 8)
        if magic != b"NESCONN\n" or version != 2:
            raise SystemExit(f"{path} must be a connectome file of format version 2.")
        self._sections = {}
        for at in range(64, 64 + 32 * count, 32):
            offset, length = np.frombuffer(data, "<u8", 2, at + 16).tolist()
            self._sections[data[at : at + 16].rstrip(b"\0").decode()] = data[offset : offset + length]
        self.metadata = json.loads(self._sections["metadata"])
        self.digest = self.metadata.get("contentDigest", data[32:64].hex())
        self.neurons = self.metadata["neuronCount"]
        self.pre = np.repeat(np.arange(self.neurons), np.diff(self._array("rowStart", "<u4")))
        self.post = self._array("targets", "<u4")
        self.signs = self._array("signs", "i1")
        self.signed_synapses = self._array("synapseCounts", "<u2") * self.signs[self.pre]
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
        classes = {
            label: np.array([each[name] for each in self.metadata["classes"]])
            for label, name in [("super_class", "superClass"), ("class", "class"), ("sub_class", "subClass")]
        }
        columns = {
            "root_id": lambda: np.array(self.ids),
            "type": lambda: types[self._array("typeIndices", "<u2")],
            "side": lambda: np.array(SIDES)[self._array("sides", "u1")],
            **{label: lambda names=names: names[self._array("classIndices", "<u2")] for label, names in classes.items()},
        }
        matches = np.ones(self.neurons, dtype=bool)
        for label, value in labels.items():
            matches &= columns[label]() == value
        return np.flatnonzero(matches)


def with_reports(document):
    """The document with reports that say all that Brian 2 has to know."""
    members = {}
    for name, each in document.get("inputs", {}).items():
        members[f"input.{name}"] = each["node_set"] if "node_set" in each else [row["node_set"] for row in each["rates"]]
    for at, each in enumerate(document.get("silence", [])):
        members[f"silence.{at}"] = each["node_set"] if is_timed(each) else each
    for name, each in document.get("connection_overrides", {}).items():
        for end in ("source", "target"):
            members[f"{end}.{name}"] = each[end]
    for at, axis in enumerate(document.get("sweep", [])):
        if "each" in axis:
            responders = isinstance(axis["each"], dict) and "responders_of" in axis["each"]
            if not responders:
                members[f"sweep.{at}"] = axis["each"]
    listed = {name: {"node_set": each, "group_by": ["neuron"]} for name, each in members.items()}
    membranes = {name: each for name, each in document.get("reports", {}).items() if each.get("type") == "membrane"}
    return {
        **document,
        "reports": {
            **{f"membrane.{name}": each for name, each in membranes.items()},
            "events": {"node_set": ALL, "type": "inputs"},
            "raster": {"node_set": ALL, "type": "spikes"},
            **listed,
        },
    }


def is_timed(silenced):
    """Tells whether an item of `silence` has a window of its own."""
    return isinstance(silenced, dict) and "node_set" in silenced


class Condition:
    """What a condition of an answer says: who is stimulated and silenced, how the network is changed, and the events,
    spikes and membranes of each trial."""

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
        silenced = [np.array([], dtype=int)]
        self.windows = []
        for at, each in enumerate(document.get("silence", [])):
            if is_timed(each):
                end_ms = self.duration_ms if each.get("end_ms") is None else each["end_ms"]
                self.windows.append((listed(f"silence.{at}"), steps_of(each.get("start_ms", 0)), steps_of(end_ms)))
            else:
                silenced.append(listed(f"silence.{at}"))
        overrides = {
            name: {"source": listed(f"source.{name}"), "target": listed(f"target.{name}"), "weight": each["weight"]}
            for name, each in document.get("connection_overrides", {}).items()
        }
        for at, axis in enumerate(document.get("sweep", [])):
            if "each" not in axis:
                continue
            labels = self.parameters[axis["as"]]
            group = np.array([], dtype=int) if labels is None else connectome.labelled(labels)
            if labels is not None and f"sweep.{at}" in reports:
                group = np.intersect1d(group, listed(f"sweep.{at}"))
            kind, _, rest = axis["as"].partition(".")
            if kind == "silence":
                silenced.append(group)
            elif kind == "connection_overrides":
                name, end = rest.split(".")
                # Without a group there is no override.
                overrides[name][end] = group
            else:
                members[rest] = group
        self.constants = {**CONSTANTS, **document.get("constants", {})}
        for parameter, value in self.parameters.items():
            kind, _, rest = parameter.partition(".")
            if kind == "constants":
                self.constants[rest] = value
            elif kind == "connection_overrides" and rest.endswith(".weight"):
                overrides[rest.removesuffix(".weight")]["weight"] = value
        # Products of doubles depend on their order: that of the sorted names.
        self.overrides = [overrides[name] for name in sorted(overrides)]
        modules = {name: each["module"] for name, each in document["inputs"].items()}
        with_refractoriness = [each for name, each in members.items() if modules[name] == "background"]
        without = [each for name, each in members.items() if modules[name] != "background"]
        self.stimulated = np.unique(np.concatenate([[], *without])).astype(int)
        self.receiving = np.unique(np.concatenate([self.stimulated, *with_refractoriness])).astype(int)
        self.silenced = np.unique(np.concatenate(silenced)).astype(int)
        self.event_mv = [
            each["event_mv"] if each["module"] == "background" else self.constants["input_event_mv"]
            for each in document["inputs"].values()
        ]
        self.traces = [
            (
                np.array(table["trial"], dtype=int),
                np.rint(np.array(table["t_ms"], dtype=float) * 10).astype(int),
                connectome.places(table["root_id"]),
                np.array(table["v_mv"], dtype=float),
            )
            for name, table in reports.items()
            if name.startswith("membrane.")
        ]
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

    def weights_mv(self, connectome):
        """Of each connection, in mV."""
        factors = np.ones(len(connectome.pre))
        for each in self.overrides:
            met = np.isin(connectome.pre, each["source"]) & np.isin(connectome.post, each["target"])
            factors[met] *= each["weight"]
        scales = [self.constants["inhibitory_scale"], 0, self.constants["excitatory_scale"]]
        scale = np.array(scales)[connectome.signs[connectome.pre] + 1]
        delivered = ~np.isin(connectome.pre, self.silenced)
        return connectome.signed_synapses * delivered * factors * scale * self.constants["synapse_mv"]

    def spikes(self, trial):
        """(step, neuron), each once."""
        trials, steps, neurons, _ = self._spikes
        own = trials == trial
        return list(zip(steps[own].tolist(), neurons[own].tolist()))


def steps_of(ms):
    return int(round(ms * 10))


class Recorded:
    """Results of Brian 2 that are stored in a file, by a digest of all that they depend on."""

    def __init__(self, path):
        self._path = path
        self._trials = {}
        self._is_changed = False
        if path is not None and path.exists():
            with np.load(path) as stored:
                self._trials = dict(stored)
        self._origin = (version("brian2") + inspect.getsource(BrianNetwork)).encode()

    def key(self, connectome, conditions, condition, trial):
        """@param conditions those that share the network: its traced neurons are theirs"""
        digest = hashlib.sha256(self._origin)
        constants = [condition.constants[name] for name in CONSTANTS]
        windows = [each for neurons, begin, end in condition.windows for each in (neurons, [begin], [end])]
        traced = [neurons for each in conditions for _, _, neurons, _ in each.traces]
        for each in (
            *(connectome.pre, connectome.post, condition.weights_mv(connectome), constants, condition.stimulated),
            *([condition.duration_ms], condition.event_mv, *condition.events(trial), *windows, *traced),
        ):
            values = np.asarray(each, dtype=float)
            digest.update(np.array([values.size]).tobytes() + values.tobytes())
        return digest.hexdigest()

    def result(self, key, compute):
        """@returns steps and neurons of spikes, and the potentials of the traced neurons in mV"""
        names = [f"{key}.{part}" for part in ("steps", "neurons", "v_mv")]
        if names[0] not in self._trials:
            self._trials.update(zip(names, compute()))
            self._is_changed = True
        return [self._trials[name] for name in names]

    def save(self):
        if self._path is not None and self._is_changed:
            np.savez_compressed(self._path, **self._trials)


class Network:
    """The network in Brian 2, built once for each delay: building and compiling take longer than most trials."""

    def __init__(self, connectome, conditions, delay_ms, recorded):
        self._connectome = connectome
        self._conditions = conditions
        self._delay_ms = delay_ms
        self._recorded = recorded
        self._traced = np.unique(np.concatenate([[], *(each[2] for own in conditions for each in own.traces)])).astype(int)

    def run(self, condition, trial):
        """@returns spikes (step, neuron), each once, and how far the potentials of the answer are off, in mV"""
        key = self._recorded.key(self._connectome, self._conditions, condition, trial)
        steps, neurons, v_mv = self._recorded.result(key, lambda: self._brian.compute(condition, trial))
        off = 0.0
        for trials, at, traced, found in condition.traces:
            own = trials == trial
            expected = v_mv[np.searchsorted(self._traced, traced[own]), at[own]]
            off = max(off, np.abs(found[own] - expected).max(initial=0))
        return list(zip(steps.tolist(), neurons.tolist())), off

    @cached_property
    def _brian(self):
        return BrianNetwork(self._connectome, self._conditions, self._delay_ms, self._traced)


class BrianNetwork:
    def __init__(self, connectome, conditions, delay_ms, traced):
        """A source of Brian 2 fires at most once a step, as a train does: each input has one for each neuron."""
        global b2, ms, mV
        # Importing it takes seconds, and recorded trials do not need it.
        import brian2 as b2
        from brian2 import ms, mV

        if connectome.neurons < 10_000:
            # Compiling Cython code takes longer than a small network.
            b2.prefs.codegen.target = "numpy"
        self._connectome = connectome
        self._receiving = np.unique(np.concatenate([each.receiving for each in conditions])).astype(int)
        inputs = len(conditions[0].inputs)
        self._windows = max(len(each.windows) for each in conditions)
        windows = "".join(f"from_{k} : integer\nto_{k} : integer\n" for k in range(self._windows))
        self._group = b2.NeuronGroup(
            connectome.neurons,
            f"""dv/dt = (v_rest - v + g) / tau_m : volt (unless refractory)
            dg/dt = -g / tau_s : volt (unless refractory)
            refractory_time : second
            v_threshold : volt (shared)
            {windows}""",
            method="linear",
            threshold="v > v_threshold",
            reset="v = v_rest; g = 0*mV",
            refractory="refractory_time",
            namespace=dict(v_rest=-52 * mV, tau_m=20 * ms, tau_s=5 * ms),
        )
        # The moment of the spike decides, not that of its arrival.
        fired = f"(timestep(t, dt) - {steps_of(delay_ms)})"
        gates = "".join(f" * int({fired} < from_{k}_pre or {fired} >= to_{k}_pre)" for k in range(self._windows))
        delay = delay_ms * ms
        self._synapses = b2.Synapses(self._group, self._group, "w : volt", on_pre=f"g += w{gates}", delay=delay)
        self._synapses.connect(i=connectome.pre, j=connectome.post)
        sources = max(1, len(self._receiving) * inputs)
        self._source = b2.SpikeGeneratorGroup(sources, [], [] * ms)
        self._delivery = b2.Synapses(self._source, self._group, "kick : volt", on_pre="v += kick")
        if len(self._receiving) > 0 and inputs > 0:
            self._delivery.connect(i=np.arange(sources), j=np.tile(self._receiving, inputs))
        self._monitor = b2.SpikeMonitor(self._group)
        self._trace = b2.StateMonitor(self._group, "v", record=traced, when="end")
        self._network = b2.Network(
            self._group, self._synapses, self._source, self._delivery, self._monitor, self._trace
        )
        self._network.store()

    def compute(self, condition, trial):
        self._network.restore()
        self._group.v = -52 * mV
        self._group.v_threshold = condition.constants["threshold_mv"] * mV
        self._group.refractory_time = condition.constants["refractory_ms"] * ms
        if len(condition.stimulated) > 0:
            self._group.refractory_time[condition.stimulated] = 0 * ms
        for k in range(self._windows):
            neurons, begin, end = condition.windows[k] if k < len(condition.windows) else ([], 0, 0)
            getattr(self._group, f"from_{k}")[neurons] = begin
            getattr(self._group, f"to_{k}")[neurons] = end
        self._synapses.w = condition.weights_mv(self._connectome) * mV
        steps, neurons, inputs = condition.events(trial)
        if len(self._receiving) > 0 and condition.inputs:
            self._delivery.kick = np.repeat(condition.event_mv, len(self._receiving)) * mV
        place = np.searchsorted(self._receiving, neurons)
        self._source.set_spikes(inputs * len(self._receiving) + place, steps * 0.1 * ms)
        self._network.run(condition.duration_ms * ms)
        steps = np.rint(np.asarray(self._monitor.t / b2.second) * 1e4).astype(np.int32)
        # Copies, since the next run writes into the arrays of the monitors.
        return steps, np.array(self._monitor.i, dtype=np.int32), np.array(self._trace.v / mV)


def unchanged(answer):
    """Conditions that were not run, with the results of the baseline in their place."""
    baselines = {json.dumps(each["parameters"]): each for each in answer["conditions"]}
    axes = [axis["as"] for axis in answer["experiment"].get("sweep", []) if "each" in axis]
    for parameters in answer["unchanged"]:
        without = [json.dumps({**parameters, axis: None}) for axis in axes]
        baseline = next(baselines[each] for each in without if each in baselines)
        yield {**baseline, "parameters": parameters, "note": " with an unchanged lesion"}


def differences(ours, theirs):
    """How many spikes of Brian 2 are missing, and how many it does not have. A neuron spikes once a step at most."""
    own, other = set(ours), set(theirs)
    if len(own) != len(ours):
        raise SystemExit("The answer has a spike twice.")
    return len(other - own), len(own - other)


def compare(document, lab, connectome, recorded):
    """Prints a line for each condition of a document. @returns spikes of Brian 2, and how many differ"""
    document = with_reports(document)
    try:
        answer = lab.run(**document).json
    except LabError as error:
        raise SystemExit(str(error)) from error
    if connectome.digest is not None and not answer["model"].endswith(connectome.digest[:12]):
        raise SystemExit(f"The service must serve the connectome {connectome.digest[:12]}; got {answer['model']}.")
    answers = [*answer["conditions"], *unchanged(answer)]
    conditions = [Condition(answer, each, connectome) for each in answers]
    networks = {}
    total = differing = 0
    for condition, own in zip(answers, conditions):
        delay_ms = own.constants["delay_ms"]
        if delay_ms not in networks:
            networks[delay_ms] = Network(connectome, conditions, delay_ms, recorded)
        spikes = events = missing = extra = 0
        off = 0.0
        for trial in range(answer["experiment"]["trials"]):
            theirs, off_in_trial = networks[delay_ms].run(own, trial)
            absent, surplus = differences(own.spikes(trial), theirs)
            spikes, missing, extra = spikes + len(theirs), missing + absent, extra + surplus
            events += len(own.events(trial)[0])
            off = max(off, off_in_trial)
        membrane = f", membranes differ by {off:.1e} mV" if own.traces else ""
        print(
            f"condition {condition['index']}{condition.get('note', '')} {json.dumps(own.parameters)}: {answer['experiment']['trials']} trials, "
            f"{events} input events, {spikes} spikes of Brian 2, {missing} missing, {extra} extra{membrane}",
            flush=True,
        )
        total += spikes
        differing += missing + extra + (off > MAX_DIFFERENCE_MV)
    print(f"Brian 2 {version('brian2')}, {answer['model']}: {total} spikes, {differing} differ.", flush=True)
    return differing


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("documents", metavar="DOCUMENT.json", type=Path, nargs="+")
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--connectome", metavar="FILE", help="the connectome that the service serves")
    source.add_argument("--tables", metavar="DIR", help="tables of FlyWire, from which it was compiled")
    source.add_argument("--edges", metavar="FILE", help="table of connections of a laboratory; needs --neurons")
    parser.add_argument("--neurons", metavar="FILE", help="its table of neurons")
    parser.add_argument("--signs", choices=["corrected", "predicted"], default="corrected", help="rule for --tables")
    parser.add_argument("--minimum-synapses", type=int, help="pairs with fewer are left out; 5, with --edges 1 by default")
    parser.add_argument("--url", default="http://localhost:8080", help="address of the service")
    parser.add_argument("--recorded", metavar="FILE.npz", type=Path, help="results of Brian 2 that are stored")
    options = parser.parse_args()
    if options.connectome is not None:
        connectome = Connectome(options.connectome)
    elif options.tables is not None:
        connectome = RawTables.of_flywire(options.tables, options.signs, options.minimum_synapses or 5)
    else:
        connectome = RawTables.of_laboratory(options.edges, options.neurons, options.minimum_synapses or 1)
    recorded = Recorded(options.recorded)
    documents = [json.loads(each.read_text()) for each in options.documents]
    differing = [compare(each, Lab(options.url), connectome, recorded) for each in documents]
    recorded.save()
    return 1 if any(differing) else 0


if __name__ == "__main__":
    sys.exit(main())
