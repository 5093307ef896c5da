/**
 * The kernels, as gpu.js reads them: it takes the source of these functions and writes it anew for the GPU. So
 * they use nothing but their arguments and `this`, no import and no closure, and their types are erased. What two kernels
 * do alike, such as the walk through the connections of a neuron, stands in each: no function can add to the variables of
 * its caller.
 *
 * Every number in them is an integer below 2^24 or a power of two, so neither fused multiply-add nor another
 * order of a sum can change a bit. Indices of cells and of connections may be larger: they are put together with shifts,
 * `|` and sums of literals inside the brackets, because gpu.js makes every variable a float32. A division is a
 * multiplication of n + 1/2 (see incoming.ts), because WGSL does not promise a correctly rounded one.
 *
 * A window has 18 steps: what is emitted in one arrives in the next, so within a window no cell depends on another. A
 * kernel writes one float in each thread, so what a window does to a cell is found in two passes: nextStatuses says
 * whether and when the cell spikes, nextStates what its four floats are in the end. Some arrays hold two or three
 * things, which saves passes and bindings. Arrays:
 *   statuses   [neuron][experiment]        see below
 *   states     [cell >> 3][part][cell & 7] u and h of cells that are free or stimulated, see cells.ts: part p of a cell
 *              is at (cell >> 3) << 5 | p << 3 | cell & 7. The states of other cells are 0 and are not stored: what
 *              stands in their places is anything. Then [neuron]: 1 where it spiked in the window in any experiment
 *   silenced   [experiment][place]         neurons, ascending
 *   inputs     [row][experiment][place]    row 0: stimulated neurons, ascending; then for each window `layers` rows: bits
 *              of the steps in which the neuron gets an event; with several events in a step, several layers have the bit
 *   active     [word], [word][experiment]  24 bits: neurons that spiked in any experiment; and how many spikes they have
 *              in each
 *   masks      [group], [block][experiment]  24 bits: connections of the group whose source was active; and how many
 *              spikes the neurons of a block of words have in each experiment
 *   arrivals   what arrives in a window, in one array, because a kernel can bind no more: masks; then row 0 of inputs
 *              and the rows of the window; then [chunk][sum][experiment], the sums of hubs (see CHUNK_SUMS)
 *   spikes     [experiment][place]         1 + the number of spikes; then each spike as 1 + step + neuron * 2^STEP_BITS, by
 *              neuron, then by step; then 1 + their number again. A 0 does not occur
 *
 * A status is the bits of the spikes in the window (18) + code * 2^18 + flag * 2^23, with a minus where the outputs of
 * the cell are cut. Codes: 1 + the steps that the cell is still refractory after the window, FREE if none; STIMULATED
 * for a cell that gets events and has no refractory period; IDLE for a cell whose state is 0. A status of 0 does not
 * occur: a GPU that has refused its work gives back zeros. The flag stays once it is set: v came too close to the
 * threshold, or the state left its range.
 */
import gpujs, { type GPU, type GPUVariableType, type IGPUKernelSettings } from 'gpu.js';
import { REFRACTORY_STEPS } from '../../network.js';
import type { BatchTables } from './batch-tables.js';
import { cellsOf, STEP_BITS, type Cells } from './cells.js';
import { CHUNK_GROUPS, CHUNK_SUMS, GROUP_CONNECTIONS, type IncomingConnections } from './incoming.js';
import {
  INPUT_EVENT_SYNAPSES,
  LARGEST_TOP_LIMB,
  LIGHT_FLOAT_BELOW,
  LIGHT_SYNAPSES,
  LIMB_BASE,
  MARGIN_UNITS,
  MEMBRANE,
  potentialBound,
  QUIET_BELOW,
  SYNAPSE,
  THRESHOLD_UNITS,
  toLimbs,
  WINDOW_STEPS,
  type Limbs,
} from './number-format.js';
import {
  arrivalsOf,
  BLOCK_WORDS,
  blocksOf,
  FLAG_NEURONS,
  hubSumsAt,
  inputRows,
  placesOf,
  soundChunks,
  WORD_NEURONS,
  wordsOf,
  type PipelineShape,
} from './pipeline-shape.js';
import type { BatchLists } from './spike-lists.js';

const { Input } = gpujs;

type Vector = ArrayLike<number>;
type Grid = ArrayLike<Vector>;

const FLAG_SHIFT = 23;
const FREE = 1;
const STIMULATED = 30;
const IDLE = 31;
/** Of a status: the spikes of the window. */
export const SPIKE_BITS = 2 ** WINDOW_STEPS - 1;
/** Whether `states` has something for a cell of this status. */
export function statusHasState(status: number): boolean {
  const code = (Math.abs(status) >> WINDOW_STEPS) & 31;
  return code === FREE || code === STIMULATED;
}
/** Numbers that count, shift and mask: integers in the GPU's code. */
function integersOf(cells: Cells, incoming: IncomingConnections, shape: PipelineShape) {
  return {
    width: cells.width,
    widthShift: cells.shift,
    lastExperiment: cells.width - 1,
    windowSteps: WINDOW_STEPS,
    spikeBits: SPIKE_BITS,
    codeShift: WINDOW_STEPS,
    flagShift: FLAG_SHIFT,
    groupCount: incoming.groupCount,
    chunkGroups: CHUNK_GROUPS,
    mostChunks: mostChunks(incoming),
    groupConnections: GROUP_CONNECTIONS,
    wordNeurons: WORD_NEURONS,
    blockWords: BLOCK_WORDS,
    blocks: blocksOf(cells.neuronCount),
    countsAt: wordsOf(cells.neuronCount),
    flagNeurons: FLAG_NEURONS,
    layers: shape.layers,
    placesShift: Math.log2(placesOf(shape)),
    lastPlace: placesOf(shape) - 1,
    eventsAt: incoming.groupCount,
    hubSumsAt: hubSumsAt(incoming, shape),
    activeAt: cells.stateCount,
    searchSteps: Math.log2(Math.max(shape.stimulated, shape.silenced)) + 1,
    spikesShift: Math.log2(shape.spikes),
    lastSpike: shape.spikes - 1,
  };
}

/** Numbers that are calculated with: float32 in the GPU's code, like everything in its arrays. */
function floatsOf(cells: Cells, incoming: IncomingConnections, shape: PipelineShape) {
  const { neuronCount } = cells;
  return {
    neuronCount,
    words: wordsOf(neuronCount),
    perWord: 1 / WORD_NEURONS,
    chunkSums: CHUNK_SUMS,
    perChunkSums: 1 / CHUNK_SUMS,
    stimulatedPlaces: shape.stimulated,
    silencedPlaces: shape.silenced,
    neuronFactor: 2 ** STEP_BITS,
    free: FREE,
    stimulated: STIMULATED,
    idle: IDLE,
    codeFactor: 2 ** WINDOW_STEPS,
    flagFactor: 2 ** FLAG_SHIFT,
    refractoryAfterSpike: REFRACTORY_STEPS - 1,
    eventSynapses: INPUT_EVENT_SYNAPSES,
    limbBase: LIMB_BASE,
    largestTopLimb: LARGEST_TOP_LIMB,
    margin: MARGIN_UNITS,
    quietBelow: QUIET_BELOW,
    lightFloatBelow: LIGHT_FLOAT_BELOW,
    lightSynapses: LIGHT_SYNAPSES,
    decayLength: DECAY_TABLE.length / 2,
    ...tableOffsets(incoming),
    ...named('uStep', MEMBRANE.step.lossLimbs),
    ...named('hStep', SYNAPSE.step.lossLimbs),
    ...named('threshold', toLimbs(THRESHOLD_UNITS)),
  };
}

function named<Name extends string>(name: Name, limbs: Limbs) {
  return Object.fromEntries(limbs.map((limb, i) => [`${name}${i}`, limb])) as Record<
    `${Name}${0 | 1 | 2 | 3}`,
    number
  >;
}

function mostChunks({ firstChunk }: IncomingConnections): number {
  return firstChunk.reduce((most, first, i) => Math.max(most, first - (firstChunk[i - 1] ?? 0)), 0);
}

/** Of u, then of h, in limbs: the losses in a window and in a step, and what each step of a window contributes. */
const DECAY_TABLE = [MEMBRANE, SYNAPSE].flatMap(({ window, step, arrivalUnits }) => [
  ...window.lossLimbs,
  ...step.lossLimbs,
  ...arrivalUnits.flatMap(toLimbs),
]);

/** A kernel may have 8 arrays; so all small tables are one. */
function tableOffsets({ firstGroup, firstChunk, chunkCount }: IncomingConnections) {
  const firstChunkAt = firstGroup.length;
  const groupOfChunkAt = firstChunkAt + firstChunk.length;
  const groupsOfChunkAt = groupOfChunkAt + chunkCount;
  return { firstChunkAt, groupOfChunkAt, groupsOfChunkAt, decaysAt: groupsOfChunkAt + chunkCount };
}

function tablesOf({
  firstGroup,
  firstChunk,
  groupOfChunk,
  groupsOfChunk,
}: IncomingConnections): Float32Array {
  const tables = [firstGroup, firstChunk, groupOfChunk, groupsOfChunk, DECAY_TABLE];
  const joined = new Float32Array(tables.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const table of tables) {
    joined.set(table, at);
    at += table.length;
  }
  return joined;
}

/** What a kernel finds in `this`. */
interface Kernel {
  readonly thread: { readonly x: number; readonly y: number; readonly z: number };
  readonly constants: Readonly<
    ReturnType<typeof integersOf> &
      ReturnType<typeof floatsOf> & { tables: Vector; sourceOf: Grid; synapsesOf: Grid }
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
 * x - x * D / 2^48 + a / 2^12, where D are the limbs d, and a the limbs that what arrives has in the four highest columns
 * of the product. The four lowest columns matter only by their carry.
 */
function decayedLimbs(
  x: number[],
  d0: number,
  d1: number,
  d2: number,
  d3: number,
  a0: number,
  a1: number,
  a2: number,
  a3: number,
): number[] {
  let carry = carryOf(0 - x[0]! * d0);
  carry = carryOf(carry - x[0]! * d1 - x[1]! * d0);
  carry = carryOf(carry - x[0]! * d2 - x[1]! * d1 - x[2]! * d0);
  carry = carryOf(carry - x[0]! * d3 - x[1]! * d2 - x[2]! * d1 - x[3]! * d0 + a0);
  const y0 = x[0]! + carry - x[1]! * d3 - x[2]! * d2 - x[3]! * d1 + a1;
  carry = carryOf(y0);
  const z0 = y0 - carry * 4096;
  const y1 = x[1]! + carry - x[2]! * d3 - x[3]! * d2 + a2;
  carry = carryOf(y1);
  const z1 = y1 - carry * 4096;
  const y2 = x[2]! + carry - x[3]! * d3 + a3;
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

/** Four of the 18 sums of a window, with synapses added to the one of this step, if it is one of them. */
function withArrival(sums: number[], step: number, synapses: number): number[] {
  return [
    sums[0]! + (step === 0 ? synapses : 0),
    sums[1]! + (step === 1 ? synapses : 0),
    sums[2]! + (step === 2 ? synapses : 0),
    sums[3]! + (step === 3 ? synapses : 0),
  ];
}

const LIMBS = 'Array(4)';
const FUNCTIONS = [
  functionOf(carryOf, ['Number'], 'Number'),
  functionOf(unpacked, ['Number', 'Number'], LIMBS),
  functionOf(decayedLimbs, [LIMBS, ...new Array<string>(8).fill('Number')], LIMBS),
  functionOf(withSynapses, [LIMBS, 'Number'], LIMBS),
  functionOf(inRange, [LIMBS, 'Number'], LIMBS),
  functionOf(aboveThreshold, [LIMBS, LIMBS, 'Number', 'Number', 'Number', 'Number'], 'Number'),
  functionOf(withArrival, [LIMBS, 'Number', 'Number'], LIMBS),
  functionOf(potentialBound, ['Number', 'Number', 'Number'], 'Number'),
];

function functionOf(
  source: (...values: never[]) => number | number[],
  argumentTypes: readonly string[],
  returnType: string,
) {
  return { name: source.name, source: source.toString(), argumentTypes, returnType };
}

// ---- kernels -----------------------------------------------------------------------------------------------

/** statuses before the first window: all idle or stimulated, and silenced or not. */
function restingStatuses(this: Kernel, silenced: Vector, inputs: Grid): number {
  const neuron = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
  let low = experiment * this.constants.stimulatedPlaces;
  let high = low + this.constants.stimulatedPlaces - 1;
  for (let search = 0; search < this.constants.searchSteps; search++) {
    if (low < high) {
      const middle = Math.floor((low + high) * 0.5);
      if (inputs[0]![middle]! < neuron) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  let code = this.constants.idle;
  if (inputs[0]![low]! === neuron) {
    code = this.constants.stimulated;
  }
  low = experiment * this.constants.silencedPlaces;
  high = low + this.constants.silencedPlaces - 1;
  for (let search = 0; search < this.constants.searchSteps; search++) {
    if (low < high) {
      const middle = Math.floor((low + high) * 0.5);
      if (silenced[middle]! < neuron) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
  }
  let status = code * this.constants.codeFactor;
  if (silenced[low]! === neuron) {
    status = 0 - status;
  }
  return status;
}

/** states before the first window. The argument is not read: gpu.js wants one. */
function restingStates(this: Kernel, statuses: Vector): number {
  return statuses[0]! * 0;
}

/** active: bits in the first threads, in the others the spikes of one experiment. */
function activeWords(this: Kernel, statuses: Vector, states: Vector): number {
  if (this.thread.x < this.constants.countsAt) {
    let bits = 0;
    let bit = 1;
    for (let k = 0; k < this.constants.wordNeurons; k++) {
      const neuron = this.thread.x * this.constants.wordNeurons + k;
      if (neuron < this.constants.neuronCount) {
        bits = bits + bit * states[this.constants.activeAt + (neuron | 0)]!;
      }
      bit = bit * 2;
    }
    return bits;
  }
  const word = (this.thread.x - this.constants.countsAt) >> this.constants.widthShift;
  const experiment = (this.thread.x - this.constants.countsAt) & this.constants.lastExperiment;
  let count = 0;
  for (let k = 0; k < this.constants.wordNeurons; k++) {
    const neuron = word * this.constants.wordNeurons + k;
    if (neuron < this.constants.neuronCount) {
      if (states[this.constants.activeAt + (neuron | 0)]! > 0.5) {
        const status = statuses[(neuron << this.constants.widthShift) | experiment]!;
        let spikes = Math.abs(status) & this.constants.spikeBits;
        for (let spike = 0; spike < this.constants.windowSteps; spike++) {
          if (spikes < 0.5) break;
          spikes = spikes & (spikes - 1);
          count = count + 1;
        }
      }
    }
  }
  return count;
}

/** spikes: found by the counts of blocks and words, the bits of a word and the statuses of its neurons. */
function spikeLists(this: Kernel, statuses: Vector, active: Vector, masks: Vector): number {
  const experiment = this.thread.x >> this.constants.spikesShift;
  const place = this.thread.x & this.constants.lastSpike;
  let before = 0;
  let block = 0;
  for (let k = 0; k < this.constants.blocks; k++) {
    const after =
      before + masks[this.constants.groupCount + ((k << this.constants.widthShift) | experiment)]!;
    if (place > 0.5 && place < after + 0.5) break;
    before = after;
    block = block + 1;
  }
  if (block > this.constants.blocks - 0.5) {
    // The first place, and those behind the last spike.
    return 1 + before;
  }
  let word = block * this.constants.blockWords;
  for (let k = 0; k < this.constants.blockWords; k++) {
    const after =
      before + active[this.constants.countsAt + ((word << this.constants.widthShift) | experiment)]!;
    if (place < after + 0.5) break;
    before = after;
    word = word + 1;
  }
  const bits = active[word]!;
  for (let k = 0; k < this.constants.wordNeurons; k++) {
    if (((bits >> k) & 1) > 0) {
      const neuron = word * this.constants.wordNeurons + k;
      const status = statuses[(neuron << this.constants.widthShift) | experiment]!;
      let spikes = Math.abs(status) & this.constants.spikeBits;
      for (let spike = 0; spike < this.constants.windowSteps; spike++) {
        if (spikes < 0.5) break;
        before = before + 1;
        if (place < before + 0.5) {
          const lowest = spikes & (0 - spikes);
          return neuron * this.constants.neuronFactor + 32 - Math.clz32(lowest);
        }
        spikes = spikes & (spikes - 1);
      }
    }
  }
  // The counts have a spike that no status has: the batch is refused.
  return 0;
}

/** masks; and how many spikes an experiment has, block by block of words. */
function connectionMasks(this: Kernel, active: Vector): number {
  if (this.thread.x >= this.constants.groupCount) {
    const block = (this.thread.x - this.constants.groupCount) >> this.constants.widthShift;
    const experiment = (this.thread.x - this.constants.groupCount) & this.constants.lastExperiment;
    let count = 0;
    for (let k = 0; k < this.constants.blockWords; k++) {
      const word = block * this.constants.blockWords + k;
      if (word < this.constants.words) {
        count = count + active[this.constants.countsAt + ((word << this.constants.widthShift) | experiment)]!;
      }
    }
    return count;
  }
  let mask = 0;
  let bit = 1;
  for (let k = 0; k < this.constants.groupConnections; k++) {
    const source = this.constants.sourceOf[k]![this.thread.x]!;
    const word = Math.floor((source + 0.5) * this.constants.perWord);
    const isActive = (active[word]! >> (source - word * this.constants.wordNeurons)) & 1;
    mask = mask + bit * isActive;
    bit = bit * 2;
  }
  return mask;
}

/** arrivals: the masks and the input events of the window are only copied, the sums of hubs are made here. */
function windowArrivals(this: Kernel, statuses: Vector, masks: Vector, inputs: Grid, window: number): number {
  if (this.thread.x < this.constants.eventsAt) {
    return masks[this.thread.x]!;
  }
  if (this.thread.x < this.constants.hubSumsAt) {
    const row = (this.thread.x - this.constants.eventsAt) >> this.constants.placesShift;
    const place = (this.thread.x - this.constants.eventsAt) & this.constants.lastPlace;
    if (row < 0.5) {
      return inputs[0]![place]!;
    }
    return inputs[window * this.constants.layers + row]![place]!;
  }
  const record = (this.thread.x - this.constants.hubSumsAt) >> this.constants.widthShift;
  const experiment = (this.thread.x - this.constants.hubSumsAt) & this.constants.lastExperiment;
  const chunk = Math.floor((record + 0.5) * this.constants.perChunkSums);
  const sum = record - chunk * this.constants.chunkSums;
  const group = this.constants.tables[this.constants.groupOfChunkAt + chunk]!;
  const groups = this.constants.tables[this.constants.groupsOfChunkAt + chunk]!;
  let total = 0;
  for (let g = 0; g < this.constants.chunkGroups; g++) {
    if (g >= groups) break;
    let mask = masks[group + g]!;
    for (let b = 0; b < this.constants.groupConnections; b++) {
      if (mask < 0.5) break;
      const k = 31 - Math.clz32(mask);
      mask = mask - (1 << k);
      const source = this.constants.sourceOf[k]![group + g]!;
      const status = statuses[(source << this.constants.widthShift) | experiment]!;
      if (status > 0) {
        const synapses = this.constants.synapsesOf[k]![group + g]!;
        let spikes = status & this.constants.spikeBits;
        if (sum < this.constants.windowSteps) {
          total = total + synapses * ((spikes >> sum) & 1);
        } else {
          let amount = Math.max(0, synapses);
          if (sum > this.constants.windowSteps) {
            amount = Math.abs(synapses);
          }
          for (let spike = 0; spike < this.constants.windowSteps; spike++) {
            if (spikes < 0.5) break;
            spikes = spikes & (spikes - 1);
            total = total + amount;
          }
        }
      }
    }
  }
  return total;
}

/**
 * statuses after a window. The first pass over the connections sums up the synapses that arrive, which tells whether
 * the cell may spike. The few that may have a second pass, for the sums of each step, and are stepped through.
 */
function nextStatuses(this: Kernel, statuses: Vector, states: Vector, arrivals: Vector): number {
  const neuron = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
  const before = statuses[this.thread.x]!;
  let status = Math.abs(before);
  let flag = (status >> this.constants.flagShift) & 1;
  let code = (status >> this.constants.codeShift) & 31;
  let spikes = 0;
  let refractory = 0;
  if (code < this.constants.stimulated) {
    refractory = code - 1;
  }
  if (refractory >= this.constants.windowSteps) {
    // Refractory throughout the window.
    code = code - this.constants.windowSteps;
  } else {
    // The input events of a stimulated cell: how many steps have one, summed over layers, and where they are found.
    let place = experiment * this.constants.stimulatedPlaces;
    let events = 0;
    if (code === this.constants.stimulated) {
      let end = place + this.constants.stimulatedPlaces - 1;
      for (let search = 0; search < this.constants.searchSteps; search++) {
        if (place < end) {
          const middle = Math.floor((place + end) * 0.5);
          if (arrivals[this.constants.eventsAt + (middle | 0)]! < neuron) {
            place = middle + 1;
          } else {
            end = middle;
          }
        }
      }
      for (let layer = 0; layer < this.constants.layers; layer++) {
        events =
          events + arrivals[this.constants.eventsAt + (((layer + 1) << this.constants.placesShift) | place)]!;
      }
    }
    // Cells that are idle or refractory begin with 0.
    let hasState = 0;
    let uHigh = 0;
    let hHigh = 0;
    if (code === this.constants.free || code === this.constants.stimulated) {
      hasState = 1;
      uHigh = states[((this.thread.x >> 3) << 5) | (this.thread.x & 7)]!;
      hHigh = states[((this.thread.x >> 3) << 5) | 16 | (this.thread.x & 7)]!;
    }

    const group = this.constants.tables[neuron]!;
    const groups = this.constants.tables[neuron + 1]! - group;
    let exciting = 0;
    let all = 0;
    let steps0 = [0, 0, 0, 0];
    let steps4 = [0, 0, 0, 0];
    let steps8 = [0, 0, 0, 0];
    let steps12 = [0, 0, 0, 0];
    let steps16 = [0, 0, 0, 0];
    let isIdle = 0;
    let mayStep = 1;
    for (let pass = 0; pass < 2; pass++) {
      if (mayStep < 0.5) break;
      if (groups > this.constants.chunkGroups) {
        const chunk = this.constants.tables[this.constants.firstChunkAt + neuron]!;
        const chunks = this.constants.tables[this.constants.firstChunkAt + neuron + 1]! - chunk;
        for (let c = 0; c < this.constants.mostChunks; c++) {
          if (c >= chunks) break;
          const sums = (chunk + c) * this.constants.chunkSums;
          if (pass < 0.5) {
            exciting =
              exciting +
              arrivals[
                this.constants.hubSumsAt +
                  (((sums + this.constants.windowSteps) << this.constants.widthShift) | experiment)
              ]!;
            all =
              all +
              arrivals[
                this.constants.hubSumsAt +
                  (((sums + this.constants.windowSteps + 1) << this.constants.widthShift) | experiment)
              ]!;
          } else {
            for (let step = 0; step < this.constants.windowSteps; step++) {
              const synapses =
                arrivals[
                  this.constants.hubSumsAt + (((sums + step) << this.constants.widthShift) | experiment)
                ]!;
              steps0 = withArrival(steps0, step, synapses);
              steps4 = withArrival(steps4, step - 4, synapses);
              steps8 = withArrival(steps8, step - 8, synapses);
              steps12 = withArrival(steps12, step - 12, synapses);
              steps16 = withArrival(steps16, step - 16, synapses);
            }
          }
        }
      } else {
        for (let g = 0; g < this.constants.chunkGroups; g++) {
          if (g >= groups) break;
          let mask = arrivals[group + g]!;
          for (let b = 0; b < this.constants.groupConnections; b++) {
            if (mask < 0.5) break;
            const k = 31 - Math.clz32(mask);
            mask = mask - (1 << k);
            const source = this.constants.sourceOf[k]![group + g]!;
            const sent = statuses[(source << this.constants.widthShift) | experiment]!;
            if (sent > 0) {
              let arriving = sent & this.constants.spikeBits;
              for (let spike = 0; spike < this.constants.windowSteps; spike++) {
                if (arriving < 0.5) break;
                const step = 31 - Math.clz32(arriving);
                arriving = arriving - (1 << step);
                const synapses = this.constants.synapsesOf[k]![group + g]!;
                if (pass < 0.5) {
                  exciting = exciting + Math.max(0, synapses);
                  all = all + Math.abs(synapses);
                } else {
                  steps0 = withArrival(steps0, step, synapses);
                  steps4 = withArrival(steps4, step - 4, synapses);
                  steps8 = withArrival(steps8, step - 8, synapses);
                  steps12 = withArrival(steps12, step - 12, synapses);
                  steps16 = withArrival(steps16, step - 16, synapses);
                }
              }
            }
          }
        }
      }
      if (pass < 0.5) {
        if (hasState < 0.5 && all < 0.5) {
          isIdle = 1;
          mayStep = 0;
        } else if (
          events < 0.5 &&
          all <= this.constants.lightSynapses &&
          Math.max(Math.abs(uHigh), Math.abs(hHigh)) < this.constants.lightFloatBelow &&
          potentialBound(uHigh, hHigh, exciting) < this.constants.quietBelow
        ) {
          mayStep = 0;
        }
      }
    }
    if (isIdle > 0.5) {
      code = this.constants.idle;
    } else {
      if (mayStep > 0.5) {
        let u = [0, 0, 0, 0];
        let h = [0, 0, 0, 0];
        if (hasState > 0.5) {
          u = unpacked(uHigh, states[((this.thread.x >> 3) << 5) | 8 | (this.thread.x & 7)]!);
          h = unpacked(hHigh, states[((this.thread.x >> 3) << 5) | 24 | (this.thread.x & 7)]!);
        }
        let bit = 1;
        for (let quarter = 0; quarter < 5; quarter++) {
          let sums = [0, 0, 0, 0];
          if (quarter === 0) sums = steps0;
          if (quarter === 1) sums = steps4;
          if (quarter === 2) sums = steps8;
          if (quarter === 3) sums = steps12;
          if (quarter === 4) sums = steps16;
          for (let k = 0; k < 4; k++) {
            const step = quarter * 4 + k;
            if (step > this.constants.windowSteps - 0.5) break;
            if (refractory > 0.5) {
              refractory = refractory - 1;
            } else {
              u = decayedLimbs(
                u,
                this.constants.uStep0,
                this.constants.uStep1,
                this.constants.uStep2,
                this.constants.uStep3,
                0,
                0,
                0,
                0,
              );
              h = decayedLimbs(
                h,
                this.constants.hStep0,
                this.constants.hStep1,
                this.constants.hStep2,
                this.constants.hStep3,
                0,
                0,
                0,
                0,
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
                if (code !== this.constants.stimulated) {
                  refractory = this.constants.refractoryAfterSpike;
                }
              } else {
                const synapses = sums[k]!;
                let kicks = 0;
                if (events > 0.5) {
                  for (let layer = 0; layer < this.constants.layers; layer++) {
                    const bits =
                      arrivals[
                        this.constants.eventsAt + (((layer + 1) << this.constants.placesShift) | place)
                      ]!;
                    kicks = kicks + ((bits >> step) & 1);
                  }
                }
                h = withSynapses(h, synapses);
                u = withSynapses(u, synapses + kicks * this.constants.eventSynapses);
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
      } else {
        // What was refractory took in nothing before its end, and is free now.
        refractory = 0;
      }
      if (code !== this.constants.stimulated) {
        code = 1 + refractory;
      }
    }
  }
  status = spikes + code * this.constants.codeFactor + flag * this.constants.flagFactor;
  if (before < 0) {
    status = 0 - status;
  }
  return status;
}

/**
 * states after a window, a float in each thread: of cells that are free or stimulated after it, and of no others.
 * Spikes are known by now, so u and h no longer depend on each other. The last threads find the active neurons.
 */
function nextStates(
  this: Kernel,
  statuses: Vector,
  statusesAfter: Vector,
  states: Vector,
  arrivals: Vector,
): number | undefined {
  if (this.thread.x >= this.constants.activeAt) {
    const spiking = this.thread.x - this.constants.activeAt;
    let active = 0;
    for (let experiment = 0; experiment < this.constants.width; experiment++) {
      const status = statusesAfter[(spiking << this.constants.widthShift) | experiment]!;
      const spikes = Math.abs(status) & this.constants.spikeBits;
      if (spikes > 0) {
        active = 1;
      }
    }
    return active;
  }
  // Five bits of the thread are part and place in a block of cells; without the part, it is the number of the cell.
  const statusAfter = Math.abs(statusesAfter[((this.thread.x >> 5) << 3) | (this.thread.x & 7)]!);
  const code = (statusAfter >> this.constants.codeShift) & 31;
  if (code === this.constants.free || code === this.constants.stimulated) {
    const neuron = (((this.thread.x >> 5) << 3) | (this.thread.x & 7)) >> this.constants.widthShift;
    const experiment = (((this.thread.x >> 5) << 3) | (this.thread.x & 7)) & this.constants.lastExperiment;
    const isLow = (this.thread.x >> 3) & 1;
    const isH = (this.thread.x >> 4) & 1;
    // The cell begins with its state, or with 0, and takes in what arrives from step `first` on: after its last spike,
    // if it spikes and goes on, and after the end of its refractory period.
    let first = 0;
    let hasState = 1;
    const before = Math.abs(statuses[((this.thread.x >> 5) << 3) | (this.thread.x & 7)]!);
    const codeBefore = (before >> this.constants.codeShift) & 31;
    if (codeBefore === this.constants.idle) {
      hasState = 0;
    } else {
      if (codeBefore !== this.constants.stimulated && codeBefore !== this.constants.free) {
        hasState = 0;
        first = codeBefore - 1;
      }
    }
    const spikes = statusAfter & this.constants.spikeBits;
    if (spikes > 0.5) {
      hasState = 0;
      first = 32 - Math.clz32(spikes);
    }
    let high = 0;
    let x = [0, 0, 0, 0];
    if (hasState > 0.5) {
      high = states[((this.thread.x >> 4) << 4) | (this.thread.x & 7)]!;
      x = unpacked(high, states[((this.thread.x >> 4) << 4) | 8 | (this.thread.x & 7)]!);
      const other = states[(((this.thread.x >> 4) ^ 1) << 4) | (this.thread.x & 7)]!;
      high = Math.max(Math.abs(high), Math.abs(other));
    }
    let place = experiment * this.constants.stimulatedPlaces;
    let events = 0;
    if (code === this.constants.stimulated) {
      let end = place + this.constants.stimulatedPlaces - 1;
      for (let search = 0; search < this.constants.searchSteps; search++) {
        if (place < end) {
          const middle = Math.floor((place + end) * 0.5);
          if (arrivals[this.constants.eventsAt + (middle | 0)]! < neuron) {
            place = middle + 1;
          } else {
            end = middle;
          }
        }
      }
      for (let layer = 0; layer < this.constants.layers; layer++) {
        events =
          events + arrivals[this.constants.eventsAt + (((layer + 1) << this.constants.placesShift) | place)]!;
      }
    }

    const group = this.constants.tables[neuron]!;
    const groups = this.constants.tables[neuron + 1]! - group;
    const windowAt = this.constants.decaysAt + isH * this.constants.decayLength;
    const stepAt = windowAt + 4;
    const arrivalAt = windowAt + 8;
    let all = 0;
    let c0 = 0;
    let c1 = 0;
    let c2 = 0;
    let c3 = 0;
    let steps0 = [0, 0, 0, 0];
    let steps4 = [0, 0, 0, 0];
    let steps8 = [0, 0, 0, 0];
    let steps12 = [0, 0, 0, 0];
    let steps16 = [0, 0, 0, 0];
    let isLight = 0;
    for (let pass = 0; pass < 2; pass++) {
      if (isLight > 0.5) break;
      if (groups > this.constants.chunkGroups) {
        const chunk = this.constants.tables[this.constants.firstChunkAt + neuron]!;
        const chunks = this.constants.tables[this.constants.firstChunkAt + neuron + 1]! - chunk;
        for (let c = 0; c < this.constants.mostChunks; c++) {
          if (c >= chunks) break;
          const sums = (chunk + c) * this.constants.chunkSums;
          const allOfChunk =
            arrivals[
              this.constants.hubSumsAt +
                (((sums + this.constants.windowSteps + 1) << this.constants.widthShift) | experiment)
            ]!;
          if (allOfChunk > 0) {
            if (pass < 0.5) {
              all = all + allOfChunk;
            }
            for (let step = 0; step < this.constants.windowSteps; step++) {
              const synapses =
                arrivals[
                  this.constants.hubSumsAt + (((sums + step) << this.constants.widthShift) | experiment)
                ]!;
              if (pass < 0.5) {
                if (step > first - 0.5) {
                  c0 = c0 + synapses * this.constants.tables[arrivalAt + step * 4]!;
                  c1 = c1 + synapses * this.constants.tables[arrivalAt + step * 4 + 1]!;
                  c2 = c2 + synapses * this.constants.tables[arrivalAt + step * 4 + 2]!;
                  c3 = c3 + synapses * this.constants.tables[arrivalAt + step * 4 + 3]!;
                }
              } else {
                steps0 = withArrival(steps0, step, synapses);
                steps4 = withArrival(steps4, step - 4, synapses);
                steps8 = withArrival(steps8, step - 8, synapses);
                steps12 = withArrival(steps12, step - 12, synapses);
                steps16 = withArrival(steps16, step - 16, synapses);
              }
            }
          }
        }
      } else {
        for (let g = 0; g < this.constants.chunkGroups; g++) {
          if (g >= groups) break;
          let mask = arrivals[group + g]!;
          for (let b = 0; b < this.constants.groupConnections; b++) {
            if (mask < 0.5) break;
            const k = 31 - Math.clz32(mask);
            mask = mask - (1 << k);
            const source = this.constants.sourceOf[k]![group + g]!;
            const sent = statuses[(source << this.constants.widthShift) | experiment]!;
            if (sent > 0) {
              let arriving = sent & this.constants.spikeBits;
              for (let spike = 0; spike < this.constants.windowSteps; spike++) {
                if (arriving < 0.5) break;
                const step = 31 - Math.clz32(arriving);
                arriving = arriving - (1 << step);
                const synapses = this.constants.synapsesOf[k]![group + g]!;
                if (pass < 0.5) {
                  all = all + Math.abs(synapses);
                  if (step > first - 0.5) {
                    c0 = c0 + synapses * this.constants.tables[arrivalAt + step * 4]!;
                    c1 = c1 + synapses * this.constants.tables[arrivalAt + step * 4 + 1]!;
                    c2 = c2 + synapses * this.constants.tables[arrivalAt + step * 4 + 2]!;
                    c3 = c3 + synapses * this.constants.tables[arrivalAt + step * 4 + 3]!;
                  }
                } else {
                  steps0 = withArrival(steps0, step, synapses);
                  steps4 = withArrival(steps4, step - 4, synapses);
                  steps8 = withArrival(steps8, step - 8, synapses);
                  steps12 = withArrival(steps12, step - 12, synapses);
                  steps16 = withArrival(steps16, step - 16, synapses);
                }
              }
            }
          }
        }
      }
      if (
        pass < 0.5 &&
        events < 0.5 &&
        all <= this.constants.lightSynapses &&
        high < this.constants.lightFloatBelow
      ) {
        isLight = 1;
      }
    }
    if (isLight > 0.5) {
      x = decayedLimbs(
        x,
        this.constants.tables[windowAt]!,
        this.constants.tables[windowAt + 1]!,
        this.constants.tables[windowAt + 2]!,
        this.constants.tables[windowAt + 3]!,
        c0,
        c1,
        c2,
        c3,
      );
    } else {
      let eventSynapses = 0;
      if (isH < 0.5) {
        eventSynapses = this.constants.eventSynapses;
      }
      for (let quarter = 0; quarter < 5; quarter++) {
        let sums = [0, 0, 0, 0];
        if (quarter === 0) sums = steps0;
        if (quarter === 1) sums = steps4;
        if (quarter === 2) sums = steps8;
        if (quarter === 3) sums = steps12;
        if (quarter === 4) sums = steps16;
        for (let k = 0; k < 4; k++) {
          const step = quarter * 4 + k;
          if (step > this.constants.windowSteps - 0.5) break;
          if (step > first - 0.5) {
            x = decayedLimbs(
              x,
              this.constants.tables[stepAt]!,
              this.constants.tables[stepAt + 1]!,
              this.constants.tables[stepAt + 2]!,
              this.constants.tables[stepAt + 3]!,
              0,
              0,
              0,
              0,
            );
            let kicks = 0;
            if (events > 0.5) {
              for (let layer = 0; layer < this.constants.layers; layer++) {
                const bits =
                  arrivals[this.constants.eventsAt + (((layer + 1) << this.constants.placesShift) | place)]!;
                kicks = kicks + ((bits >> step) & 1);
              }
            }
            x = withSynapses(x, sums[k]! + kicks * eventSynapses);
            x = inRange(x, this.constants.largestTopLimb);
          }
        }
      }
    }
    if (isLow > 0.5) {
      return x[1]! * this.constants.limbBase + x[0]!;
    }
    return x[3]! * this.constants.limbBase + x[2]!;
  }
}

/** [chunk of neurons][experiment]: how many of the cells carry no flag. */
function soundCells(this: Kernel, statuses: Vector): number {
  const chunk = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
  let sound = 0;
  for (let k = 0; k < this.constants.flagNeurons; k++) {
    const neuron = chunk * this.constants.flagNeurons + k;
    if (neuron < this.constants.neuronCount) {
      const status = Math.abs(statuses[(neuron << this.constants.widthShift) | experiment]!);
      if (status > 0.5) {
        sound = sound + 1 - ((status >> this.constants.flagShift) & 1);
      }
    }
  }
  return sound;
}

// ---- the pipeline ------------------------------------------------------------------------------------------

/** What comes back from a pipeline; numbers as described above. */
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
  const cells = cellsOf(neuronCount, width);
  const integers = integersOf(cells, incoming, shape);
  const floats = floatsOf(cells, incoming, shape);
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
  const kernel = (
    source: (this: Kernel, ...inputs: never[]) => number | undefined,
    output: number,
    names: readonly (keyof typeof arrays)[] = [],
  ): Recordable =>
    gpu.createKernel(source.toString(), {
      output: [output],
      precision: 'single',
      functions: FUNCTIONS as unknown as IGPUKernelSettings['functions'],
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
  const rest = kernel(restingStatuses, cells.count);
  const restState = kernel(restingStates, cells.stateCount + neuronCount);
  const findArrivals = kernel(windowArrivals, arrivalsOf(incoming, shape), wiring);
  const advanceStatuses = kernel(nextStatuses, cells.count, wiring);
  const advanceStates = kernel(nextStates, cells.stateCount + neuronCount, wiring);
  const countSpikes = kernel(activeWords, wordsOf(neuronCount) * (1 + width));
  const findConnections = kernel(connectionMasks, incoming.groupCount + blocksOf(neuronCount) * width, [
    'sourceOf',
  ]);
  const listSpikes = kernel(spikeLists, width * shape.spikes);
  const countSound = kernel(soundCells, soundChunks(neuronCount) * width);

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
    return [...spikes, countSound(statuses), ...(withState ? [statuses, states] : [])];
  });

  return {
    async run({ silenced, inputs }) {
      const size = [placesOf(shape), inputRows(shape)] as [number, number];
      const table = new Input(inputs as unknown as number[], size);
      const results = (await pipeline(silenced, table)) as Float32Array<ArrayBuffer>[];
      return {
        backend: pipeline.backend,
        fallbackReason: pipeline.fallbackReason,
        lists: {
          width,
          places: shape.spikes,
          windows: results.slice(0, windows),
          sound: results[windows]!,
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
