/**
 * npm run bench:floor compares the kernel with a loop that only delivers synaptic events.
 *
 * The floor does only the work that every simulation of this network needs: for each synaptic event it reads
 * the connection and adds its weight to the two numbers of the target. The spikes are given, and nothing is
 * compared or stored. As in the kernel, connections come in pairs with the addresses of their targets; the loop
 * takes two pairs a turn. It is compiled by the same compiler and measured in turn with the kernel.
 */
import asc from 'assemblyscript/asc';
import { runCommand } from '../dist/tools/cli/command.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { KernelEngine } from '../dist/engine/simulation/cpu/kernel-engine.js';
import { DEFAULT_EXPERIMENT } from '../dist/experiments/presets/experiment.js';
import { DELAY_STEPS, STEPS_PER_MS } from '../dist/engine/simulation/network.js';
import { compileKernel } from '../dist/workers/pool/kernel-file.js';
import { eventsOf } from './experiments.mjs';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

/** Layout of the kernel: a neuron is two doubles, a connection a word of its target's address and signed synapses. */
const ADDRESS_BITS = 22;
const NEURON_SHIFT = 4;
const PAIR = (offset) => `
      const synapses${offset} = f64x2.convert_low_i32x4_s(i32x4.shr_s(v128.load64_zero(at, ${offset}), ${ADDRESS_BITS}));
      const first${offset} = neurons + <usize>(load<u32>(at, ${offset}) & ${2 ** ADDRESS_BITS - 1});
      v128.store(first${offset}, f64x2.add(v128.load(first${offset}),
        f64x2.mul(v128.shuffle<f64>(synapses${offset}, synapses${offset}, 0, 2), weight)));
      const second${offset} = neurons + <usize>(load<u32>(at, ${offset + 4}) & ${2 ** ADDRESS_BITS - 1});
      v128.store(second${offset}, f64x2.add(v128.load(second${offset}),
        f64x2.mul(v128.shuffle<f64>(synapses${offset}, synapses${offset}, 1, 3), weight)));`;
const LOOP = `
export function deliver(rows: usize, words: usize, neurons: usize, spikes: usize, spikeCount: u32): void {
  const weight = f64x2(0.0917, 0.0306);
  for (let q: u32 = 0; q < spikeCount; q++) {
    const row = rows + (<usize>load<u32>(spikes + (<usize>q << 2)) << 2);
    const end = words + (<usize>load<u32>(row, 4) << 2);
    for (let at = words + (<usize>load<u32>(row) << 2); at < end; at += 16) {${PAIR(0)}${PAIR(8)}
    }
  }
}`;
/** Rows are filled up to a whole turn of the loop. */
const WORDS_A_TURN = 4;

class Floor {
  static async of(connectome) {
    const { error, binary, stderr } = await asc.compileString(LOOP, {
      optimizeLevel: 3,
      noAssert: true,
      runtime: 'stub',
      enable: ['simd'],
      importMemory: true,
    });
    if (error) throw new Error(stderr.toString());
    return new Floor(connectome, binary);
  }

  constructor({ neuronCount, rowStart, targets, synapseCounts, signs }, binary) {
    const turns = (i) => Math.ceil((rowStart[i + 1] - rowStart[i]) / WORDS_A_TURN);
    const starts = new Uint32Array(neuronCount + 1);
    for (let i = 0; i < neuronCount; i++) starts[i + 1] = starts[i] + WORDS_A_TURN * turns(i);
    // The compiler uses the beginning of the memory.
    let end = 4096;
    const place = (bytes) => (end = (end + bytes + 15) & ~15) - ((bytes + 15) & ~15);
    this.rows = place(4 * (neuronCount + 1));
    this.words = place(4 * starts[neuronCount]);
    this.neurons = place(16 * (neuronCount + 1));
    this.spikes = end;
    const pages = Math.ceil((end + 4 * 2 ** 22) / 65_536);
    this.memory = new WebAssembly.Memory({ initial: pages });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(binary), {
      env: { memory: this.memory, abort: () => {} },
    });
    this.loop = exports.deliver;
    new Uint32Array(this.memory.buffer, this.rows, neuronCount + 1).set(starts);
    const words = new Int32Array(this.memory.buffer, this.words, starts[neuronCount]);
    // Padding of a row goes to an extra neuron after the last one.
    words.fill(neuronCount << NEURON_SHIFT);
    const maxSynapses = 2 ** (31 - ADDRESS_BITS) - 1;
    for (let i = 0; i < neuronCount; i++) {
      for (let c = rowStart[i], at = starts[i]; c < rowStart[i + 1]; c++, at++) {
        const synapses = signs[i] * Math.min(synapseCounts[c], maxSynapses);
        words[at] = (synapses << ADDRESS_BITS) | (targets[c] << NEURON_SHIFT);
      }
    }
  }

  /** Loads the spikes that arrive before the run ends. */
  take({ steps, neurons }, durationSteps) {
    const arriving = neurons.filter((_, q) => steps[q] + DELAY_STEPS < durationSteps);
    new Uint32Array(this.memory.buffer, this.spikes, arriving.length).set(arriving);
    this.spikeCount = arriving.length;
  }

  deliver() {
    this.loop(this.rows, this.words, this.neurons, this.spikes, this.spikeCount);
  }
}

await runCommand({
  name: 'bench:floor',
  summary: 'Times the kernel beside a loop that only delivers the same synaptic events.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to simulate.',
    },
    stimuli: { value: 'LIST', default: 'sugar,loom,food', help: 'Comma list of stimuli.' },
    duration: { value: 'MS', default: '100', help: 'Duration of a run.' },
    rounds: { value: 'N', default: '50', help: 'How often each case is run.' },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  async run(options) {
    const connectome = openConnectome(await readConnectomeFile(options.connectome));
    const durationMs = wholeNumber('duration', options.duration, 5000);
    const rounds = wholeNumber('rounds', options.rounds, 10_000);
    const kernel = new KernelEngine(compileKernel(), connectome);
    const floor = await Floor.of(connectome);
    const rows = options.stimuli.split(',').map((stimulus) => {
      const steps = durationMs * STEPS_PER_MS;
      const inputEvents = eventsOf(connectome, { ...DEFAULT_EXPERIMENT, stimulus, duration_ms: durationMs });
      const raster = kernel.simulate(inputEvents, { durationSteps: steps });
      floor.take(raster, steps);
      const times = { kernel: [], floor: [] };
      for (let round = 0; round < rounds; round++) {
        times.kernel.push(timed(() => kernel.simulate(inputEvents, { durationSteps: steps }))[0]);
        times.floor.push(timed(() => floor.deliver())[0]);
      }
      const events = raster.deliveredEvents;
      return {
        stimulus,
        events,
        kernelMs: rounded(median(times.kernel), 3),
        floorMs: rounded(median(times.floor), 3),
        kernelNsPerEvent: rounded((median(times.kernel) * 1e6) / events, 2),
        floorNsPerEvent: rounded((median(times.floor) * 1e6) / events, 2),
        fastestKernelNs: rounded((Math.min(...times.kernel) * 1e6) / events, 2),
        fastestFloorNs: rounded((Math.min(...times.floor) * 1e6) / events, 2),
        // Ratio of each round, since a slow spell of the machine slows both.
        timesFloor: rounded(median(times.kernel.map((ms, round) => ms / times.floor[round])), 2),
      };
    });
    printRows(rows, options.json);
  },
});
