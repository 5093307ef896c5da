/**
 * The threads of the GPU process, without a GPU: batches are prepared and read as usual, but the CPU engine computes
 * the results of the GPU's thread. It has the faults of a real GPU, each for protocols of a
 * seed of its own.
 */
import { workerData } from 'node:worker_threads';
import { valueSymbol } from 'piscina';
import { viewConnectome } from '../../dist/engine/connectome/sections.js';
import { KernelEngine } from '../../dist/engine/simulation/cpu/kernel-engine.js';
import { WINDOW_STEPS } from '../../dist/engine/simulation/gpu/number-format.js';
import { NO_NEURON, STEP_BITS } from '../../dist/engine/simulation/gpu/pipeline-shape.js';
import { compileKernel } from '../../dist/workers/pool/kernel-file.js';
import * as really from '../../dist/workers/gpu/gpu.worker.js';

const UNCERTIFIED_SEED = 1_001;
const CRASH_SEED = 1_002;
const HANG_SEED = 1_003;
const DEVICE_LOST_SEED = 1_004;
const NO_ROOM_SEED = 1_005;
const ZEROS_SEED = 1_006;
const UNPREPARED_SEED = 1_007;
const UNREAD_SEED = 1_008;

const WIDTHS = [1, 4];
/** Slots for the spikes of an experiment in a window; the brains of the tests have fewer neurons. */
const SLOTS = 512;

const connectome = viewConnectome(workerData.connectome);
const engine = new KernelEngine(compileKernel(), connectome);

export const open = () => done({ adapter: 'a pretended GPU', room: roomOf(connectome) });

export async function prepare(task) {
  const seeds = seedsOf(task);
  if (seeds.includes(UNPREPARED_SEED)) process.exit();
  const answer = await really.prepare(task);
  // Along with the tables, so that the GPU's thread knows which fault is wanted.
  answer[valueSymbol].result.seeds = seeds;
  return answer;
}

export function read(task) {
  if (seedsOf(task).includes(UNREAD_SEED)) process.exit();
  return really.read(task);
}

function roomOf({ neuronCount }) {
  const counts = { neuronCount, groupCount: 1, chunkCount: 1 };
  return { ...counts, widths: WIDTHS, largestArrayBytes: Infinity, largestReadbackBytes: Infinity };
}

const done = (result) => ({ ok: true, result });

function seedsOf({ protocols }) {
  return protocols.map(({ inputs: [input] }) => input?.train.seed);
}

export function simulate({ seeds, shape, silenced, inputs }) {
  if (seeds.includes(CRASH_SEED)) process.kill(process.pid, 'SIGSEGV');
  if (seeds.includes(HANG_SEED)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (seeds.includes(DEVICE_LOST_SEED)) {
    return { ok: false, failure: { code: 'GPU_FAILED', message: 'The device was lost.' } };
  }
  if (seeds.includes(NO_ROOM_SEED) && shape.width > 1) return done(undefined);
  const { width, windows } = shape;
  const lists = Array.from({ length: windows }, () => new Float32Array(width * SLOTS).fill(1));
  const unflagged = new Float32Array(width);
  seeds.forEach((seed, experiment) => {
    const events = eventsOf(inputs, shape, experiment);
    const cut = silenced.subarray(experiment * shape.silenced, (experiment + 1) * shape.silenced);
    const options = {
      durationSteps: windows * WINDOW_STEPS,
      silenced: Uint32Array.from(cut.filter((neuron) => neuron !== NO_NEURON)),
    };
    listSpikes(engine.simulate(events, options), lists, experiment);
    unflagged[experiment] = seed === UNCERTIFIED_SEED ? 0 : connectome.neuronCount;
  });
  if (seeds.includes(ZEROS_SEED)) for (const list of lists) list.fill(0);
  return done({ width, slots: SLOTS, windows: lists, unflagged });
}

/** The input events of one experiment, out of its tables. */
function eventsOf(inputs, { width, windows, stimulated: slots, layers }, experiment) {
  const row = (number) =>
    inputs.subarray((number * width + experiment) * slots, (number * width + experiment + 1) * slots);
  const stimulated = Uint32Array.from(row(0).filter((neuron) => neuron !== NO_NEURON));
  const events = [];
  for (let window = 0; window < windows; window++) {
    for (let layer = 0; layer < layers; layer++) {
      const bits = row(1 + window * layers + layer);
      stimulated.forEach((neuron, place) => {
        for (let step = 0; step < WINDOW_STEPS; step++) {
          if ((bits[place] >> step) & 1) events.push([window * WINDOW_STEPS + step, neuron]);
        }
      });
    }
  }
  events.sort(([stepA, a], [stepB, b]) => stepA - stepB || a - b);
  return {
    stimulated,
    steps: Uint16Array.from(events, ([step]) => step),
    neurons: Uint32Array.from(events, ([, neuron]) => neuron),
  };
}

/** Writes for each window 1 + the number of spikes, then the spikes by neuron, then that number again. */
function listSpikes({ steps, neurons }, lists, experiment) {
  lists.forEach((list, window) => {
    const numbers = [];
    steps.forEach((step, spike) => {
      if (Math.floor(step / WINDOW_STEPS) !== window) return;
      numbers.push(1 + (step % WINDOW_STEPS) + neurons[spike] * 2 ** STEP_BITS);
    });
    if (numbers.length >= SLOTS) throw new Error(`${numbers.length} spikes in a window of the tests`);
    const own = list.subarray(experiment * SLOTS, (experiment + 1) * SLOTS);
    own.fill(1 + numbers.length);
    own.set(
      numbers.sort((a, b) => a - b),
      1,
    );
  });
}
