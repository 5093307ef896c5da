/** Compiles the kernels for a wiring and a shape of batches, and runs all windows of a batch in one submission. */
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

/** Numbers that differ from pipeline to pipeline. Those that count, shift and mask are integers in the GPU's code. */
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

/** Numbers that are calculated with: float32 in the GPU's code, like everything in its arrays. */
function floatsOf(neuronCount: number, incoming: IncomingConnections, shape: PipelineShape) {
  const { firstGroup, firstChunk, chunkCount } = incoming;
  const groupOfChunkAt = firstGroup.length + firstChunk.length;
  return {
    neuronCount,
    words: wordsOf(neuronCount),
    stimulatedSlots: shape.stimulated,
    silencedSlots: shape.silenced,
    // Where the parts of tablesOf begin.
    firstChunkAt: firstGroup.length,
    groupOfChunkAt,
    groupsOfChunkAt: groupOfChunkAt + chunkCount,
    decaysAt: groupOfChunkAt + 2 * chunkCount,
    decayLength: DECAY_TABLE.length / 2,
  };
}

/** For u, then for h, in limbs: the losses in a window and in a step, and what each step of a window contributes. */
const DECAY_TABLE = [MEMBRANE, SYNAPSE].flatMap(({ window, step, arrivalUnits }) => [
  ...window.lossLimbs,
  ...step.lossLimbs,
  ...arrivalUnits.flatMap(toLimbs),
]);

/** All small tables in one, because a kernel may have no more than 8 arrays. */
function tablesOf({ firstGroup, firstChunk, groupOfChunk, groupsOfChunk }: IncomingConnections) {
  const tables = [firstGroup, firstChunk, groupOfChunk, groupsOfChunk, DECAY_TABLE];
  return Float32Array.from(tables.flatMap((table) => Array.from(table)));
}

/** The results of a pipeline; numbers as described in kernels.ts. */
export interface PipelineResult {
  readonly backend: string | null;
  readonly fallbackReason: string | null;
  readonly lists: BatchLists;
  /** statuses and states at the end, with `withState` */
  readonly statuses: Float32Array | undefined;
  readonly states: Float32Array | undefined;
}

export interface WindowPipeline {
  /** @param tables made for the same shape */
  run(tables: BatchTables): Promise<PipelineResult>;
  destroy(): Promise<void>;
}

/** Records all windows of a run as one plan: one submission, one readback. */
export function windowPipeline(
  gpu: GPU,
  neuronCount: number,
  incoming: IncomingConnections,
  shape: PipelineShape,
): WindowPipeline {
  const { width, windows, withState } = shape;
  const { stateCount, floatCount } = stateLayout(neuronCount, width);
  const integers = integersOf(neuronCount, incoming, shape);
  const floats = floatsOf(neuronCount, incoming, shape);
  const connections = [incoming.groupCount, GROUP_CONNECTIONS] as [number, number];
  // No variable of a kernel may have one of these names: as JavaScript it would be the array.
  const arrays = {
    tables: tablesOf(incoming),
    sourceOf: new Input(incoming.sources as unknown as number[], connections),
    synapsesOf: new Input(incoming.synapses as unknown as number[], connections),
  };
  // The types of gpu.js do not name what it calls a flat array with dimensions.
  const input = 'Input' as unknown as GPUVariableType;
  const arrayTypes: Record<keyof typeof arrays, GPUVariableType> = {
    tables: 'Array',
    sourceOf: input,
    synapsesOf: input,
  };
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
        ...Object.fromEntries(names.map((name) => [name, arrays[name]])),
      },
      constantTypes: {
        ...typed('Integer', integers),
        ...typed('Float', floats),
        ...Object.fromEntries(names.map((name) => [name, arrayTypes[name]])),
      },
    });

  const wiring: (keyof typeof arrays)[] = ['tables', 'sourceOf', 'synapsesOf'];
  const rest = kernel(kernels.restingStatuses, stateCount);
  const restState = kernel(kernels.restingStates, floatCount + neuronCount);
  const findArrivals = kernel(kernels.windowArrivals, arrivalsOf(incoming, shape), wiring);
  const advanceStatuses = kernel(kernels.nextStatuses, stateCount, wiring);
  const advanceStates = kernel(kernels.nextStates, floatCount + neuronCount, wiring);
  const countSpikes = kernel(kernels.activeWords, wordsOf(neuronCount) * (1 + width));
  const masksLength = incoming.groupCount + blocksOf(neuronCount) * width;
  const findConnections = kernel(kernels.connectionMasks, masksLength, ['sourceOf']);
  const listSpikes = kernel(kernels.spikeLists, width * shape.spikes);
  const countUnflagged = kernel(kernels.unflaggedNeurons, unflaggedChunks(neuronCount) * width);

  const pipeline = gpu.createPipeline((silenced: Handle, inputs: Handle) => {
    let statuses = rest(silenced, inputs);
    let states = restState(statuses);
    // Before the first window nothing has spiked, and the kernels find just that.
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
    async run({ silenced, inputs }) {
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
        },
        statuses: results[windows + 1],
        states: results[windows + 2],
      };
    },
    destroy: () => pipeline.destroy(),
  };
}

/** Stands for a result while the plan is recorded. */
type Handle = unknown;
type Recordable = (...inputs: Handle[]) => Handle;
