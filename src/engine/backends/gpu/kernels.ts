/**
 * The kernels, as gpu.js reads them: it takes the source of these functions and writes it anew for the GPU. So
 * they use nothing but their arguments and `this`, no import and no closure, and their types are erased.
 *
 * Every number in them is an integer below 2^24 or a power of two, so neither fused multiply-add nor another
 * order of a sum can change a bit. Indices of cells and of connections may be larger: they are put together with shifts,
 * `|` and sums of literals inside the brackets, because gpu.js makes every variable a float32. A division is a
 * multiplication of n + 1/2 (see cells.ts), because WGSL does not promise a correctly rounded one.
 *
 * A window has 18 steps: what is emitted in one arrives in the next, so within a window no cell depends on
 * another. Arrays:
 *   cells      [neuron][part][experiment], as cells.ts says; the status, with a minus where the outputs of the cell are
 *              cut, is the bits of its spikes in the window (18) + code * 2^18 + flag * 2^23
 *   silenced   [experiment][place]         neurons, ascending
 *   inputs     [row][experiment][place]    row 0: stimulated neurons, ascending; then for each window `layers` rows: bits
 *              of the steps in which the neuron gets an event; with several events in a step, several layers have the bit
 *   active     [neuron]                    1 where the neuron spiked in the window in any experiment
 *   activeBits [2][word]                   the same as 24 bits a word; and how many of them are set
 *   masks      [group]                     24 bits: connections of the group whose source was active
 *   hubSums    [chunk][sum][experiment]    see CHUNK_SUMS
 *   spikes     [row][experiment], [row]    the status of the active neurons; and 1 + which neuron that is, or UNUSED_ROW
 * Codes: 1 + the steps that the cell is still refractory after the window; STIMULATED for a cell that gets events and has
 * no refractory period; IDLE for a cell whose state is 0. A status of 0 does not occur: a GPU that has refused its work
 * gives back zeros. The flag stays once it is set: v came too close to the threshold, or the state left its range.
 */
import gpujs, { type GPU, type GPUVariableType, type IGPUKernelSettings } from 'gpu.js';
import { REFRACTORY_STEPS } from '../../network.js';
import { CELL_PARTS, cellsOf, STATUS_PART, type Cells } from './cells.js';
import { CHUNK_GROUPS, CHUNK_SUMS, GROUP_CONNECTIONS, type IncomingConnections } from './incoming.js';
import {
  INPUT_EVENT_SYNAPSES,
  LARGEST_TOP_LIMB,
  LIMB_BASE,
  MARGIN_UNITS,
  MEMBRANE,
  potentialBound,
  QUIET_BELOW,
  QUIET_FLOAT_BELOW,
  QUIET_SYNAPSES,
  SYNAPSE,
  THRESHOLD_UNITS,
  toLimbs,
  WINDOW_STEPS,
  type Limbs,
} from './number-format.js';

const { Input } = gpujs;

type Vector = ArrayLike<number>;
type Grid = ArrayLike<Vector>;

const FLAG_SHIFT = 23;
const IDLE = 31;
const STIMULATED = 30;
/** Of a status: the spikes of the window. */
export const SPIKE_BITS = 2 ** WINDOW_STEPS - 1;
/** Neurons whose activity stands in one float. */
const WORD_NEURONS = 24;
/** Words that one thread counts up. */
const BLOCK_WORDS = 64;
/** Neurons that one thread searches for flags. */
const FLAG_NEURONS = 256;
/** Greater than every neuron: fills the unused places of a list. */
export const NO_NEURON = 2 ** 24 - 1;
/** In the place of a neuron in a row of spikes that is not used. A GPU that has refused its work gives back zeros. */
export const UNUSED_ROW = -1;

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
    flagNeurons: FLAG_NEURONS,
    layers: shape.layers,
    searchSteps: Math.log2(Math.max(shape.stimulated, shape.silenced)) + 1,
    spikesShift: Math.log2(shape.rows) + cells.shift,
    lastRow: shape.rows - 1,
  };
}

/** Numbers that are calculated with: float32 in the GPU's code, like everything in its arrays. */
function floatsOf(cells: Cells, incoming: IncomingConnections, shape: PipelineShape) {
  const { neuronCount } = cells;
  return {
    neuronCount,
    parts: CELL_PARTS,
    perParts: 1 / CELL_PARTS,
    statusPart: STATUS_PART,
    words: wordsOf(neuronCount),
    perWord: 1 / WORD_NEURONS,
    chunkSums: CHUNK_SUMS,
    perChunkSums: 1 / CHUNK_SUMS,
    stimulatedPlaces: shape.stimulated,
    silencedPlaces: shape.silenced,
    unusedRow: UNUSED_ROW,
    idle: IDLE,
    stimulated: STIMULATED,
    codeFactor: 2 ** WINDOW_STEPS,
    flagFactor: 2 ** FLAG_SHIFT,
    refractoryAfterSpike: REFRACTORY_STEPS - 1,
    eventSynapses: INPUT_EVENT_SYNAPSES,
    limbBase: LIMB_BASE,
    largestTopLimb: LARGEST_TOP_LIMB,
    margin: MARGIN_UNITS,
    quietBelow: QUIET_BELOW,
    quietFloatBelow: QUIET_FLOAT_BELOW,
    quietSynapses: QUIET_SYNAPSES,
    ...tableOffsets(incoming),
    ...named('uStep', MEMBRANE.step.lossLimbs),
    ...named('hStep', SYNAPSE.step.lossLimbs),
    ...named('uWindow', MEMBRANE.window.lossLimbs),
    ...named('hWindow', SYNAPSE.window.lossLimbs),
    ...named('threshold', toLimbs(THRESHOLD_UNITS)),
  };
}

function named<Name extends string>(name: Name, limbs: Limbs) {
  return Object.fromEntries(limbs.map((limb, i) => [`${name}${i}`, limb])) as Record<
    `${Name}${0 | 1 | 2 | 3}`,
    number
  >;
}

const wordsOf = (neuronCount: number) => Math.ceil((neuronCount + 1) / WORD_NEURONS);
const blocksOf = (neuronCount: number) => Math.ceil(wordsOf(neuronCount) / BLOCK_WORDS);

function mostChunks({ firstChunk }: IncomingConnections): number {
  return firstChunk.reduce((most, first, i) => Math.max(most, first - (firstChunk[i - 1] ?? 0)), 0);
}

/** A kernel may have 8 arrays; so all small tables are one. */
function tableOffsets({ firstGroup, firstChunk, chunkCount }: IncomingConnections) {
  const firstChunkAt = firstGroup.length;
  const groupOfChunkAt = firstChunkAt + firstChunk.length;
  const groupsOfChunkAt = groupOfChunkAt + chunkCount;
  return { firstChunkAt, groupOfChunkAt, groupsOfChunkAt, arrivalsAt: groupsOfChunkAt + chunkCount };
}

function tablesOf({
  firstGroup,
  firstChunk,
  groupOfChunk,
  groupsOfChunk,
}: IncomingConnections): Float32Array {
  const arrivals = [MEMBRANE, SYNAPSE].flatMap(({ arrivalUnits }) => arrivalUnits.flatMap(toLimbs));
  const tables = [firstGroup, firstChunk, groupOfChunk, groupsOfChunk, arrivals];
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
    sums[0]! + synapses * Math.max(0, 1 - Math.abs(step)),
    sums[1]! + synapses * Math.max(0, 1 - Math.abs(step - 1)),
    sums[2]! + synapses * Math.max(0, 1 - Math.abs(step - 2)),
    sums[3]! + synapses * Math.max(0, 1 - Math.abs(step - 3)),
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

/** cells before the first window: all idle, and in the status whether they are stimulated, and whether silenced. */
function restingCells(this: Kernel, silenced: Vector, inputs: Grid): number {
  const record = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
  const neuron = Math.floor((record + 0.5) * this.constants.perParts);
  const part = record - neuron * this.constants.parts;
  if (part < this.constants.statusPart) {
    return 0;
  }
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

/** active */
function activeNeurons(this: Kernel, cells: Vector): number {
  const record = this.thread.x * this.constants.parts + this.constants.statusPart;
  let active = 0;
  for (let experiment = 0; experiment < this.constants.width; experiment++) {
    const spikes =
      Math.abs(cells[(record << this.constants.widthShift) | experiment]!) & this.constants.spikeBits;
    if (spikes > 0) {
      active = 1;
    }
  }
  return active;
}

/** activeBits */
function activeWords(this: Kernel, active: Vector): number {
  let word = this.thread.x;
  let factor = 2;
  if (word > this.constants.words - 0.5) {
    word = word - this.constants.words;
    factor = 1;
  }
  let bits = 0;
  let bit = 1;
  for (let k = 0; k < this.constants.wordNeurons; k++) {
    const neuron = word * this.constants.wordNeurons + k;
    if (neuron < this.constants.neuronCount) {
      bits = bits + bit * active[neuron]!;
    }
    bit = bit * factor;
  }
  return bits;
}

/** How many neurons were active, block by block of words. */
function activeCounts(this: Kernel, activeBits: Vector): number {
  let count = 0;
  for (let k = 0; k < this.constants.blockWords; k++) {
    const word = this.thread.x * this.constants.blockWords + k;
    if (word < this.constants.words) {
      count = count + activeBits[this.constants.words + word]!;
    }
  }
  return count;
}

/** spikes: each thread looks for the active neuron of its row by the counts of blocks, words and bits. */
function spikeRows(this: Kernel, cells: Vector, activeBits: Vector, counts: Vector): number {
  let row = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
  const isName = this.thread.x >> this.constants.spikesShift;
  if (isName > 0.5) {
    row = this.thread.x & this.constants.lastRow;
  }
  let block = 0;
  for (let k = 0; k < this.constants.blocks; k++) {
    const count = counts[block]!;
    if (row < count) break;
    row = row - count;
    block = block + 1;
  }
  if (block > this.constants.blocks - 0.5) {
    return this.constants.unusedRow * isName;
  }
  let word = block * this.constants.blockWords;
  for (let k = 0; k < this.constants.blockWords; k++) {
    const count = activeBits[this.constants.words + word]!;
    if (row < count) break;
    row = row - count;
    word = word + 1;
  }
  let bits = activeBits[word]!;
  let neuron = word * this.constants.wordNeurons;
  for (let k = 0; k < this.constants.wordNeurons; k++) {
    const bit = bits & 1;
    if (bit > 0.5) {
      if (row < 0.5) break;
      row = row - 1;
    }
    bits = bits >> 1;
    neuron = neuron + 1;
  }
  if (isName > 0.5) {
    return neuron + 1;
  }
  const record = neuron * this.constants.parts + this.constants.statusPart;
  return cells[(record << this.constants.widthShift) | experiment]!;
}

/** masks */
function connectionMasks(this: Kernel, activeBits: Vector): number {
  let mask = 0;
  let bit = 1;
  for (let k = 0; k < this.constants.groupConnections; k++) {
    const source = this.constants.sourceOf[k]![this.thread.x]!;
    const word = Math.floor((source + 0.5) * this.constants.perWord);
    const active = (activeBits[word]! >> (source - word * this.constants.wordNeurons)) & 1;
    mask = mask + bit * active;
    bit = bit * 2;
  }
  return mask;
}

/** hubSums */
function chunkSums(this: Kernel, cells: Vector, masks: Vector): number {
  const record = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
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
      const source =
        this.constants.sourceOf[k]![group + g]! * this.constants.parts + this.constants.statusPart;
      const status = cells[(source << this.constants.widthShift) | experiment]!;
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
 * cells after a window. Each of the five threads of a cell computes all of it and keeps its part. The synapses that arrive
 * are read once in all cells, to see what a window at once does and whether it may be taken at once; and once again, step
 * by step, in those few that may spike.
 */
function nextCells(
  this: Kernel,
  cells: Vector,
  inputs: Grid,
  masks: Vector,
  hubSums: Vector,
  window: number,
): number {
  const record = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
  const neuron = Math.floor((record + 0.5) * this.constants.perParts);
  const firstPart = neuron * this.constants.parts;
  const part = record - firstPart;
  const before = cells[((firstPart + this.constants.statusPart) << this.constants.widthShift) | experiment]!;
  const status = Math.abs(before);
  let flag = (status >> this.constants.flagShift) & 1;
  let code = (status >> this.constants.codeShift) & 31;
  let isStimulated = 0;
  let refractory = 0;
  if (code === this.constants.stimulated) {
    isStimulated = 1;
  } else {
    if (code !== this.constants.idle) {
      refractory = code - 1;
    }
  }
  let spikes = 0;
  let value = 0;
  if (refractory >= this.constants.windowSteps) {
    // The state is 0 and takes nothing in.
    code = code - this.constants.windowSteps;
  } else {
    let uHigh = 0;
    let uLow = 0;
    let hHigh = 0;
    let hLow = 0;
    if (code !== this.constants.idle) {
      uHigh = cells[(firstPart << this.constants.widthShift) | experiment]!;
      uLow = cells[((firstPart + 1) << this.constants.widthShift) | experiment]!;
      hHigh = cells[((firstPart + 2) << this.constants.widthShift) | experiment]!;
      hLow = cells[((firstPart + 3) << this.constants.widthShift) | experiment]!;
    }
    let u = unpacked(uHigh, uLow);
    let h = unpacked(hHigh, hLow);

    let place = experiment * this.constants.stimulatedPlaces;
    let events = 0;
    if (isStimulated > 0.5) {
      let end = place + this.constants.stimulatedPlaces - 1;
      for (let search = 0; search < this.constants.searchSteps; search++) {
        if (place < end) {
          const middle = Math.floor((place + end) * 0.5);
          if (inputs[0]![middle]! < neuron) {
            place = middle + 1;
          } else {
            end = middle;
          }
        }
      }
      for (let layer = 0; layer < this.constants.layers; layer++) {
        events = events + inputs[window * this.constants.layers + layer + 1]![place]!;
      }
    }

    const group = this.constants.tables[neuron]!;
    const groups = this.constants.tables[neuron + 1]! - group;
    const chunk = this.constants.tables[this.constants.firstChunkAt + neuron]!;
    const chunks = this.constants.tables[this.constants.firstChunkAt + neuron + 1]! - chunk;
    let arrivalsAt = this.constants.arrivalsAt;
    if (part > 1.5) {
      arrivalsAt = arrivalsAt + this.constants.windowSteps * 4;
    }
    let exciting = 0;
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
    let isBusy = 1;
    for (let pass = 0; pass < 2; pass++) {
      if (isBusy < 0.5) break;
      if (chunks > 0.5) {
        for (let c = 0; c < this.constants.mostChunks; c++) {
          if (c >= chunks) break;
          const sums = (chunk + c) * this.constants.chunkSums;
          const allOfChunk =
            hubSums[((sums + this.constants.windowSteps + 1) << this.constants.widthShift) | experiment]!;
          if (allOfChunk > 0) {
            if (pass < 0.5) {
              all = all + allOfChunk;
              exciting =
                exciting +
                hubSums[((sums + this.constants.windowSteps) << this.constants.widthShift) | experiment]!;
            }
            for (let step = 0; step < this.constants.windowSteps; step++) {
              const synapses = hubSums[((sums + step) << this.constants.widthShift) | experiment]!;
              if (pass < 0.5) {
                c0 = c0 + synapses * this.constants.tables[arrivalsAt + step * 4]!;
                c1 = c1 + synapses * this.constants.tables[arrivalsAt + step * 4 + 1]!;
                c2 = c2 + synapses * this.constants.tables[arrivalsAt + step * 4 + 2]!;
                c3 = c3 + synapses * this.constants.tables[arrivalsAt + step * 4 + 3]!;
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
          let mask = masks[group + g]!;
          for (let b = 0; b < this.constants.groupConnections; b++) {
            if (mask < 0.5) break;
            const k = 31 - Math.clz32(mask);
            mask = mask - (1 << k);
            const source =
              this.constants.sourceOf[k]![group + g]! * this.constants.parts + this.constants.statusPart;
            const sent = cells[(source << this.constants.widthShift) | experiment]!;
            if (sent > 0) {
              let arriving = sent & this.constants.spikeBits;
              for (let spike = 0; spike < this.constants.windowSteps; spike++) {
                if (arriving < 0.5) break;
                const step = 31 - Math.clz32(arriving);
                arriving = arriving - (1 << step);
                const synapses = this.constants.synapsesOf[k]![group + g]!;
                if (pass < 0.5) {
                  all = all + Math.abs(synapses);
                  exciting = exciting + Math.max(0, synapses);
                  c0 = c0 + synapses * this.constants.tables[arrivalsAt + step * 4]!;
                  c1 = c1 + synapses * this.constants.tables[arrivalsAt + step * 4 + 1]!;
                  c2 = c2 + synapses * this.constants.tables[arrivalsAt + step * 4 + 2]!;
                  c3 = c3 + synapses * this.constants.tables[arrivalsAt + step * 4 + 3]!;
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
      if (pass < 0.5 && events < 0.5) {
        if (refractory > 0.5 || code === this.constants.idle) {
          if (all < 0.5) {
            code = this.constants.idle;
            isBusy = 0;
          }
        }
        if (
          isBusy > 0.5 &&
          refractory < 0.5 &&
          all <= this.constants.quietSynapses &&
          Math.max(Math.abs(uHigh), Math.abs(hHigh)) < this.constants.quietFloatBelow &&
          potentialBound(uHigh, hHigh, exciting) < this.constants.quietBelow
        ) {
          isBusy = 0;
          code = 1;
          u = decayedLimbs(
            u,
            this.constants.uWindow0,
            this.constants.uWindow1,
            this.constants.uWindow2,
            this.constants.uWindow3,
            c0,
            c1,
            c2,
            c3,
          );
          h = decayedLimbs(
            h,
            this.constants.hWindow0,
            this.constants.hWindow1,
            this.constants.hWindow2,
            this.constants.hWindow3,
            c0,
            c1,
            c2,
            c3,
          );
        }
      }
    }
    if (isBusy > 0.5) {
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
              if (isStimulated < 0.5) {
                refractory = this.constants.refractoryAfterSpike;
              }
            } else {
              const synapses = sums[k]!;
              let kicks = 0;
              if (events > 0.5) {
                for (let layer = 0; layer < this.constants.layers; layer++) {
                  const bits = inputs[window * this.constants.layers + layer + 1]![place]!;
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
      code = 1 + refractory;
    }
    if (isStimulated > 0.5) {
      code = this.constants.stimulated;
    }
    value = h[1]! * this.constants.limbBase + h[0]!;
    if (part < 0.5) {
      value = u[3]! * this.constants.limbBase + u[2]!;
    } else {
      if (part < 1.5) {
        value = u[1]! * this.constants.limbBase + u[0]!;
      } else {
        if (part < 2.5) {
          value = h[3]! * this.constants.limbBase + h[2]!;
        }
      }
    }
  }
  if (part > 3.5) {
    value = spikes + code * this.constants.codeFactor + flag * this.constants.flagFactor;
    if (before < 0) {
      value = 0 - value;
    }
  }
  return value;
}

/** [chunk of neurons][experiment]: how many of the cells carry no flag. */
function soundCells(this: Kernel, cells: Vector): number {
  const chunk = this.thread.x >> this.constants.widthShift;
  const experiment = this.thread.x & this.constants.lastExperiment;
  let sound = 0;
  for (let k = 0; k < this.constants.flagNeurons; k++) {
    const neuron = chunk * this.constants.flagNeurons + k;
    if (neuron < this.constants.neuronCount) {
      const record = neuron * this.constants.parts + this.constants.statusPart;
      const status = Math.abs(cells[(record << this.constants.widthShift) | experiment]!);
      if (status > 0.5) {
        sound = sound + 1 - ((status >> this.constants.flagShift) & 1);
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
  /** Places for the stimulated and the silenced neurons of an experiment: powers of two, greater than their number. */
  readonly stimulated: number;
  readonly silenced: number;
  /** Events that a neuron may get in one step. */
  readonly layers: number;
  /** Neurons whose spikes are read back from a window: a power of two, greater than the number of active ones. */
  readonly rows: number;
  /** Whether the state at the end is read back as well, for tests. */
  readonly withState: boolean;
}

/** What comes back from a pipeline; numbers as described above. */
export interface PipelineResult {
  readonly backend: string | null;
  readonly fallbackReason: string | null;
  /** [window], each rows * width numbers of status and then rows numbers, each 1 + a neuron, or UNUSED_ROW */
  readonly spikes: readonly Float32Array[];
  /** [chunk of neurons][experiment]: cells without a flag */
  readonly sound: Float32Array;
  /** cells, with `withState` */
  readonly cells: Float32Array | undefined;
}

export interface WindowPipeline {
  /**
   * @param silenced [experiment][place], ascending, padded with NO_NEURON
   * @param inputs [row][experiment][place], see the top of this file
   */
  run(silenced: Float32Array, inputs: Float32Array): Promise<PipelineResult>;
  destroy(): Promise<void>;
}

const soundChunks = (neuronCount: number) => Math.ceil(neuronCount / FLAG_NEURONS);
const inputRows = ({ windows, layers }: PipelineShape) => 1 + windows * layers;
const hubSumsOf = ({ chunkCount }: IncomingConnections) => chunkCount * CHUNK_SUMS;

export interface PipelineBytes {
  /** Of the largest array that a kernel binds. */
  readonly largestArray: number;
  /** Of what is read back. */
  readonly readback: number;
}

/** What an adapter must be able to bind and to allocate. */
export function bytesOf(
  neuronCount: number,
  incoming: IncomingConnections,
  shape: PipelineShape,
): PipelineBytes {
  const { width, windows, stimulated, rows } = shape;
  const spikes = rows * (width + 1);
  const largest = Math.max(
    cellsOf(neuronCount, width).count,
    incoming.sources.length,
    hubSumsOf(incoming) * width,
    inputRows(shape) * stimulated * width,
    spikes,
  );
  return {
    largestArray: Float32Array.BYTES_PER_ELEMENT * largest,
    readback: Float32Array.BYTES_PER_ELEMENT * (windows * spikes + soundChunks(neuronCount) * width),
  };
}

/** Records all windows of a run as one plan: one submission, one readback. */
export function windowPipeline(
  gpu: GPU,
  neuronCount: number,
  incoming: IncomingConnections,
  shape: PipelineShape,
): WindowPipeline {
  const { width, windows, rows, withState } = shape;
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
    source: (this: Kernel, ...inputs: never[]) => number,
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

  const rest = kernel(restingCells, cells.count);
  const findActive = kernel(activeNeurons, neuronCount);
  const packActive = kernel(activeWords, 2 * wordsOf(neuronCount));
  const countActive = kernel(activeCounts, blocksOf(neuronCount));
  const readSpikes = kernel(spikeRows, rows * (width + 1));
  const findConnections = kernel(connectionMasks, incoming.groupCount, ['sourceOf']);
  const sumChunks = kernel(chunkSums, hubSumsOf(incoming) * width, ['tables', 'sourceOf', 'synapsesOf']);
  const advance = kernel(nextCells, cells.count, ['tables', 'sourceOf', 'synapsesOf']);
  const countSound = kernel(soundCells, soundChunks(neuronCount) * width);

  const pipeline = gpu.createPipeline((silenced: Handle, inputs: Handle) => {
    let state = rest(silenced, inputs);
    let masks: Handle;
    const spikes: Handle[] = [];
    for (let window = 0; window < windows; window++) {
      // Before the first window nothing has spiked, and the kernels find just that.
      masks ??= findConnections(packActive(findActive(state)));
      state = advance(state, inputs, masks, sumChunks(state, masks), window);
      const active = packActive(findActive(state));
      spikes.push(readSpikes(state, active, countActive(active)));
      masks = findConnections(active);
    }
    return [...spikes, countSound(state), ...(withState ? [state] : [])];
  });

  return {
    async run(silenced, inputs) {
      const size = [width * shape.stimulated, inputRows(shape)] as [number, number];
      const table = new Input(inputs as unknown as number[], size);
      const results = (await pipeline(silenced, table)) as Float32Array[];
      return {
        backend: pipeline.backend,
        fallbackReason: pipeline.fallbackReason,
        spikes: results.slice(0, windows),
        sound: results[windows]!,
        cells: results[windows + 1],
      };
    },
    destroy: () => pipeline.destroy(),
  };
}

/** Stands for a result while the plan is recorded. */
type Handle = unknown;
type Recordable = (...inputs: Handle[]) => Handle;
