/**
 * The kernels, as gpu.js reads them: it takes the source of these functions and writes it anew for the GPU. So
 * they use nothing but their arguments and `this`, no import and no closure, and their types are erased.
 *
 * Every number in them is an integer below 2^24 or a power of two, so neither fused multiply-add nor another
 * order of a sum can change a bit. Divisions are multiplications by powers of two, because WGSL does not
 * promise a correctly rounded division.
 *
 * A window has 18 steps: what is emitted in one arrives in the next, so within a window no cell depends on
 * another. Arrays, C cells in rows (see cells.ts):
 *   state    [4][rows][rowLength]   u as high and low float, h as high and low float (see number-format.ts)
 *   status   [C]                    bits of spikes in the window (18) + refractory code * 2^18 + flag * 2^23
 *   arrivals [18][rows][rowLength]  signed synapses that arrive in each step of the window
 *   slots    [C]                    0, or 1 + the place of a stimulated cell in the tables of kicks
 *   kicks    [window][slot]         bits of kicks in the window (18)
 * The refractory code is the number of steps the cell is still refractory after the window, or IDLE for a cell
 * at rest that nothing arrives at, which is passed over. The flag stays once it is set: v came too close to
 * the threshold, or the state left its range.
 */
import gpujs, { type GPU, type GPUVariableType, type IGPUKernelSettings } from 'gpu.js';
import { DELAY_STEPS, REFRACTORY_STEPS } from '../../network.js';
import { CELLS_PER_FLOAT, cellsOf, type Cells } from './cells.js';
import { SEGMENT_CONNECTIONS, type IncomingConnections } from './incoming.js';
import {
  INPUT_EVENT_SYNAPSES,
  LARGEST_TOP_LIMB,
  MARGIN_UNITS,
  MEMBRANE,
  SYNAPSE,
  THRESHOLD_UNITS,
  toLimbs,
  type Limbs,
} from './number-format.js';

const { Input } = gpujs;

type Vector = ArrayLike<number>;
type Grid = ArrayLike<Vector>;
type Layers = ArrayLike<Grid>;

export const WINDOW_STEPS = DELAY_STEPS;
const FLAG_SHIFT = 23;
/** The refractory code of a cell that is passed over: all bits between the spikes and the flag. */
export const IDLE = 2 ** (FLAG_SHIFT - WINDOW_STEPS) - 1;
/** A packed cell holds 0, or 1 + the step of its spike. */
export const PACKED_VALUES = WINDOW_STEPS + 1;
/** Neurons that one thread searches for flags. */
const FLAG_NEURONS = 256;
/** Greater than every cell: fills the unused places of a list of stimulated cells. */
export const NO_CELL = 2 ** 24;
/** What comes back in the place of NO_CELL. A GPU that has refused its work gives back zeros. */
export const SIGN_OF_LIFE = 1;

/** Numbers that count or shift: integers in the GPU's code. */
function integersOf(incoming: IncomingConnections, slots: number) {
  return {
    windowSteps: WINDOW_STEPS,
    refractoryShift: WINDOW_STEPS,
    flagShift: FLAG_SHIFT,
    segmentConnections: SEGMENT_CONNECTIONS,
    mostSegments: incoming.mostSegments,
    cellsPerFloat: CELLS_PER_FLOAT,
    flagNeurons: FLAG_NEURONS,
    searchSteps: Math.ceil(Math.log2(slots)) + 1,
  };
}

/** Numbers that are calculated with: float32 in the GPU's code, like everything in its arrays. */
function floatsOf(neuronCount: number, cells: Cells, slots: number) {
  return {
    neuronCount,
    width: cells.width,
    perWidth: 1 / cells.width,
    rowLength: cells.rowLength,
    perRowLength: 1 / cells.rowLength,
    cellCount: cells.count,
    slotCount: slots,
    idle: IDLE,
    signOfLife: SIGN_OF_LIFE,
    refractoryFactor: 2 ** WINDOW_STEPS,
    flagFactor: 2 ** FLAG_SHIFT,
    refractoryAfterSpike: REFRACTORY_STEPS - 1,
    kickSynapses: INPUT_EVENT_SYNAPSES,
    largestTopLimb: LARGEST_TOP_LIMB,
    margin: MARGIN_UNITS,
    packedValues: PACKED_VALUES,
    ...named('membrane', MEMBRANE.lossLimbs),
    ...named('synapse', SYNAPSE.lossLimbs),
    ...named('threshold', toLimbs(THRESHOLD_UNITS)),
  };
}

function named<Name extends string>(name: Name, limbs: Limbs) {
  return Object.fromEntries(limbs.map((limb, i) => [`${name}${i}`, limb])) as Record<
    `${Name}${0 | 1 | 2 | 3}`,
    number
  >;
}

/** What a kernel finds in `this`. */
interface Kernel {
  readonly thread: { readonly x: number; readonly y: number; readonly z: number };
  readonly constants: Readonly<
    ReturnType<typeof integersOf> & ReturnType<typeof floatsOf> & Omit<IncomingConnections, 'segmentCount'>
  >;
}

// ---- functions that kernels call ---------------------------------------------------------------------------

/** What a limb has too much for -2048..2047, in units of the next one. */
function carryOf(limb: number): number {
  return Math.floor((limb + 2048) * 0.000244140625);
}

function unpacked(high: number, low: number): number[] {
  const x3 = carryOf(high);
  const x1 = carryOf(low);
  return [low - x1 * 4096, x1, high - x3 * 4096, x3];
}

/**
 * One step of decay: x - x * D / 2^48, where D are the limbs d. The four lowest columns of the product matter
 * only by their carry.
 */
function decayedLimbs(x: number[], d0: number, d1: number, d2: number, d3: number): number[] {
  let carry = carryOf(0 - x[0]! * d0);
  carry = carryOf(carry - x[0]! * d1 - x[1]! * d0);
  carry = carryOf(carry - x[0]! * d2 - x[1]! * d1 - x[2]! * d0);
  carry = carryOf(carry - x[0]! * d3 - x[1]! * d2 - x[2]! * d1 - x[3]! * d0);
  const y0 = x[0]! + carry - x[1]! * d3 - x[2]! * d2 - x[3]! * d1;
  carry = carryOf(y0);
  const z0 = y0 - carry * 4096;
  const y1 = x[1]! + carry - x[2]! * d3 - x[3]! * d2;
  carry = carryOf(y1);
  const z1 = y1 - carry * 4096;
  const y2 = x[2]! + carry - x[3]! * d3;
  carry = carryOf(y2);
  return [z0, z1, y2 - carry * 4096, x[3]! + carry];
}

/** Adds synapses * 2^32, that is synapses * 256 in the third limb. The top limb may leave its range. */
function withSynapses(x: number[], synapses: number): number[] {
  const sixteens = Math.floor((synapses + 8) * 0.0625);
  const y2 = x[2]! + (synapses - sixteens * 16) * 256;
  const carry = carryOf(y2);
  return [x[0]!, x[1]!, y2 - carry * 4096, x[3]! + sixteens + carry];
}

/**
 * u - h - threshold where it is small, and a number of the same sign and of 1000 or more elsewhere. A limb of
 * the difference is at most 6144, so a column that is cut off at 1000 keeps its sign through the next.
 */
function aboveThreshold(u: number[], h: number[], t0: number, t1: number, t2: number, t3: number): number {
  let above = u[3]! - h[3]! - t3;
  above = Math.max(-1000, Math.min(1000, above)) * 4096 + u[2]! - h[2]! - t2;
  above = Math.max(-1000, Math.min(1000, above)) * 4096 + u[1]! - h[1]! - t1;
  return Math.max(-1000, Math.min(1000, above)) * 4096 + u[0]! - h[0]! - t0;
}

/** Keeps the top limb in its range; whoever needed it has left the range that the certificate covers. */
function inRange(x: number[], largest: number): number[] {
  return [x[0]!, x[1]!, x[2]!, Math.max(0 - largest, Math.min(largest, x[3]!))];
}

const FUNCTIONS = [
  { name: 'carryOf', source: carryOf.toString(), argumentTypes: ['Number'], returnType: 'Number' },
  {
    name: 'unpacked',
    source: unpacked.toString(),
    argumentTypes: ['Number', 'Number'],
    returnType: 'Array(4)',
  },
  {
    name: 'decayedLimbs',
    source: decayedLimbs.toString(),
    argumentTypes: ['Array(4)', 'Number', 'Number', 'Number', 'Number'],
    returnType: 'Array(4)',
  },
  {
    name: 'withSynapses',
    source: withSynapses.toString(),
    argumentTypes: ['Array(4)', 'Number'],
    returnType: 'Array(4)',
  },
  {
    name: 'inRange',
    source: inRange.toString(),
    argumentTypes: ['Array(4)', 'Number'],
    returnType: 'Array(4)',
  },
  {
    name: 'aboveThreshold',
    source: aboveThreshold.toString(),
    argumentTypes: ['Array(4)', 'Array(4)', 'Number', 'Number', 'Number', 'Number'],
    returnType: 'Number',
  },
];

// ---- kernels -----------------------------------------------------------------------------------------------

/** slots: finds every cell in the ascending list of the stimulated ones. */
function slots(this: Kernel, stimulatedCells: Vector): number {
  const cell = this.thread.x;
  let low = 0;
  let high = this.constants.slotCount;
  for (let search = 0; search < this.constants.searchSteps; search++) {
    if (low < high) {
      const middle = Math.floor((low + high) * 0.5);
      if (stimulatedCells[middle]! < cell) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  let slot = 0;
  if (stimulatedCells[low]! === cell) {
    slot = low + 1;
  }
  return slot;
}

/** The state of every cell before the first window. */
function restingState(this: Kernel): number {
  return 0;
}

function restingStatus(this: Kernel): number {
  return this.constants.idle * this.constants.refractoryFactor;
}

/** [segment][experiment]: 1 where a source of the segment spiked in the window, so that silence costs little. */
function activity(this: Kernel, status: Vector): number {
  const experiment = this.thread.x;
  const segment = this.thread.y;
  let active = 0;
  if (experiment < this.constants.width) {
    const start = this.constants.segmentStart[segment]!;
    const length = this.constants.segmentLength[segment]!;
    for (let c = 0; c < this.constants.segmentConnections; c++) {
      if (c >= length) break;
      const source = this.constants.sources[start + c]!;
      const spikes = status[source * this.constants.width + experiment]! & 262143;
      if (spikes > 0) {
        active = 1;
      }
    }
  }
  return active;
}

/** [segment][step * width + experiment]: signed synapses of the segment whose sources spiked in that step. */
function segmentSums(this: Kernel, status: Vector, active: Grid): number {
  const segment = this.thread.y;
  const step = Math.floor(this.thread.x * this.constants.perWidth);
  const experiment = this.thread.x - step * this.constants.width;
  let sum = 0;
  let isActive = 0;
  if (step < this.constants.windowSteps) {
    isActive = active[segment]![experiment]!;
  }
  if (isActive > 0.5) {
    const start = this.constants.segmentStart[segment]!;
    const length = this.constants.segmentLength[segment]!;
    for (let c = 0; c < this.constants.segmentConnections; c++) {
      if (c >= length) break;
      const source = this.constants.sources[start + c]!;
      const spiked = (status[source * this.constants.width + experiment]! >> step) & 1;
      sum = sum + this.constants.synapses[start + c]! * spiked;
    }
  }
  return sum;
}

/** arrivals: adds up the segments of a neuron. */
function arrivals(this: Kernel, sums: Grid): number {
  const cell = this.thread.y * this.constants.rowLength + this.thread.x;
  const neuron = Math.floor(cell * this.constants.perWidth);
  const experiment = cell - neuron * this.constants.width;
  const column = this.thread.z * this.constants.width + experiment;
  let sum = 0;
  if (neuron < this.constants.neuronCount) {
    const first = this.constants.firstSegment[neuron]!;
    const count = this.constants.firstSegment[neuron + 1]! - first;
    for (let s = 0; s < this.constants.mostSegments; s++) {
      if (s >= count) break;
      sum = sum + sums[first + s]![column]!;
    }
  }
  return sum;
}

/** The status after a window: runs a cell through the 18 steps and notes its spikes. */
function nextStatus(
  this: Kernel,
  state: Layers,
  status: Vector,
  arriving: Layers,
  slotOfCell: Vector,
  kicks: Grid,
  window: number,
): number {
  const cell = this.thread.x;
  const row = Math.floor(cell * this.constants.perRowLength);
  const column = cell - row * this.constants.rowLength;
  const slot = slotOfCell[cell]!;
  let kicksOfWindow = 0;
  if (slot > 0.5) {
    kicksOfWindow = kicks[window]![slot - 1]!;
  }
  let flag = (status[cell]! >> this.constants.flagShift) & 1;
  let refractory = (status[cell]! >> this.constants.refractoryShift) & 31;
  if (refractory > this.constants.idle - 0.5) {
    refractory = 0;
  }
  let u = unpacked(state[0]![row]![column]!, state[1]![row]![column]!);
  let h = unpacked(state[2]![row]![column]!, state[3]![row]![column]!);

  let something =
    kicksOfWindow +
    Math.abs(state[0]![row]![column]!) +
    Math.abs(state[1]![row]![column]!) +
    Math.abs(state[2]![row]![column]!) +
    Math.abs(state[3]![row]![column]!);
  if (something < 0.5) {
    for (let step = 0; step < this.constants.windowSteps; step++) {
      something = something + Math.abs(arriving[step]![row]![column]!);
    }
  }
  let spikes = 0;
  if (something < 0.5) {
    // At rest; a refractory period that goes on must not be forgotten.
    if (refractory < 0.5) {
      refractory = this.constants.idle;
    } else {
      refractory = Math.max(0, refractory - this.constants.windowSteps);
    }
  } else {
    let bit = 1;
    for (let step = 0; step < this.constants.windowSteps; step++) {
      if (refractory > 0.5) {
        refractory = refractory - 1;
      } else {
        u = decayedLimbs(
          u,
          this.constants.membrane0,
          this.constants.membrane1,
          this.constants.membrane2,
          this.constants.membrane3,
        );
        h = decayedLimbs(
          h,
          this.constants.synapse0,
          this.constants.synapse1,
          this.constants.synapse2,
          this.constants.synapse3,
        );
        const above = aboveThreshold(
          u,
          h,
          this.constants.threshold0,
          this.constants.threshold1,
          this.constants.threshold2,
          this.constants.threshold3,
        );
        if (Math.abs(above) < this.constants.margin) {
          flag = 1;
        }
        if (above > 0.5) {
          spikes = spikes + bit;
          u = [0, 0, 0, 0];
          h = [0, 0, 0, 0];
          if (slot < 0.5) {
            refractory = this.constants.refractoryAfterSpike;
          }
        } else {
          const synapses = arriving[step]![row]![column]!;
          const kicked = (kicksOfWindow >> step) & 1;
          h = withSynapses(h, synapses);
          u = withSynapses(u, synapses + kicked * this.constants.kickSynapses);
          if (Math.max(Math.abs(u[3]!), Math.abs(h[3]!)) > this.constants.largestTopLimb) {
            flag = 1;
            u = inRange(u, this.constants.largestTopLimb);
            h = inRange(h, this.constants.largestTopLimb);
          }
        }
      }
      bit = bit * 2;
    }
  }
  return spikes + refractory * this.constants.refractoryFactor + flag * this.constants.flagFactor;
}

/**
 * The state after a window. A thread keeps one of the four floats of a cell: layers 0 and 1 follow u, 2 and 3
 * follow h. When the cell spikes it reads from the status that was computed before, so neither needs the other.
 */
function nextState(
  this: Kernel,
  state: Layers,
  status: Vector,
  arriving: Layers,
  slotOfCell: Vector,
  kicks: Grid,
  window: number,
  statusAfter: Vector,
): number {
  const column = this.thread.x;
  const row = this.thread.y;
  const layer = this.thread.z;
  const cell = row * this.constants.rowLength + column;
  const refractoryAfter = (statusAfter[cell]! >> this.constants.refractoryShift) & 31;
  if (refractoryAfter > this.constants.idle - 0.5) {
    return 0;
  }
  const slot = slotOfCell[cell]!;
  let kicksOfWindow = 0;
  if (slot > 0.5) {
    kicksOfWindow = kicks[window]![slot - 1]!;
  }
  let refractory = (status[cell]! >> this.constants.refractoryShift) & 31;
  if (refractory > this.constants.idle - 0.5) {
    refractory = 0;
  }
  let first = 0;
  let kickSynapses = this.constants.kickSynapses;
  let d0 = this.constants.membrane0;
  let d1 = this.constants.membrane1;
  let d2 = this.constants.membrane2;
  let d3 = this.constants.membrane3;
  if (layer > 1.5) {
    first = 2;
    kickSynapses = 0;
    d0 = this.constants.synapse0;
    d1 = this.constants.synapse1;
    d2 = this.constants.synapse2;
    d3 = this.constants.synapse3;
  }
  let x = unpacked(state[first]![row]![column]!, state[first + 1]![row]![column]!);
  for (let step = 0; step < this.constants.windowSteps; step++) {
    if (refractory > 0.5) {
      refractory = refractory - 1;
    } else {
      const spiked = (statusAfter[cell]! >> step) & 1;
      if (spiked > 0.5) {
        x = [0, 0, 0, 0];
        if (slot < 0.5) {
          refractory = this.constants.refractoryAfterSpike;
        }
      } else {
        const kicked = (kicksOfWindow >> step) & 1;
        x = decayedLimbs(x, d0, d1, d2, d3);
        x = inRange(
          withSynapses(x, arriving[step]![row]![column]! + kicked * kickSynapses),
          this.constants.largestTopLimb,
        );
      }
    }
  }
  let value = x[3]! * 4096 + x[2]!;
  if (layer - first > 0.5) {
    value = x[1]! * 4096 + x[0]!;
  }
  return value;
}

/**
 * The spikes of five cells in one number, the first as its highest digit. A cell that is not stimulated spikes
 * at most once in a window, because it is refractory for longer; the others are read by `spikesOfSlots`.
 */
function packedSpikes(this: Kernel, status: Vector, slotOfCell: Vector): number {
  let packed = 0;
  for (let k = 0; k < this.constants.cellsPerFloat; k++) {
    const cell = this.thread.x * this.constants.cellsPerFloat + k;
    let value = 0;
    if (cell < this.constants.cellCount) {
      const spikes = status[cell]! & 262143;
      if (spikes > 0.5 && slotOfCell[cell]! < 0.5) {
        for (let step = 0; step < this.constants.windowSteps; step++) {
          const spiked = (spikes >> step) & 1;
          if (spiked > 0.5) {
            value = step + 1;
          }
        }
      }
    }
    packed = packed * this.constants.packedValues + value;
  }
  return packed;
}

/** Bits of spikes of every stimulated cell; a place without a cell says that the kernel has run. */
function spikesOfSlots(this: Kernel, status: Vector, stimulatedCells: Vector): number {
  const cell = stimulatedCells[this.thread.x]!;
  let spikes = this.constants.signOfLife;
  if (cell < this.constants.cellCount) {
    spikes = status[cell]! & 262143;
  }
  return spikes;
}

/** [chunk of neurons][experiment]: how many of the cells carry no flag. */
function soundCells(this: Kernel, status: Vector): number {
  const experiment = this.thread.x;
  let sound = 0;
  if (experiment < this.constants.width) {
    for (let k = 0; k < this.constants.flagNeurons; k++) {
      const neuron = this.thread.y * this.constants.flagNeurons + k;
      if (neuron < this.constants.neuronCount) {
        const flag = (status[neuron * this.constants.width + experiment]! >> this.constants.flagShift) & 1;
        sound = sound + 1 - flag;
      }
    }
  }
  return sound;
}

// ---- the pipeline ------------------------------------------------------------------------------------------

/** What a pipeline is compiled for; another shape needs another one. */
export interface PipelineShape {
  readonly width: number;
  readonly windows: number;
  /** Places for stimulated cells: a power of two, greater than their number. */
  readonly slots: number;
  /** Whether the state at the end is read back as well, for tests. */
  readonly withState: boolean;
}

/** What comes back from a pipeline; numbers as kernels.ts describes them. */
export interface PipelineResult {
  readonly backend: string | null;
  readonly fallbackReason: string | null;
  /** [window][packed] */
  readonly packed: readonly Float32Array[];
  /** [window][slot] */
  readonly slotSpikes: readonly Float32Array[];
  /** [chunk of neurons][experiment]: cells without a flag */
  readonly sound: readonly Float32Array[];
  /** [4][rows][rowLength], with `withState` */
  readonly state: readonly (readonly Float32Array[])[] | undefined;
}

export interface WindowPipeline {
  /**
   * @param stimulatedCells length slots, ascending, padded with NO_CELL
   * @param kicks [window][slot], one after the other
   */
  run(stimulatedCells: Float32Array, kicks: Float32Array): Promise<PipelineResult>;
  destroy(): Promise<void>;
}

const SEGMENT_ARRAYS = ['segmentStart', 'segmentLength', 'sources'] as const;
/** gpu.js makes grids of 8 x 8 threads; an axis that is a multiple of 8 wastes none of them. */
const padded = (length: number) => Math.ceil(length / 8) * 8;

/** Bytes of the largest array of a pipeline: an adapter may bind fewer at once. */
export function largestArrayBytes(
  neuronCount: number,
  { segmentCount, sources }: IncomingConnections,
  width: number,
): number {
  const arrivals = WINDOW_STEPS * cellsOf(neuronCount, width).count;
  const sums = padded(WINDOW_STEPS * width) * segmentCount;
  return Float32Array.BYTES_PER_ELEMENT * Math.max(arrivals, sums, sources.length);
}

/** Records all windows of a run as one plan: one submission, one readback. */
export function windowPipeline(
  gpu: GPU,
  neuronCount: number,
  incoming: IncomingConnections,
  { width, windows, slots: slotCount, withState }: PipelineShape,
): WindowPipeline {
  const cells = cellsOf(neuronCount, width);
  const integers = integersOf(incoming, slotCount);
  const floats = floatsOf(neuronCount, cells, slotCount);
  const typed = (type: GPUVariableType, values: object) =>
    Object.fromEntries(Object.keys(values).map((name) => [name, type]));
  const kernel = (
    source: (this: Kernel, ...inputs: never[]) => number,
    output: number[],
    arrays: readonly (keyof IncomingConnections)[] = [],
  ): Recordable =>
    gpu.createKernel(source.toString(), {
      output,
      precision: 'single',
      functions: FUNCTIONS as unknown as IGPUKernelSettings['functions'],
      constants: {
        ...integers,
        ...floats,
        ...Object.fromEntries(arrays.map((name) => [name, incoming[name]])),
      },
      constantTypes: {
        ...typed('Integer', integers),
        ...typed('Float', floats),
        ...Object.fromEntries(arrays.map((name) => [name, 'Array' as const])),
      },
    });
  const grid = [cells.rowLength, cells.rows];

  const findSlots = kernel(slots, [cells.count]);
  const rest = kernel(restingState, [...grid, 4]);
  const atRest = kernel(restingStatus, [cells.count]);
  const findActive = kernel(activity, [padded(width), incoming.segmentCount], SEGMENT_ARRAYS);
  const sumSegments = kernel(
    segmentSums,
    [padded(WINDOW_STEPS * width), incoming.segmentCount],
    [...SEGMENT_ARRAYS, 'synapses'],
  );
  const sumArrivals = kernel(arrivals, [...grid, WINDOW_STEPS], ['firstSegment']);
  const toStatus = kernel(nextStatus, [cells.count]);
  const toState = kernel(nextState, [...grid, 4]);
  const pack = kernel(packedSpikes, [cells.packedLength]);
  const readSlots = kernel(spikesOfSlots, [slotCount]);
  const countSound = kernel(soundCells, [padded(width), Math.ceil(neuronCount / FLAG_NEURONS)]);

  const pipeline = gpu.createPipeline((stimulatedCells: Handle, kicks: Handle) => {
    const slotOfCell = findSlots(stimulatedCells);
    let state = rest();
    let status = atRest();
    const packed: Handle[] = [];
    const slotSpikes: Handle[] = [];
    for (let window = 0; window < windows; window++) {
      const arriving = sumArrivals(sumSegments(status, findActive(status)));
      const statusAfter = toStatus(state, status, arriving, slotOfCell, kicks, window);
      state = toState(state, status, arriving, slotOfCell, kicks, window, statusAfter);
      status = statusAfter;
      packed.push(pack(status, slotOfCell));
      slotSpikes.push(readSlots(status, stimulatedCells));
    }
    return [...packed, ...slotSpikes, countSound(status), ...(withState ? [state] : [])];
  });

  return {
    async run(stimulatedCells, kicks) {
      const table = new Input(kicks as unknown as number[], [slotCount, windows]);
      const results = (await pipeline(stimulatedCells, table)) as unknown[];
      return {
        backend: pipeline.backend,
        fallbackReason: pipeline.fallbackReason,
        packed: results.slice(0, windows) as Float32Array[],
        slotSpikes: results.slice(windows, 2 * windows) as Float32Array[],
        sound: results[2 * windows] as Float32Array[],
        state: results[2 * windows + 1] as Float32Array[][] | undefined,
      };
    },
    destroy: () => pipeline.destroy(),
  };
}

/** Stands for a result while the plan is recorded. */
type Handle = unknown;
type Recordable = (...inputs: Handle[]) => Handle;
