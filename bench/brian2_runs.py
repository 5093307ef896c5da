"""Brian 2's side of bench/brian.mjs.

usage: brian2_runs.py DIR

DIR holds the wiring and the input events (inputs.json and arrays, little-endian, named after their type). Each line of
standard input names a stimulus: it is run from rest, its spikes go to DIR, and one line of standard output has
the milliseconds of the simulation loop. Building and compiling are not part of it.
"""
import json
import sys
import warnings
from pathlib import Path

warnings.filterwarnings('ignore')
import brian2 as b2
import numpy as np
from brian2 import ms, mV

DIR = Path(sys.argv[1])
inputs = json.loads((DIR / 'inputs.json').read_text())
network = inputs['network']
TYPES = {'u16': '<u2', 'u32': '<u4', 'i16': '<i2'}


def read(name):
    return np.fromfile(DIR / name, dtype=TYPES[name.rsplit('.')[-1]]).astype(int)


def write(name, values):
    np.asarray(values).astype(TYPES[name.rsplit('.')[-1]]).tofile(DIR / name)


b2.prefs.codegen.target = 'cython'
step = network['stepMs'] * ms
b2.defaultclock.dt = step

neurons = b2.NeuronGroup(
    inputs['neuronCount'],
    '''dv/dt = (v_rest - v + g) / tau_m : volt (unless refractory)
       dg/dt = -g / tau_s : volt (unless refractory)
       refractory_time : second''',
    method='linear',
    threshold='v > v_th',
    reset='v = v_reset; g = 0*mV',
    refractory='refractory_time',
    namespace=dict(
        v_rest=network['restMv'] * mV,
        v_reset=network['resetMv'] * mV,
        v_th=network['thresholdMv'] * mV,
        tau_m=network['tauMembraneMs'] * ms,
        tau_s=network['tauSynapseMs'] * ms,
    ),
)
synapses = b2.Synapses(neurons, neurons, 'w : volt', on_pre='g += w', delay=network['delaySteps'] * step)
synapses.connect(i=read('pre.u32'), j=read('post.u32'))
synapses.w = read('signed_counts.i16') * network['synapseMv'] * mV

# One source for each stimulated neuron of each stimulus, so that one network serves all of them.
stimulated = {name: read(f'{name}.stimulated.u32') for name in inputs['stimuli']}
targets = np.concatenate(list(stimulated.values()))
first_source = dict(zip(stimulated, np.cumsum([0] + [len(each) for each in stimulated.values()])))
sources = b2.SpikeGeneratorGroup(len(targets), [], [] * ms)
delivery = b2.Synapses(sources, neurons, on_pre=f'v += {network["inputEventMv"]}*mV')
delivery.connect(i=np.arange(len(targets)), j=targets)

monitor = b2.SpikeMonitor(neurons)
net = b2.Network(neurons, synapses, sources, delivery, monitor)
net.store()

for line in sys.stdin:
    name = line.strip()
    net.restore()
    neurons.v = network['restMv'] * mV
    neurons.refractory_time = network['refractorySteps'] * step
    neurons.refractory_time[stimulated[name]] = 0 * ms
    order = np.argsort(stimulated[name])
    place = order[np.searchsorted(stimulated[name][order], read(f'{name}.event_neurons.u32'))]
    sources.set_spikes(first_source[name] + place, read(f'{name}.event_steps.u16') * step)

    elapsed = []
    net.run(
        inputs['steps'] * step,
        report=lambda seconds, completed, start, duration: elapsed.append(float(seconds)),
        report_period=1e9 * b2.second,
    )
    spike_steps = np.round(np.asarray(monitor.t / step)).astype(int)
    spike_neurons = np.asarray(monitor.i)
    by_step = np.lexsort((spike_neurons, spike_steps))
    write(f'{name}.spike_steps.u16', spike_steps[by_step])
    write(f'{name}.spike_neurons.u32', spike_neurons[by_step])
    print(elapsed[-1] * 1000, flush=True)
