/**
 * npm run bench:gpu:table: what a window of 18 steps costs on a GPU, on paper. Counts threads, bytes and operations of each
 * kernel from the spikes that the CPU engine finds in a batch of trials; says nothing about any GPU that was measured. Times
 * what the other threads do for the batch, as far as it needs no GPU.
 */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runCommand } from '../dist/cli/command.js';
import { readConnectomeFile } from '../dist/connectome/connectome-file.js';
import { openConnectome } from '../dist/connectome/format.js';
import { KernelEngine } from '../dist/engine/backends/cpu/kernel-engine.js';
import { outDegreesOf, runsOf } from '../dist/engine/backends/gpu/batch-runs.js';
import { batchTables, placesForSpikes } from '../dist/engine/backends/gpu/batch-tables.js';
import { BLOCK_CELLS, STATE_PARTS, STEP_BITS } from '../dist/engine/backends/gpu/cells.js';
import { CHUNK_SUMS, GROUP_CONNECTIONS, incomingConnections } from '../dist/engine/backends/gpu/incoming.js';
import {
  LIGHT_FLOAT_BELOW,
  LIGHT_SYNAPSES,
  potentialBound,
  QUIET_BELOW,
  THRESHOLD_UNITS,
  WINDOW_STEPS,
} from '../dist/engine/backends/gpu/number-format.js';
import { BLOCK_WORDS, WORD_NEURONS } from '../dist/engine/backends/gpu/pipeline-shape.js';
import { mostSpikesOf } from '../dist/engine/backends/gpu/spike-lists.js';
import { neuronIndexById, parseGolden } from '../dist/engine/golden.js';
import { copyOf } from '../dist/engine/simulation.js';
import {
  INPUT_EVENT_MV,
  MEMBRANE_DECAY,
  REFRACTORY_STEPS,
  STEPS_PER_MS,
  SYNAPSE_DECAY,
  SYNAPSE_MV,
  SYNAPSE_TO_MEMBRANE,
} from '../dist/engine/network.js';
import { compiledDrawing } from '../dist/experiment/compiled-drawing.js';
import { v1Protocol } from '../dist/experiment/protocol.js';
import { compileDrawingKernel, compileKernel } from '../dist/pool/kernel-file.js';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

const FLOAT = 4;
/** What a read of a single float that no neighbour needs takes from memory. */
const SECTOR = 32;
/** A card of 132 multiprocessors with 128 lanes at 1.7 GHz. */
const OPERATIONS_PER_S = 132 * 128 * 1.7e9;
/** From the end of a pass to the beginning of the next: a barrier and a start. */
const DISPATCH_US = 4;
/** How often what the host does is timed. */
const ROUNDS = 25;
/** A float in 16ths of 2^24 units: a synapse is 2^32 units. */
const HIGH_FLOATS_PER_SYNAPSE = 256;
const EVENT_SYNAPSES = INPUT_EVENT_MV / (SYNAPSE_MV * SYNAPSE_TO_MEMBRANE);

/** Operations of a thread, counted in the text of kernels.ts: a multiplication with addition, a shift, a load is one. */
const OPERATIONS = {
  /** Of nextStatuses, in every cell, and in those that have a state or get something. */
  status: 32,
  statusOfState: 25,
  /** Of nextStates, in every thread, and in those of a cell with a state after the window. */
  part: 10,
  state: 35,
  stateAtOnce: 80,
  /** A group of connections; one with an active source; its spike, added to a sum, by its decay, to one of 18 sums. */
  group: 8,
  connection: 20,
  arrivalOfSum: 24,
  arrivalOfDecay: 38,
  arrivalOfStep: 85,
  /** A step of u, h and the threshold; of u or h alone. */
  step: 140,
  stepOfState: 70,
  /** A sum of a chunk of a hub. */
  sumOfChunk: 8,
  mask: 8 * GROUP_CONNECTIONS,
  bit: 5,
  spike: 10,
};
const THRESHOLD_SYNAPSES = Number(THRESHOLD_UNITS) / 2 ** 32;

await runCommand({
  name: 'bench:gpu:table',
  summary:
    'Counts bytes and operations of the GPU kernels for a batch of trials, and times what the host does for it.',
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
  const draw = compiledDrawing(compileDrawingKernel());
  const drawAll = () =>
    Array.from({ length: batch }, (_, seed) =>
      draw(v1Protocol(neurons, { nominalRateHz: rateHz, intensity: 1, seed }, durationSteps), String),
    );
  const trials = drawAll().map((events) => {
    const [ms, trial] = timed(() => cpu.simulate(events, { durationSteps, silenced }));
    cpuMs.push(ms);
    return { events, trial: copyOf(trial) };
  });
  const incoming = incomingConnections(connectome);
  const counted = countWindows(connectome, incoming, trials, silenced, durationSteps);
  const lists = listsOf(connectome, trials, durationSteps);
  const { places } = lists;
  const rows = tableOf(connectome, incoming, batch, { ...counted, places });
  const sum = (key) => rows.reduce((total, row) => total + row[key], 0);
  const usAt = (key) =>
    rows.reduce((total, row) => total + DISPATCH_US + Math.max(row[key], row.operationsUs), 0);
  const windows = Math.ceil(durationSteps / WINDOW_STEPS);
  const summary = {
    spikesOfTrial: median(trials.map(({ trial }) => trial.steps.length)),
    eventsOfTrial: median(trials.map(({ trial }) => trial.deliveredEvents)),
    ...Object.fromEntries(Object.entries(counted).map(([key, value]) => [key, rounded(value, 0)])),
    placesOfTrial: places,
    readbackMegabytes: rounded(
      lists.windows.reduce((bytes, { byteLength }) => bytes + byteLength, 0) / 1e6,
      1,
    ),
    ...hostMs(connectome, incoming, { drawAll, lists, options: { durationSteps, silenced } }),
    megabytesOfWindow: rounded(sum('megabytes'), 1),
    windowUsAt3: rounded(usAt('us3'), 0),
    windowUsAt5: rounded(usAt('us5'), 0),
    gpuMsOfTrialAt3: rounded((usAt('us3') * windows) / batch / 1000, 2),
    gpuMsOfTrialAt5: rounded((usAt('us5') * windows) / batch / 1000, 2),
    cpuMsOfTrial: rounded(median(cpuMs), 2),
    cpuMsOfFastestTrial: rounded(Math.min(...cpuMs), 2),
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
  for (const [key, value] of Object.entries(summary)) {
    console.log(`${key}: ${typeof value === 'object' ? JSON.stringify(value) : value}`);
  }
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
  const chunksOf = Uint32Array.from({ length: neuronCount }, (_, i) => firstChunk[i + 1] - firstChunk[i]);
  // Group of each connection, in the order of the wiring.
  const groupOf = new Uint32Array(targets.length);
  const filled = new Uint32Array(neuronCount);
  for (let c = 0; c < targets.length; c++) {
    groupOf[c] = firstGroup[targets[c]] + Math.floor(filled[targets[c]]++ / GROUP_CONNECTIONS);
  }
  const states = trials.map(() => ({
    u: new Float64Array(neuronCount),
    h: new Float64Array(neuronCount),
    availableFrom: new Int32Array(neuronCount),
    spike: 0,
    event: 0,
  }));
  const blocks = Math.ceil(trials.length / BLOCK_CELLS);
  // Of a trial and a window: what arrives at each neuron in each step, in all, and in all that excites.
  const synapsesOf = new Float64Array(neuronCount * WINDOW_STEPS);
  const all = new Float64Array(neuronCount);
  const exciting = new Float64Array(neuronCount);
  const eventsOf = new Uint8Array(neuronCount * WINDOW_STEPS);
  const hasEvents = new Uint8Array(neuronCount);
  // Of a window: which neurons take steps in any trial, and what the states of any trial of a block need. A warp does
  // that.
  const isStepped = new Uint8Array(neuronCount);
  const blockNeeds = new Uint8Array(neuronCount * blocks);
  const [STATE, STATE_STEPS] = [1, 2];
  const groupStamp = new Int32Array(groupCount).fill(-1);
  const sourceStamp = new Int32Array(neuronCount).fill(-1);
  const sourceBlockStamp = new Int32Array(neuronCount * blocks).fill(-1);
  // Of each neuron: connections with a source that was active in any trial; and in a trial of a block, summed over
  // blocks.
  const connections = new Uint32Array(neuronCount);
  const blockConnections = new Uint32Array(neuronCount);
  const total = {
    activeNeurons: 0,
    activeGroups: 0,
    activeConnections: 0,
    activeHubConnections: 0,
    stateNeurons: 0,
    stateBlocks: 0,
    stateChunks: 0,
    stateConnections: 0,
    stateArrivals: 0,
    steppedNeurons: 0,
    steppedChunks: 0,
    steppedConnections: 0,
    steppedStateBlocks: 0,
    steppedStateChunks: 0,
    steppedStateConnections: 0,
  };
  for (let window = 0; window < windows; window++) {
    const first = window * WINDOW_STEPS;
    isStepped.fill(0);
    blockNeeds.fill(0);
    connections.fill(0);
    blockConnections.fill(0);
    trials.forEach(({ trial, events }, at) => {
      const state = states[at];
      const block = Math.floor(at / BLOCK_CELLS);
      const { u, h, availableFrom } = state;
      const reached = [];
      // What was emitted in the last window arrives in this one.
      for (; state.spike < trial.steps.length && trial.steps[state.spike] < first; state.spike++) {
        const pre = trial.neurons[state.spike];
        const step = trial.steps[state.spike] + WINDOW_STEPS - first;
        const isNew = sourceStamp[pre] !== window;
        sourceStamp[pre] = window;
        const isNewInBlock = sourceBlockStamp[pre * blocks + block] !== window;
        sourceBlockStamp[pre * blocks + block] = window;
        if (isNew) total.activeNeurons++;
        for (let c = rowStart[pre]; c < rowStart[pre + 1]; c++) {
          const post = targets[c];
          const isOfHub = chunksOf[post] > 0;
          if (isNew) {
            if (isOfHub) {
              total.activeHubConnections++;
            } else {
              total.activeConnections++;
              connections[post]++;
            }
            if (groupStamp[groupOf[c]] !== window) total.activeGroups++;
            groupStamp[groupOf[c]] = window;
          }
          if (isSilenced[pre]) continue;
          if (isNewInBlock && !isOfHub) blockConnections[post]++;
          const synapses = signs[pre] * synapseCounts[c];
          if (all[post] === 0) reached.push(post);
          all[post] += Math.abs(synapses);
          exciting[post] += Math.max(0, synapses);
          synapsesOf[post * WINDOW_STEPS + step] += synapses;
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
        eventsOf[neuron * WINDOW_STEPS + events.steps[state.event] - first]++;
      }
      const isStimulated = new Set(events.stimulated);
      for (let i = 0; i < neuronCount; i++) {
        if (availableFrom[i] - first >= WINDOW_STEPS) continue;
        if (u[i] === 0 && h[i] === 0 && all[i] === 0 && hasEvents[i] === 0) continue;
        const [uHigh, hHigh] = [HIGH_FLOATS_PER_SYNAPSE * u[i], HIGH_FLOATS_PER_SYNAPSE * h[i]];
        const isLight =
          hasEvents[i] === 0 &&
          all[i] <= LIGHT_SYNAPSES &&
          Math.max(Math.abs(uHigh), Math.abs(hHigh)) < LIGHT_FLOAT_BELOW;
        const isQuiet = isLight && potentialBound(uHigh, hHigh, exciting[i]) < QUIET_BELOW;
        if (!isQuiet) isStepped[i] = 1;
        let spiked = false;
        for (let step = Math.max(0, availableFrom[i] - first); step < WINDOW_STEPS; step++) {
          if (first + step < availableFrom[i]) continue;
          u[i] *= MEMBRANE_DECAY;
          h[i] *= SYNAPSE_DECAY;
          const above = u[i] - h[i] - THRESHOLD_SYNAPSES;
          if (above > 0) {
            u[i] = h[i] = 0;
            spiked = true;
            availableFrom[i] = first + step + (isStimulated.has(i) ? 1 : REFRACTORY_STEPS);
          } else {
            const synapses = synapsesOf[i * WINDOW_STEPS + step];
            h[i] += synapses;
            u[i] += synapses + eventsOf[i * WINDOW_STEPS + step] * EVENT_SYNAPSES;
          }
        }
        if (!spiked || isStimulated.has(i)) {
          blockNeeds[i * blocks + block] |= isLight ? STATE : STATE | STATE_STEPS;
        }
      }
      for (const i of reached) {
        all[i] = exciting[i] = 0;
        synapsesOf.fill(0, i * WINDOW_STEPS, (i + 1) * WINDOW_STEPS);
      }
      for (const i of hit) {
        hasEvents[i] = 0;
        eventsOf.fill(0, i * WINDOW_STEPS, (i + 1) * WINDOW_STEPS);
      }
    });
    for (let i = 0; i < neuronCount; i++) {
      let [state, stepped] = [0, 0];
      for (let block = 0; block < blocks; block++) {
        if (blockNeeds[i * blocks + block] & STATE) state++;
        if (blockNeeds[i * blocks + block] & STATE_STEPS) stepped++;
      }
      if (state > 0) total.stateNeurons++;
      total.stateBlocks += state;
      total.stateChunks += state * chunksOf[i];
      total.stateConnections += state * connections[i];
      if (state > 0) total.stateArrivals += blockConnections[i];
      total.steppedStateBlocks += stepped;
      total.steppedStateChunks += stepped * chunksOf[i];
      total.steppedStateConnections += stepped * connections[i];
      if (isStepped[i]) {
        total.steppedNeurons++;
        total.steppedChunks += chunksOf[i];
        total.steppedConnections += connections[i];
      }
    }
  }
  return Object.fromEntries(Object.entries(total).map(([key, value]) => [key, value / windows]));
}

/** What a pipeline reads back of these trials, see `spikes` in kernels.ts. */
function listsOf({ neuronCount }, trials, durationSteps) {
  const windows = Array.from({ length: Math.ceil(durationSteps / WINDOW_STEPS) }, () => trials.map(() => []));
  trials.forEach(({ trial: { steps, neurons } }, at) =>
    steps.forEach((step, spike) => {
      const number = 1 + (step % WINDOW_STEPS) + neurons[spike] * 2 ** STEP_BITS;
      windows[Math.floor(step / WINDOW_STEPS)][at].push(number);
    }),
  );
  const most = windows.flat().reduce((longest, { length }) => Math.max(longest, length), 0);
  const places = placesForSpikes(most);
  const lists = windows.map((window) => {
    const floats = new Float32Array(trials.length * places);
    window.forEach((numbers, at) => {
      floats.fill(1 + numbers.length, at * places, (at + 1) * places);
      floats.set(
        numbers.sort((a, b) => a - b),
        at * places + 1,
      );
    });
    return floats;
  });
  const sound = new Float32Array(trials.length).fill(neuronCount);
  return { width: trials.length, places, windows: lists, sound };
}

/**
 * What threads without a GPU do for a batch, and what the GPU's thread does beside recording and submitting passes: gpu.js
 * copies the tables twice and the binding once, then gpu.js copies what comes back, window by window.
 */
function hostMs(connectome, { groupCount, chunkCount }, { drawAll, lists, options }) {
  const limits = { largestArrayBytes: Infinity, largestReadbackBytes: Infinity };
  const { neuronCount } = connectome;
  const room = { neuronCount, groupCount, chunkCount, widths: [lists.width], ...limits };
  const trials = drawAll().map((events) => ({ events, options }));
  const tables = batchTables(trials, room);
  const scratch = new Float32Array(tables.inputs.length);
  const mapped = new ArrayBuffer(lists.windows.length * lists.windows[0].byteLength);
  const outDegree = outDegreesOf(connectome);
  const read = () =>
    runsOf(
      lists,
      trials.map(() => options),
      outDegree,
    );
  return {
    helperMs: {
      draw: fastestMs(drawAll),
      tables: fastestMs(() => batchTables(trials, room)),
      read: fastestMs(read),
    },
    gpuThreadMs: {
      tables: fastestMs(() => {
        scratch.set(tables.inputs.slice());
        scratch.slice();
      }),
      copyBack: fastestMs(() =>
        lists.windows.map(({ byteLength }, window) =>
          mapped.slice(window * byteLength, (window + 1) * byteLength),
        ),
      ),
      check: fastestMs(() => mostSpikesOf(lists)),
    },
  };
}

function fastestMs(work) {
  return rounded(Math.min(...Array.from({ length: ROUNDS }, () => timed(work)[0])), 1);
}

/** One row for each pass of a window. Every array is taken to be read from memory once, and written once. */
function tableOf({ neuronCount }, incoming, width, counted) {
  const { groupCount, groupsOfChunk, firstChunk } = incoming;
  const chunks = firstChunk[neuronCount];
  const hubGroups = chunks === 0 ? 0 : groupsOfChunk.reduce((sum, groups) => sum + groups, 0);
  // A warp has 32 cells in nextStatuses, and all parts of 8 cells in nextStates.
  const lanes = Math.max(32, width);
  const words = neuronCount / WORD_NEURONS;
  const blocks = words / BLOCK_WORDS;
  const cells = neuronCount * width;
  const statuses = cells * FLOAT;
  const states = counted.stateBlocks * STATE_PARTS * SECTOR;
  const arrivals = (groupCount + chunks * CHUNK_SUMS * width) * FLOAT;
  const gathered = (connections) => connections * 2 * SECTOR + counted.activeNeurons * width * FLOAT;
  const listed = width * counted.places;
  const counts = (1 + width) * words * FLOAT;
  const { connection, arrivalOfSum, arrivalOfDecay, arrivalOfStep, sumOfChunk } = OPERATIONS;
  const lightGroups = (groupCount - hubGroups) / neuronCount;
  const passes = [
    [
      'windowArrivals',
      groupCount + chunks * CHUNK_SUMS * width,
      groupCount * FLOAT + arrivals + gathered(counted.activeHubConnections),
      groupCount * OPERATIONS.bit +
        CHUNK_SUMS *
          lanes *
          (hubGroups * OPERATIONS.group +
            counted.activeHubConnections * (connection + OPERATIONS.bit + sumOfChunk)),
    ],
    [
      'nextStatuses',
      cells,
      // u and h are read by their high floats, and by all floats where steps are taken.
      2 * statuses +
        (states / 2) * (1 + counted.steppedNeurons / Math.max(1, counted.stateNeurons)) +
        arrivals +
        gathered(counted.activeConnections),
      lanes *
        (neuronCount * (OPERATIONS.status + lightGroups * OPERATIONS.group) +
          counted.stateNeurons * OPERATIONS.statusOfState +
          counted.activeConnections * (connection + arrivalOfSum) +
          chunks * 2 * sumOfChunk +
          counted.steppedConnections * (connection + arrivalOfStep) +
          counted.steppedChunks * WINDOW_STEPS * (sumOfChunk + arrivalOfStep) +
          counted.steppedNeurons * WINDOW_STEPS * OPERATIONS.step),
    ],
    [
      'nextStates',
      cells * STATE_PARTS + neuronCount,
      2 * statuses + 2 * states + arrivals + gathered(counted.activeConnections) + neuronCount * FLOAT,
      cells * (STATE_PARTS * OPERATIONS.part + OPERATIONS.bit) +
        STATE_PARTS *
          BLOCK_CELLS *
          (counted.stateBlocks *
            (OPERATIONS.state + OPERATIONS.stateAtOnce + lightGroups * OPERATIONS.group) +
            counted.stateConnections * connection +
            counted.stateArrivals * arrivalOfDecay +
            counted.stateChunks * WINDOW_STEPS * (sumOfChunk + arrivalOfDecay) +
            counted.steppedStateConnections * (connection + arrivalOfStep) +
            counted.steppedStateChunks * WINDOW_STEPS * (sumOfChunk + arrivalOfStep) +
            counted.steppedStateBlocks * WINDOW_STEPS * OPERATIONS.stepOfState),
    ],
    [
      'activeWords',
      (1 + width) * words,
      (neuronCount + counted.activeNeurons * width) * FLOAT + counts,
      (1 + width) * neuronCount * OPERATIONS.bit + counted.activeNeurons * lanes * OPERATIONS.spike,
    ],
    [
      'connectionMasks',
      groupCount + blocks * width,
      (groupCount * (GROUP_CONNECTIONS + 1) + blocks * width) * FLOAT + counts,
      groupCount * OPERATIONS.mask + words * width * OPERATIONS.bit,
    ],
    [
      'spikeLists',
      listed,
      (listed + blocks * width + counted.activeNeurons * width) * FLOAT + counts,
      // Unused places go past all blocks, the others half of them.
      listed * (OPERATIONS.bit * (blocks + BLOCK_WORDS / 2 + WORD_NEURONS) + OPERATIONS.spike),
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
