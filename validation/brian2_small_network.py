"""Small goldens: a random network of some hundred neurons, simulated by Brian 2.

usage: python3 validation/brian2_small_network.py OUT.json [open|edited]      (Debian: python3-brian)

Everything the run needs is in the file, so the test that replays it needs nothing else. The network is made so
that it is lively and balanced enough for refractory periods, dropped arrivals and inhibition to matter.

Without "open" it runs for 100 ms with one input. With it, it is a smaller network that runs for 5 s with what open
experiments add: inputs that share neurons, a window, an input of rate 0, silenced neurons, some of them stimulated.

With "edited" a sixth of the neurons have the sign 0, and overrides that meet cut, weaken, strengthen and turn
connections, also those of neurons of sign 0 and of neurons to themselves.
"""
import json
import sys
import warnings

warnings.filterwarnings("ignore")
import brian2 as b2
import numpy as np
from brian2 import ms, mV

IS_OPEN = sys.argv[2:] == ["open"]
IS_EDITED = sys.argv[2:] == ["edited"]
NEURONS, CONNECTIONS, MEAN_SYNAPSES, STEPS = (80, 560, 45, 50_000) if IS_OPEN else (300, 7000, 40, 1000)
SEED = 783

b2.prefs.codegen.target = "numpy"
random = np.random.default_rng(SEED)
sign = np.where(random.random(NEURONS) < 0.45, -1, 1)
if IS_EDITED:
    sign[random.random(NEURONS) < 1 / 6] = 0
pairs = random.choice(NEURONS * NEURONS, CONNECTIONS, replace=False)
pairs.sort()
pre, post = pairs // NEURONS, pairs % NEURONS
synapses = 5 + np.floor(random.exponential(MEAN_SYNAPSES, CONNECTIONS)).astype(int)
factor = np.ones(CONNECTIONS)
overrides = []
if IS_EDITED:
    for weight in (0, -1, 0.3, 1.7, 2):
        sources, targets = (np.sort(random.choice(NEURONS, NEURONS // 2, replace=False)) for _ in range(2))
        factor[np.isin(pre, sources) & np.isin(post, targets)] *= weight
        overrides.append({"sources": sources.tolist(), "targets": targets.tolist(), "weight": weight})


def draw(neurons, rate_hz, begin=0, end=STEPS):
    """The input events of some neurons, as (step, neuron)."""
    step, place = np.nonzero(random.random((STEPS, len(neurons))) < rate_hz * 1e-4)
    return [(int(k), int(neurons[p])) for k, p in zip(step, place) if begin <= k < end]


if IS_OPEN:
    chosen = random.choice(NEURONS, 10, replace=False)
    silenced = np.sort(np.concatenate([chosen[:2], random.choice(NEURONS, 4, replace=False)]))
    events = draw(chosen[:6], 25) + draw(chosen[2:8], 60, 10_000, 45_000) + draw(chosen[8:], 0)
    # Where inputs share neurons, some events surely meet.
    events += [event for event in events if event[1] in chosen[2:6]][::40]
    stimulated = np.sort(chosen)
else:
    silenced = np.array([], int)
    stimulated = np.sort(random.choice(NEURONS, 24, replace=False))
    events = draw(stimulated, 150)
events.sort()

group = b2.NeuronGroup(
    NEURONS,
    """dv/dt = (v_rest - v + g) / tau_m : volt (unless refractory)
    dg/dt = -g / tau_s : volt (unless refractory)
    refractory_time : second""",
    method="exact",
    threshold="v > v_threshold",
    reset="v = v_rest; g = 0*mV",
    refractory="refractory_time",
    namespace=dict(v_rest=-52 * mV, v_threshold=-45 * mV, tau_m=20 * ms, tau_s=5 * ms),
)
group.v = -52 * mV
group.refractory_time = 2.2 * ms
group.refractory_time[stimulated] = 0 * ms
connections = b2.Synapses(group, group, "w : volt", on_pre="g += w", delay=1.8 * ms)
connections.connect(i=pre, j=post)
connections.w = synapses * sign[pre] * ~np.isin(pre, silenced) * factor * 0.275 * mV
# One source for each event: a source of Brian 2 fires at most once a step.
steps, neurons = np.array(events).T
source = b2.SpikeGeneratorGroup(len(events), np.arange(len(events)), steps * 0.1 * ms)
delivery = b2.Synapses(source, group, on_pre="v += 68.75*mV")
delivery.connect(i=np.arange(len(events)), j=neurons)
monitor = b2.SpikeMonitor(group)
b2.Network(group, connections, source, delivery, monitor).run(STEPS * 0.1 * ms)

spike_step = np.round(np.asarray(monitor.t / b2.second) * 1e4).astype(int)
spikes = sorted(zip(spike_step.tolist(), np.asarray(monitor.i).tolist()))
golden = {
    "origin": f"Brian 2 {b2.__version__}, validation/brian2_small_network.py, numpy seed {SEED}",
    "steps": STEPS,
    "signs": sign.tolist(),
    "connections": [[int(i), int(j), int(n)] for i, j, n in zip(pre, post, synapses)],
    "stimulated": stimulated.tolist(),
    "silenced": silenced.tolist(),
    **({"overrides": overrides} if IS_EDITED else {}),
    "events": [list(event) for event in events],
    "spikes": [[k, i] for k, i in spikes],
}
with open(sys.argv[1], "w") as out:
    json.dump(golden, out, separators=(",", ":"))
    out.write("\n")
responding = len({i for _, i in spikes})
print(f"{len(spikes)} spikes of {responding} neurons, {len(events)} input events")
