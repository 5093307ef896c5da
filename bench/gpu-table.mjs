/**
 * npm run bench:gpu:table: what a window of 18 steps costs on a GPU, on paper. Counts threads, bytes and operations of each
 * kernel from the spikes that the CPU engine finds in a batch of trials; says nothing about any GPU that was measured.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runCommand } from '../dist/cli/command.js';
import { readConnectomeFile } from '../dist/connectome/connectome-file.js';
import { openConnectome } from '../dist/connectome/format.js';
import { KernelEngine } from '../dist/engine/backends/cpu/kernel-engine.js';
import { CELL_PARTS } from '../dist/engine/backends/gpu/cells.js';
import {
  CHUNK_GROUPS,
  CHUNK_SUMS,
  GROUP_CONNECTIONS,
  incomingConnections,
} from '../dist/engine/backends/gpu/incoming.js';
import {
  potentialBound,
  QUIET_BELOW,
  QUIET_SYNAPSES,
  WINDOW_STEPS,
} from '../dist/engine/backends/gpu/number-format.js';
import { neuronIndexById, parseGolden } from '../dist/engine/golden.js';
import {
  INPUT_EVENT_MV,
  MEMBRANE_DECAY,
  REFRACTORY_STEPS,
  STEPS_PER_MS,
  SYNAPSE_DECAY,
  SYNAPSE_MV,
  SYNAPSE_TO_MEMBRANE,
} from '../dist/engine/network.js';
import { drawInputEvents } from '../dist/experiment/input-events.js';
import { v1Protocol } from '../dist/experiment/protocol.js';
import { compileKernel } from '../dist/pool/kernel-file.js';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

const FLOAT = 4;
/** What a read of a single float that no neighbour needs takes from memory. */
const SECTOR = 32;
/** A card of 132 multiprocessors with 128 lanes at 1.7 GHz. */
const OPERATIONS_PER_S = 132 * 128 * 1.7e9;
/** From the end of a pass to the beginning of the next: a barrier and a start. */
const DISPATCH_US = 4;
const WORDS_BITS = 24;
/** A float in 16ths of 2^24 units: a synapse is 2^32 units. */
const HIGH_FLOATS_PER_SYNAPSE = 256;
const EVENT_SYNAPSES = INPUT_EVENT_MV / (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE);

/** Operations of a thread, counted in the text of kernels.ts: a multiplication with addition, a shift, a load is one. */
const OPERATIONS = {
  cell: 60,
  group: 8,
  connection: 20,
  arrival: 20,
  arrivalOfStep: 90,
  quiet: 120,
  step: 140,
  hubStep: 8,
  mask: 8 * GROUP_CONNECTIONS,
  bit: 5,
};

await runCommand({
  name: 'bench:gpu:table',
  summary: 'Counts bytes and operations of the GPU kernels for a batch of trials.',
  options: {
    connectome: {
      type: 'string',
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'What is simulated.',
    },
    stimulus: { type: 'string', value: 'NAME', default: 'food', help: 'Stimulus, at its own rate.' },
    golden: {
      type: 'string',
      value: 'FILE',
      help: 'Take the stimulated neurons and their mean rate from it instead.',
    },
    neurons: { type: 'string', value: 'N', help: 'Stimulate the first N neurons instead, with 100 Hz.' },
    duration: { type: 'string', value: 'MS', default: '100', help: 'Duration of a trial.' },
    batch: { type: 'string', value: 'N', default: '32', help: 'Trials side by side.' },
    json: { type: 'boolean', help: 'Print the result as JSON alone.' },
  },
  run: count,
});

async function count(options) {
  const batch = wholeNumber('batch', options.batch, 128);
  const durationSteps = wholeNumber('duration', options.duration, 5000) * STEPS_PER_MS;
  const connectome = openConnectome(await readConnectomeFile(options.connectome));
  const { neurons, rateHz, silenced } = stimulationOf(connectome, options);
  const cpu = new KernelEngine(compileKernel(), connectome);
  const cpuMs = [];
  const trials = Array.from({ length: batch }, (_, seed) => {
    const train = { nominalRateHz: rateHz, intensity: 1, seed };
    const events = drawInputEvents(v1Protocol(neurons, train, durationSteps), String);
    const [ms, trial] = timed(() => cpu.simulate(events, { durationSteps, silenced }));
    cpuMs.push(ms);
    return { events, trial };
  });
  const incoming = incomingConnections(connectome);
  const counted = countWindows(connectome, incoming, trials, silenced, durationSteps);
  const rows = tableOf(connectome, incoming, batch, counted);
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const usAt = (key) =>
    rows.reduce((total, row) => total + DISPATCH_US + Math.max(row[key], row.operationsUs), 0);
  const windows = Math.ceil(durationSteps / WINDOW_STEPS);
  const summary = {
    spikesOfTrial: median(trials.map(({ trial }) => trial.steps.length)),
    eventsOfTrial: median(trials.map(({ trial }) => trial.deliveredEvents)),
    ...Object.fromEntries(Object.entries(counted).map(([key, value]) => [key, rounded(value, 0)])),
    megabytesOfWindow: rounded(sum('megabytes'), 1),
    windowUsAt3: rounded(usAt('us3'), 0),
    windowUsAt5: rounded(usAt('us5'), 0),
    gpuMsOfTrialAt3: rounded((usAt('us3') * windows) / batch / 1000, 2),
    gpuMsOfTrialAt5: rounded((usAt('us5') * windows) / batch / 1000, 2),
    cpuMsOfTrial: rounded(median(cpuMs), 2),
  };
  if (options.json) {
    console.log(JSON.stringify({ rows, summary }));
    return 0;
  }
  printRows(
    rows.map(({ bound, ...row }) => ({
      ...Object.fromEntries(
        Object.entries(row).map(([key, value]) => [
          key,
          typeof value === 'number' ? rounded(value, 2) : value,
        ]),
      ),
      bound,
    })),
    false,
  );
  console.log();
  for (const [key, value] of Object.entries(summary)) console.log(`${key}: ${value}`);
  return 0;
}

function stimulationOf(connectome, { golden, neurons, stimulus }) {
  const none = new Uint32Array(0);
  if (neurons !== undefined) {
    const number = wholeNumber('neurons', neurons, connectome.neuronCount);
    return { neurons: Uint32Array.from({ length: number }, (_, i) => i), rateHz: 100, silenced: none };
  }
  if (golden !== undefined) {
    const csv = gunzipSync(readFileSync(golden)).toString();
    const run = parseGolden(csv, basename(golden), neuronIndexById(connectome));
    const { steps, stimulated } = run.events;
    const rateHz = steps.length / stimulated.length / (run.durationSteps / STEPS_PER_MS / 1000);
    return { neurons: stimulated, rateHz, silenced: run.silenced ?? none };
  }
  const { nominalRateHz } = connectome.metadata.stimuli.find(({ id }) => id === stimulus);
  return { neurons: connectome.stimulusNeurons(stimulus), rateHz: nominalRateHz, silenced: none };
}

/** Means of all windows: what is active in any trial of the batch, and what each cell has to do. */
function countWindows(connectome, incoming, trials, silenced, durationSteps) {
  const { neuronCount, rowStart, targets, synapseCounts, signs } = connectome;
  const { firstGroup, firstChunk, groupCount } = incoming;
  const windows = Math.ceil(durationSteps / WINDOW_STEPS);
  const isSilenced = new Uint8Array(neuronCount);
  for (const neuron of silenced) isSilenced[neuron] = 1;
  const isHub = Uint8Array.from({ length: neuronCount }, (_, i) =>
    firstChunk[i + 1] > firstChunk[i] ? 1 : 0,
  );
  // Group of each connection, in the order of the wiring.
  const groupOf = new Uint32Array(targets.length);
  const filled = new Uint32Array(neuronCount);
  for (let c = 0; c < targets.length; c++) {
    groupOf[c] = firstGroup[targets[c]] + Math.floor(filled[targets[c]]++ / GROUP_CONNECTIONS);
  }
  const powers = (decay) => Float64Array.from({ length: WINDOW_STEPS + 1 }, (_, n) => decay ** n);
  const [a, b] = [powers(MEMBRANE_DECAY), powers(SYNAPSE_DECAY)];
  const states = trials.map(() => ({
    u: new Float64Array(neuronCount),
    h: new Float64Array(neuronCount),
    availableFrom: new Int32Array(neuronCount),
    spike: 0,
    event: 0,
  }));
  const exciting = new Float64Array(neuronCount);
  const all = new Float64Array(neuronCount);
  const hasEvents = new Uint8Array(neuronCount);
  // What a warp does is what any of its trials needs.
  const needs = new Uint8Array(neuronCount);
  const [QUIET, ARRIVALS, BUSY] = [1, 2, 4];
  const groupStamp = new Int32Array(groupCount).fill(-1);
  const sourceStamp = new Int32Array(neuronCount).fill(-1);
  const total = {
    activeNeurons: 0,
    activeGroups: 0,
    activeConnections: 0,
    activeHubConnections: 0,
    quietNeurons: 0,
    arrivalNeurons: 0,
    busyNeurons: 0,
    idleNeurons: 0,
    arrivals: 0,
    hubArrivals: 0,
  };
  for (let window = 0; window < windows; window++) {
    const first = window * WINDOW_STEPS;
    needs.fill(0);
    trials.forEach(({ trial, events }, at) => {
      const state = states[at];
      const { u, h, availableFrom } = state;
      const reached = [];
      // What was emitted in the last window arrives in this one.
      for (; state.spike < trial.steps.length && trial.steps[state.spike] < first; state.spike++) {
        const pre = trial.neurons[state.spike];
        const step = trial.steps[state.spike] + WINDOW_STEPS - first;
        const isNew = sourceStamp[pre] !== window;
        sourceStamp[pre] = window;
        if (isNew) total.activeNeurons++;
        if (step < 0) continue;
        for (let c = rowStart[pre]; c < rowStart[pre + 1]; c++) {
          const post = targets[c];
          if (isNew) {
            if (isHub[post]) total.activeHubConnections++;
            else total.activeConnections++;
            if (groupStamp[groupOf[c]] !== window) total.activeGroups++;
            groupStamp[groupOf[c]] = window;
          }
          if (isSilenced[pre]) continue;
          if (isHub[post]) total.hubArrivals++;
          else total.arrivals++;
          const synapses = signs[pre] * synapseCounts[c];
          if (all[post] === 0) reached.push(post);
          all[post] += Math.abs(synapses);
          exciting[post] += Math.max(0, synapses);
          // Read together with the decay below.
          u[post] += (synapses * a[WINDOW_STEPS - 1 - step]) / a[WINDOW_STEPS];
          h[post] += (synapses * b[WINDOW_STEPS - 1 - step]) / b[WINDOW_STEPS];
        }
      }
      const hit = [];
      for (
        ;
        state.event < events.steps.length && events.steps[state.event] < first + WINDOW_STEPS;
        state.event++
      ) {
        const neuron = events.neurons[state.event];
        hit.push(neuron);
        hasEvents[neuron] = 1;
        u[neuron] += EVENT_SYNAPSES;
      }
      for (let i = 0; i < neuronCount; i++) {
        const refractory = availableFrom[i] - first;
        if (refractory >= WINDOW_STEPS || (u[i] === 0 && h[i] === 0 && all[i] === 0)) continue;
        const bound = potentialBound(
          HIGH_FLOATS_PER_SYNAPSE * u[i],
          HIGH_FLOATS_PER_SYNAPSE * h[i],
          exciting[i],
        );
        const isQuiet =
          hasEvents[i] === 0 && refractory <= 0 && all[i] <= QUIET_SYNAPSES && bound < QUIET_BELOW;
        if (isQuiet) needs[i] |= QUIET;
        else if (all[i] > 0 || hasEvents[i] > 0 || refractory <= 0) needs[i] |= BUSY;
        if (all[i] > 0) needs[i] |= ARRIVALS;
        u[i] *= a[WINDOW_STEPS];
        h[i] *= b[WINDOW_STEPS];
      }
      for (const i of reached) all[i] = exciting[i] = 0;
      for (const i of hit) hasEvents[i] = 0;
      const isStimulated = new Set(events.stimulated);
      for (let at = state.spike; at < trial.steps.length && trial.steps[at] < first + WINDOW_STEPS; at++) {
        const i = trial.neurons[at];
        u[i] = h[i] = 0;
        availableFrom[i] = trial.steps[at] + (isStimulated.has(i) ? 1 : REFRACTORY_STEPS);
      }
    });
    for (let i = 0; i < neuronCount; i++) {
      if (needs[i] === 0) total.idleNeurons++;
      if (needs[i] & QUIET) total.quietNeurons++;
      if (needs[i] & ARRIVALS) total.arrivalNeurons++;
      if (needs[i] & BUSY) total.busyNeurons++;
    }
  }
  return Object.fromEntries(Object.entries(total).map(([key, value]) => [key, value / windows]));
}

/** One row for each pass of a window. Every array is taken to be read from memory once, and written once. */
function tableOf({ neuronCount }, incoming, width, counted) {
  const { groupCount, firstChunk } = incoming;
  const chunks = firstChunk[neuronCount];
  const hubs = firstChunk.reduce((sum, first, i) => sum + (i > 0 && first > firstChunk[i - 1] ? 1 : 0), 0);
  const lanes = Math.max(32, width);
  const words = neuronCount / WORDS_BITS;
  const cells = neuronCount * width;
  const gathered = (connections) => connections * 2 * SECTOR + counted.activeNeurons * width * FLOAT;
  const rows = 4 ** Math.ceil(Math.log(Math.max(256, 2 * counted.activeNeurons)) / Math.log(4));
  const lightGroups =
    groupCount * (1 - (chunks * CHUNK_GROUPS) / Math.max(groupCount, chunks * CHUNK_GROUPS));
  const arrivalsOfLanes = counted.arrivals * (lanes / width);
  const passes = [
    [
      'chunkSums',
      chunks * CHUNK_SUMS * width,
      groupCount * FLOAT + gathered(counted.activeHubConnections) + chunks * CHUNK_SUMS * width * FLOAT,
      chunks * CHUNK_SUMS * lanes * CHUNK_GROUPS * OPERATIONS.group +
        counted.activeHubConnections * CHUNK_SUMS * lanes * OPERATIONS.connection,
    ],
    [
      'nextCells',
      cells * CELL_PARTS,
      2 * cells * CELL_PARTS * FLOAT -
        counted.idleNeurons * width * (CELL_PARTS - 1) * FLOAT +
        groupCount * FLOAT +
        gathered(counted.activeConnections) +
        chunks * CHUNK_SUMS * width * FLOAT,
      CELL_PARTS *
        lanes *
        (neuronCount * OPERATIONS.cell +
          lightGroups * OPERATIONS.group +
          counted.activeConnections * OPERATIONS.connection +
          counted.quietNeurons * OPERATIONS.quiet +
          counted.busyNeurons * WINDOW_STEPS * OPERATIONS.step +
          hubs * (chunks / Math.max(1, hubs)) * WINDOW_STEPS * OPERATIONS.hubStep) +
        CELL_PARTS *
          arrivalsOfLanes *
          (OPERATIONS.arrival +
            OPERATIONS.arrivalOfStep *
              Math.min(1, counted.busyNeurons / Math.max(1, counted.arrivalNeurons))),
    ],
    ['activeNeurons', neuronCount, (cells + neuronCount) * FLOAT, cells * OPERATIONS.bit],
    ['activeWords', 2 * words, (neuronCount + 2 * words) * FLOAT, 2 * neuronCount * OPERATIONS.bit],
    ['activeCounts', words / 64, words * FLOAT, words * OPERATIONS.bit],
    [
      'spikeRows',
      rows * (width + 1),
      (rows * (width + 1) + counted.activeNeurons * width) * FLOAT,
      rows * (width + 1) * 150 * OPERATIONS.bit,
    ],
    [
      'connectionMasks',
      groupCount,
      groupCount * (GROUP_CONNECTIONS + 1) * FLOAT,
      groupCount * OPERATIONS.mask,
    ],
  ];
  return passes.map(([kernel, threads, bytes, operations]) => {
    const [us3, us5] = [bytes / 3e6, bytes / 5e6];
    const operationsUs = (operations / OPERATIONS_PER_S) * 1e6;
    const bound =
      Math.max(us3, operationsUs) < DISPATCH_US ? 'dispatch' : us3 > operationsUs ? 'memory' : 'operations';
    return {
      kernel,
      kiloThreads: threads / 1000,
      megabytes: bytes / 1e6,
      us3,
      us5,
      megaOperations: operations / 1e6,
      operationsUs,
      bound,
    };
  });
}
