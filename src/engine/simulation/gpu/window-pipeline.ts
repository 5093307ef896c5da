/** Compiles the kernels for a wiring and a batch's shape, and runs all windows of a batch in one submission. */
import gpujs, { type GPU, type GPUVariableType, type IGPUKernelSettings } from 'gpu.js';
import type { BatchLists } from './batch-results.js';
import type { BatchTables } from './batch-tables.js';
import { GROUP_CONNECTIONS, type IncomingConnections } from './incoming.js';
import * as kernels from './kernels.js';
import { LIMB_FUNCTIONS } from './limb-arithmetic.js';
import { MEMBRANE, SYNAPSE, toLimbs } from './number-format.js';
import {
  arrivalsOf,
  blocksOf,
  hubSumsAt,
  inputRows,
  slotsOf,
  stateLayout,
  unflaggedChunks,
  wordsOf,
  type PipelineShape,
} from './pipeline-shape.js';

const { Input } = gpujs;

/** The constants of a pipeline that count, shift and mask. They are integers in the GPU's code. */
function integersOf(neuronCount: number, incoming: IncomingConnections, shape: PipelineShape) {
  const { groupCount, firstChunk } = incoming;
  const { width, layers, spikes } = shape;
  return {
    width,
    widthShift: Math.log2(width),
    trialBits: width - 1,
    groupCount,
    maxChunks: firstChunk.reduce((max, first, i) => Math.max(max, first - (firstChunk[i - 1] ?? 0)), 0),
    blocks: blocksOf(neuronCount),
    countsAt: wordsOf(neuronCount),
    layers,
    slotsShift: Math.log2(slotsOf(shape)),
    slotBits: slotsOf(shape) - 1,
    eventsAt: groupCount,
    hubSumsAt: hubSumsAt(incoming, shape),
    activeAt: stateLayout(neuronCount, width).floatCount,
    searchSteps: Math.log2(Math.max(shape.stimulated, shape.silenced)) + 1,
    spikesShift: Math.log2(spikes),
    spikeSlotBits: spikes - 1,
  };
}

/** The constants of a pipeline used in calculations. They are float32 in the GPU's code, like the entries of arrays. */
function floatsOf(neuronCount: number, incoming: IncomingConnections, shape: PipelineShape) {
  const { firstGroup, firstChunk, chunkCount } = incoming;
  const groupOfChunkAt = firstGroup.length + firstChunk.length;
  return {
    neuronCount,
    words: wordsOf(neuronCount),
    stimulatedSlots: shape.stimulated,
    silencedSlots: shape.silenced,
    // The first index of each table in tablesOf.
    firstChunkAt: firstGroup.length,
    groupOfChunkAt,
    groupsOfChunkAt: groupOfChunkAt + chunkCount,
    decaysAt: groupOfChunkAt + 2 * chunkCount,
    decayLength: DECAY_TABLE.length / 2,
  };
}

/** For u, then for h, in limbs: the loss in a window, the loss in a step, and the decay of input from each step. */
const DECAY_TABLE = [MEMBRANE, SYNAPSE].flatMap(({ windowLoss, stepLoss, arrivalUnits }) =>
  [windowLoss, stepLoss, ...arrivalUnits].flatMap(toLimbs),
);

/** Joins all small tables, because a kernel may have at most 8 arrays. */
function tablesOf({ firstGroup, firstChunk, groupOfChunk, groupsOfChunk }: IncomingConnections) {
  const tables = [firstGroup, firstChunk, groupOfChunk, groupsOfChunk, DECAY_TABLE];
  return Float32Array.from(tables.flatMap((table) => Array.from(table)));
}

/**
 * Records all windows of a batch as one plan of gpu.js, with one submission and one readback. While it records a plan,
 * gpu.js copies a kernel's arguments once for each call, so the wiring is a constant of each kernel. An array that
 * passes from one plan to the next leaves the GPU, so a batch is a single plan.
 */
export function windowPipeline(
  gpu: GPU,
  neuronCount: number,
  incoming: IncomingConnections,
  shape: PipelineShape,
) {
  const { width, windows, withState } = shape;
  const kernelsOfWindow = recordableKernels(gpu, neuronCount, incoming, shape);
  const { rest, restState, findArrivals, advanceStatuses, advanceStates } = kernelsOfWindow;
  const { countSpikes, findConnections, listSpikes, countUnflagged } = kernelsOfWindow;
  const pipeline = gpu.createPipeline((silenced: Handle, inputs: Handle) => {
    let statuses = rest(silenced, inputs);
    let states = restState(statuses);
    // Before the first window no neuron has spiked, and these kernels find none.
    let masks = findConnections(countSpikes(statuses, states));
    const spikes: Handle[] = [];
    for (let window = 0; window < windows; window++) {
      const arrivals = findArrivals(statuses, masks, inputs, window);
      const statusesAfter = advanceStatuses(statuses, states, arrivals);
      states = advanceStates(statuses, statusesAfter, states, arrivals);
      statuses = statusesAfter;
      const active = countSpikes(statuses, states);
      masks = findConnections(active);
      spikes.push(listSpikes(statuses, active, masks));
    }
    return [...spikes, countUnflagged(statuses), ...(withState ? [statuses, states] : [])];
  });

  return {
    /** @param tables must be made for the same shape. kernels.ts describes the numbers of the result */
    async run({ silenced, inputs }: BatchTables) {
      const size = [slotsOf(shape), inputRows(shape)] as [number, number];
      const table = new Input(inputs as unknown as number[], size);
      const results = (await pipeline(silenced, table)) as Float32Array<ArrayBuffer>[];
      return {
        backend: pipeline.backend,
        fallbackReason: pipeline.fallbackReason,
        lists: {
          width,
          slots: shape.spikes,
          windows: results.slice(0, windows),
          unflagged: results[windows]!,
        } satisfies BatchLists,
        // Undefined without `withState`.
        statuses: results[windows + 1],
        states: results[windows + 2],
      };
    },
    destroy: () => pipeline.destroy(),
  };
}

export type WindowPipeline = ReturnType<typeof windowPipeline>;
export type PipelineResult = Awaited<ReturnType<WindowPipeline['run']>>;

/** The kernels of a window, with the wiring and the shape as constants. */
function recordableKernels(
  gpu: GPU,
  neuronCount: number,
  incoming: IncomingConnections,
  shape: PipelineShape,
) {
  const { width } = shape;
  const { stateCount, floatCount } = stateLayout(neuronCount, width);
  const integers = integersOf(neuronCount, incoming, shape);
  const floats = floatsOf(neuronCount, incoming, shape);
  const connections = [incoming.groupCount, GROUP_CONNECTIONS] as [number, number];
  // No variable of a kernel may have one of these names: if the kernel runs as JavaScript, it would be the array.
  // gpu.js calls a flat array with dimensions 'Input', but its types lack the name.
  const input = (values: Float32Array) =>
    ['Input' as unknown as GPUVariableType, new Input(values as unknown as number[], connections)] as const;
  const arrays = {
    tables: ['Array', tablesOf(incoming)],
    sourceOf: input(incoming.sources),
    synapsesOf: input(incoming.synapses),
  } as const;
  const typed = (type: GPUVariableType, values: object) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, type]));
  const kernel = (source: string, output: number, names: readonly (keyof typeof arrays)[] = []): Recordable =>
    gpu.createKernel(source, {
      output: [output],
      precision: 'single',
      functions: LIMB_FUNCTIONS as unknown as IGPUKernelSettings['functions'],
      constants: {
        ...integers,
        ...floats,
        ...Object.fromEntries(names.map((name) => [name, arrays[name][1]])),
      },
      constantTypes: {
        ...typed('Integer', integers),
        ...typed('Float', floats),
        ...Object.fromEntries(names.map((name) => [name, arrays[name][0]])),
      },
    });

  const wiring: (keyof typeof arrays)[] = ['tables', 'sourceOf', 'synapsesOf'];
  const masksLength = incoming.groupCount + blocksOf(neuronCount) * width;
  return {
    rest: kernel(kernels.restingStatuses, stateCount),
    restState: kernel(kernels.restingStates, floatCount + neuronCount),
    findArrivals: kernel(kernels.windowArrivals, arrivalsOf(incoming, shape), wiring),
    advanceStatuses: kernel(kernels.nextStatuses, stateCount, wiring),
    advanceStates: kernel(kernels.nextStates, floatCount + neuronCount, wiring),
    countSpikes: kernel(kernels.activeWords, wordsOf(neuronCount) * (1 + width)),
    findConnections: kernel(kernels.connectionMasks, masksLength, ['sourceOf']),
    listSpikes: kernel(kernels.spikeLists, width * shape.spikes),
    countUnflagged: kernel(kernels.unflaggedNeurons, unflaggedChunks(neuronCount) * width),
  };
}

/** Represents a kernel's result while the plan is recorded. */
type Handle = unknown;
type Recordable = (...inputs: Handle[]) => Handle;
