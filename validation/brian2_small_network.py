"""A small golden: a random network of a few hundred neurons, simulated by Brian 2.

usage: python3 validation/brian2_small_network.py OUT.json      (Debian: python3-brian)

Everything the run needs is in the file, so the test that replays it needs nothing else. The network is made so
that it is lively and balanced enough for refractory periods, dropped arrivals and inhibition to matter.
"""
import json
import sys
import warnings

warnings.filterwarnings("ignore")
import brian2 as b2
import numpy as np
from brian2 import ms, mV

NEURONS, STIMULATED, CONNECTIONS, STEPS, RATE_HZ, SEED = 300, 24, 7000, 1000, 150, 783

b2.prefs.codegen.target = "numpy"
random = np.random.default_rng(SEED)
sign = np.where(random.random(NEURONS) < 0.45, -1, 1)
pairs = random.choice(NEURONS * NEURONS, CONNECTIONS, replace=False)
pairs.sort()
pre, post = pairs // NEURONS, pairs % NEURONS
synapses = 5 + np.floor(random.exponential(40, CONNECTIONS)).astype(int)
stimulated = np.sort(random.choice(NEURONS, STIMULATED, replace=False))
kick_step, kick_place = np.nonzero(random.random((STEPS, STIMULATED)) < RATE_HZ * 1e-4)

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
connections.w = synapses * sign[pre] * 0.275 * mV
source = b2.SpikeGeneratorGroup(STIMULATED, kick_place, kick_step * 0.1 * ms)
kick = b2.Synapses(source, group, on_pre="v += 68.75*mV")
kick.connect(i=np.arange(STIMULATED), j=stimulated)
monitor = b2.SpikeMonitor(group)
b2.Network(group, connections, source, kick, monitor).run(STEPS * 0.1 * ms)

spike_step = np.round(np.asarray(monitor.t / b2.second) * 1e4).astype(int)
spikes = sorted(zip(spike_step.tolist(), np.asarray(monitor.i).tolist()))
golden = {
    "origin": f"Brian 2 {b2.__version__}, validation/brian2_small_network.py, numpy seed {SEED}",
    "steps": STEPS,
    "signs": sign.tolist(),
    "connections": [[int(i), int(j), int(n)] for i, j, n in zip(pre, post, synapses)],
    "stimulated": stimulated.tolist(),
    "kicks": [[int(k), int(stimulated[p])] for k, p in zip(kick_step, kick_place)],
    "spikes": [[k, i] for k, i in spikes],
}
with open(sys.argv[1], "w") as out:
    json.dump(golden, out, separators=(",", ":"))
    out.write("\n")
responding = len({i for _, i in spikes})
print(f"{len(spikes)} spikes of {responding} neurons, {len(golden['kicks'])} kicks")
