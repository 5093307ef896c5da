/**
 * The layout of the kernel's linear memory. It consists of sections: first those whose size depends on the connectome,
 * then those whose size depends on the trial.
 *
 * The classes are views of this memory: a reference is an address, and a field is a load or store at a constant offset.
 * Nothing is allocated. Rows, lists and connections refer to neurons by address, so inner loops compute no addresses.
 */
import { reach } from '../../stimulus/kernel/common';

/** log2 of the bytes of a cache line. Sections are aligned to it. */
export const LINE_SHIFT: usize = 6;
export const CACHE_LINE_BYTES: usize = 1 << LINE_SHIFT;

/** The raster is sorted by neuron in two digits of this many bits. */
export const DIGIT_BITS: u32 = 9;
const CURSORS_BYTES: usize = sizeof<u32>() << DIGIT_BITS;
/** log2 of the bytes of a neuron. */
export const NEURON_SHIFT: u32 = 4;
/** The bits of a neuron's address; must equal ADDRESS_BITS in cpu/kernel-exports.ts. */
export const ADDRESS_BITS: u32 = 2 * DIGIT_BITS + NEURON_SHIFT;
export const ADDRESS_MASK: u32 = (1 << ADDRESS_BITS) - 1;

/** The first section begins at 0, so the address of a neuron is its shifted index. */
export const NEURONS: usize = 0;
/** Begins at the end of the largest possible section of neurons, so it is a constant. */
const VISITS: usize = 1 << ADDRESS_BITS;
/** Filled by the host. */
export let connections: usize;
export let rows: usize;
/** Filled by the host when connections are overridden. */
export let overrideRows: usize;
export let overridden: usize;
/** Filled by the host before each trial. */
export let eventSteps: usize;
export let eventNeurons: usize;
export let backgroundSteps: usize;
export let backgroundNeurons: usize;
export let recordedNeurons: usize;
/** Used only by the kernel. */
let factorTable: usize;
let partFactors: usize;
/** The address of the factors of step 0, in the table or relative to the factors of a segment. */
let factors: usize;
export let spikeCounts: usize;
export let halfSorted: usize;
export let spikingNeurons: usize;
let cursors: usize;
/** Used by the kernel, and by the host between segments. */
export let candidates: usize;
export let waitingNeurons: usize;
/** Between segments: the neurons that are not at rest, with u and h of each. reached.ts lists them for the host. */
export let reachedNeurons: usize;
export let reachedStates: usize;
/** A byte for each cache line of neurons; see reached.ts. */
export let marks: usize;
export let stepSpikes: usize;
export let spikes: usize;
let sortedSpikes: usize;
/** Read by the host. */
export let rasterSteps: usize;
export let rasterNeurons: usize;
/** Doubles, in mV. */
export let samples: usize;

export let neuronCount: u32;
/** A neuron after the last one that does not exist and stays at rest. It ends lists and pads rows. */
export let sentinel: Neuron = changetype<Neuron>(0);
let endOfNetwork: usize;
let endOfOverrides: usize;
let layoutEnd: usize;

function section(bytes: usize): usize {
  const begin = layoutEnd;
  layoutEnd = (begin + bytes + CACHE_LINE_BYTES - 1) & ~(CACHE_LINE_BYTES - 1);
  // Beyond 4 GiB addresses begin again at 0.
  if (layoutEnd < begin) unreachable();
  return begin;
}

/**
 * Lays out the sections that all trials of a network share. New memory is zero: all neurons are at rest, and all rows
 * are empty. The system gives memory to pages only when they are written.
 * @param words the number of words of all connections
 * @param wordsOfLongestRow the highest number of words in one row
 * @param longestTrial the steps of the longest trial that is simulated whole
 * @param longestPart the steps of the longest segment
 */
export function layOutNetwork(
  neurons: u32,
  words: u32,
  wordsOfLongestRow: u32,
  longestTrial: u32,
  longestPart: u32,
): void {
  neuronCount = neurons;
  sentinel = Neuron.at(neurons);
  layoutEnd = VISITS;
  section((<usize>neurons + 1) * sizeof<u16>());
  connections = section(<usize>words * sizeof<u32>());
  rows = section((<usize>neurons + 1) * offsetof<Row>());
  factorTable = section(<usize>longestTrial * offsetof<Factors>());
  partFactors = section(<usize>longestPart * offsetof<Factors>());
  // There are at most neuronCount candidates before a row is delivered. Then each word of the row can add one, and each
  // neuron two: for input events and for background. Loops write up to two entries beyond the end of a list.
  candidates = section((3 * <usize>neurons + wordsOfLongestRow + 2) * offsetof<Entry>());
  waitingNeurons = section((<usize>neurons + 2) * offsetof<Entry>());
  spikingNeurons = section((<usize>neurons + 2) * offsetof<Entry>());
  spikeCounts = section(<usize>neurons * sizeof<u32>());
  halfSorted = section(<usize>neurons * offsetof<Entry>());
  cursors = section(2 * CURSORS_BYTES);
  overrideRows = section((<usize>neurons + 1) * offsetof<OverrideRow>());
  reachedNeurons = section((<usize>neurons + 1) * offsetof<Entry>());
  reachedStates = section((<usize>neurons + 1) * offsetof<Neuron>());
  marks = section((((<usize>neurons + 1) * offsetof<Neuron>()) >> LINE_SHIFT) + 1);
  endOfNetwork = layoutEnd;
  layOutOverrides(0);
}

/** Lays out pairs of overridden connections. The host fills the override rows of the neurons that have any. */
export function layOutOverrides(pairs: u32): void {
  layoutEnd = endOfNetwork;
  overridden = section(<usize>pairs * offsetof<OverriddenPair>());
  endOfOverrides = layoutEnd;
  reach(layoutEnd);
}

/** Lays out one trial or segment. The spikes come last, because their number is not yet known. */
export function layOutTrial(
  stepCount: u32,
  eventCount: u32,
  backgroundCount: u32,
  recordedCount: u32,
  sampleCount: u32,
): void {
  layoutEnd = endOfOverrides;
  eventSteps = section((<usize>eventCount + 1) * sizeof<u16>());
  eventNeurons = section(<usize>eventCount * sizeof<u32>());
  backgroundSteps = section((<usize>backgroundCount + 1) * sizeof<u16>());
  backgroundNeurons = section(<usize>backgroundCount * sizeof<u32>());
  recordedNeurons = section(<usize>recordedCount * offsetof<Entry>());
  samples = section(<usize>sampleCount * sizeof<f64>());
  stepSpikes = section((<usize>stepCount + 1) * offsetof<StepSpikes>());
  spikes = layoutEnd;
  reach(spikes);
}

/** u and h after a spike. Minus infinity stays the same if input is added, so the input is lost. */
const REFRACTORY = f64x2(-Infinity, 0);

/** The state of a neuron; kernel.ts explains u and h. 16 bytes, four to a cache line. */
@unmanaged
export class Neuron {
  u: f64;
  h: f64;

  @inline
  static at(i: u32): Neuron {
    return changetype<Neuron>(NEURONS + ((<usize>i) << NEURON_SHIFT));
  }

  @inline
  get next(): Neuron {
    return changetype<Neuron>(changetype<usize>(this) + offsetof<Neuron>());
  }

  /** Both in one vector, because input changes both. */
  @inline
  get uh(): v128 {
    return v128.load(changetype<usize>(this));
  }

  @inline
  set uh(both: v128) {
    v128.store(changetype<usize>(this), both);
  }

  @inline
  rest(): void {
    this.uh = f64x2.splat(0);
  }

  /**
   * Sets the state after a spike: rest if stimulated, else refractory. A branch could not be predicted, so it masks.
   */
  @inline
  reset(isStimulated: u32): void {
    this.uh = v128.and(REFRACTORY, i64x2.splat(<i64>isStimulated - 1));
  }

  @inline
  restIfRefractory(): void {
    const uh = this.uh;
    this.uh = v128.and(uh, f64x2.gt(v128.shuffle<f64>(uh, uh, 0, 0), f64x2.splat(-Infinity)));
  }
}

/** The connections of a neuron and its properties, written by the host. */
@unmanaged
export class Row {
  /** The row of a silenced neuron is empty: begin equals end. */
  begin: Pair;
  end: Pair;
  /** The number of connections in these pairs. A connection of many synapses takes several words. */
  connectionCount: u32;
  /** 1 or 0, so that sums can use them without a branch. */
  isExcitatory: u16;
  isStimulated: u16;

  @inline
  static of(neuron: Neuron): Row {
    // A row has as many bytes as a neuron, so the same offset leads to both.
    return changetype<Row>(rows + changetype<usize>(neuron) - NEURONS);
  }
}

/**
 * Two connections of a row, a word each: the lower bits are the target's address, the upper bits the signed synapses.
 * A row with an odd number of words is padded with a connection to the sentinel that has no synapses.
 */
@unmanaged
export class Pair {
  private first: u32;
  private second: u32;

  @inline
  get next(): Pair {
    return changetype<Pair>(changetype<usize>(this) + offsetof<Pair>());
  }

  @inline
  get firstTarget(): Neuron {
    return changetype<Neuron>(<usize>(this.first & ADDRESS_MASK));
  }

  @inline
  get secondTarget(): Neuron {
    return changetype<Neuron>(<usize>(this.second & ADDRESS_MASK));
  }

  /** The synapses of both connections, as doubles. */
  @inline
  get signedSynapses(): v128 {
    return f64x2.convert_low_i32x4_s(i32x4.shr_s(v128.load64_zero(changetype<usize>(this)), ADDRESS_BITS));
  }

  /** Brings the pair into the cache. WebAssembly has no prefetch instruction, so this loads a value and ignores it. */
  @inline
  fetch(): void {
    load<u32>(changetype<usize>(this));
  }
}

/** The overridden connections of a neuron, a second list beside its row. For most neurons it is empty: two zeros. */
@unmanaged
export class OverrideRow {
  begin: OverriddenPair;
  end: OverriddenPair;

  @inline
  static of(neuron: Neuron): OverrideRow {
    // An override row has half as many bytes as a neuron.
    return changetype<OverrideRow>(overrideRows + (changetype<usize>(neuron) >> 1));
  }
}

/** Two overridden connections: their targets, then their signed synapses multiplied by their factors. */
@unmanaged
export class OverriddenPair {
  firstTarget: Neuron;
  secondTarget: Neuron;
  private firstSynapses: f64;
  private secondSynapses: f64;

  @inline
  get next(): OverriddenPair {
    return changetype<OverriddenPair>(changetype<usize>(this) + offsetof<OverriddenPair>());
  }

  @inline
  get signedSynapses(): v128 {
    return v128.load(changetype<usize>(this), offsetof<OverriddenPair>('firstSynapses'));
  }
}

/**
 * The number of the last visit to each neuron. Each step and each review has a number, so a neuron that is listed twice
 * is processed only once. The numbers continue through all trials. After the largest number all are reset.
 */
export class Visit {
  static next(): u32 {
    if (lastVisit == u16.MAX_VALUE) {
      memory.fill(VISITS, 0, <usize>neuronCount * sizeof<u16>());
      lastVisit = 0;
    }
    return ++lastVisit;
  }

  /** @returns 1 if this is the neuron's first visit with this number, else 0 */
  @inline
  static record(neuron: Neuron, visit: u32): u32 {
    const index = changetype<usize>(neuron) >> VISIT_SHIFT;
    const last = <u32>load<u16>(index, VISITS);
    store<u16>(index, visit, VISITS);
    // If the last visit has a lower number, the difference is negative and its top bit is 1.
    return (last - visit) >> 31;
  }
}

/** A visit has 2 bytes, and a neuron has 16. */
const VISIT_SHIFT: u32 = NEURON_SHIFT - 1;
let lastVisit: u32 = 0;

/** The factors of one step; see factors.ts. */
@unmanaged
export class Factors {
  uhOfSynapse: v128;
  /** v in mV above rest is u times the first half minus h times the second half. */
  mvOfUh: v128;
  /** The same for the tangent of v, in the last step before the next review. */
  boundMvOfUh: v128;
  uOfInputEvent: f64;
  /** A neuron at or below the threshold with at most this u cannot reach the threshold without input. */
  leastU: f64;

  @inline
  static of(step: u32): Factors {
    return changetype<Factors>(factors + <usize>step * offsetof<Factors>());
  }

  static useTable(): void {
    factors = factorTable;
  }

  static usePart(firstStep: u32): void {
    factors = partFactors - <usize>firstStep * offsetof<Factors>();
  }

  /** The getters below return one factor twice, for two neurons side by side. */
  @inline
  get mvOfU(): v128 {
    return v128.load64_splat(changetype<usize>(this), offsetof<Factors>('mvOfUh'));
  }

  @inline
  get mvOfH(): v128 {
    return v128.load64_splat(changetype<usize>(this), offsetof<Factors>('mvOfUh') + sizeof<f64>());
  }

  @inline
  get boundMvOfU(): v128 {
    return v128.load64_splat(changetype<usize>(this), offsetof<Factors>('boundMvOfUh'));
  }

  @inline
  get boundMvOfH(): v128 {
    return v128.load64_splat(changetype<usize>(this), offsetof<Factors>('boundMvOfUh') + sizeof<f64>());
  }

  @inline
  get leastUOfBoth(): v128 {
    return v128.load64_splat(changetype<usize>(this), offsetof<Factors>('leastU'));
  }
}

/** The spikes of one step, as indices in the list of spikes. */
@unmanaged
export class StepSpikes {
  begin: u32;
  firstInhibitory: u32;
  /** The number of connections of all neurons that spiked. */
  connectionCount: u32;

  @inline
  static of(step: u32): StepSpikes {
    return changetype<StepSpikes>(stepSpikes + <usize>step * offsetof<StepSpikes>());
  }

  /** The end of a step's spikes is the beginning of the next step's. */
  @inline
  get end(): u32 {
    return changetype<StepSpikes>(changetype<usize>(this) + offsetof<StepSpikes>()).begin;
  }

  @inline
  set end(index: u32) {
    changetype<StepSpikes>(changetype<usize>(this) + offsetof<StepSpikes>()).begin = index;
  }
}

/** A spike in 64 bits: the lower half is the neuron's address, the upper half is the step. */
@unmanaged
export class Spike {
  word: u64;

  @inline
  static at(index: u32): Spike {
    return changetype<Spike>(spikes + <usize>index * offsetof<Spike>());
  }

  /** @returns an entry of the list that is sorted by neuron */
  @inline
  static sortedAt(index: u32): Spike {
    return changetype<Spike>(sortedSpikes + <usize>index * offsetof<Spike>());
  }

  @inline
  get index(): u32 {
    return <u32>((changetype<usize>(this) - spikes) / offsetof<Spike>());
  }

  @inline
  plus(count: u32): Spike {
    return changetype<Spike>(changetype<usize>(this) + <usize>count * offsetof<Spike>());
  }

  @inline
  get next(): Spike {
    return this.plus(1);
  }

  @inline
  get neuron(): Neuron {
    return changetype<Neuron>(<usize>this.word);
  }

  @inline
  get step(): u32 {
    return <u32>(this.word >> 32);
  }

  @inline
  record(neuron: Neuron, step: u32): void {
    this.word = <u64>changetype<usize>(neuron) | ((<u64>step) << 32);
  }
}

/** Reserves memory for a total number of spikes. */
export function reserveSpikes(count: u32): void {
  reach(spikes + <usize>count * offsetof<Spike>());
}

/** Lays out the raster, and the list that sorting needs, after the spikes. Call it when their number is known. */
export function layOutRaster(endSpike: u32, spikeCount: u32): void {
  layoutEnd = spikes;
  section(<usize>endSpike * offsetof<Spike>());
  sortedSpikes = section(<usize>spikeCount * offsetof<Spike>());
  rasterSteps = section(<usize>spikeCount * sizeof<u16>());
  rasterNeurons = section(<usize>spikeCount * sizeof<u32>());
  reach(layoutEnd);
}

/** A neuron in a list of neurons, such as candidates. */
@unmanaged
export class Entry {
  neuron: Neuron;

  @inline
  static at(list: usize, index: u32): Entry {
    return changetype<Entry>(list + ((<usize>index) << 2));
  }

  @inline
  plus(count: u32): Entry {
    return changetype<Entry>(changetype<usize>(this) + ((<usize>count) << 2));
  }

  @inline
  isBefore(other: Entry): bool {
    return changetype<usize>(this) < changetype<usize>(other);
  }

  @inline
  indexIn(list: usize): u32 {
    return <u32>((changetype<usize>(this) - list) >> 2);
  }
}

/** Events of a trial: input events, or background events. */
export class Events {
  /** Writes a step after the last event that no trial reaches, so loops need no other end. */
  @inline
  static endAfter(steps: usize, eventCount: u32): void {
    store<u16>(steps + ((<usize>eventCount) << 1), u16.MAX_VALUE);
  }

  @inline
  static stepOf(steps: usize, q: u32): u32 {
    return load<u16>(steps + ((<usize>q) << 1));
  }

  @inline
  static neuronOf(neurons: usize, q: u32): Neuron {
    return Neuron.at(load<u32>(neurons + ((<usize>q) << 2)));
  }
}

/**
 * Counts the neurons with one digit, then holds the index of the next one. A counter of the radix sort in raster.ts.
 */
@unmanaged
export class Cursor {
  value: u32;

  /** @param isUpper 1 for the upper digit, 0 for the lower one */
  @inline
  static of(digit: u32, isUpper: u32): Cursor {
    return changetype<Cursor>(cursors + isUpper * CURSORS_BYTES + ((<usize>digit) << 2));
  }

  @inline
  advance(): u32 {
    const before = this.value;
    this.value = before + 1;
    return before;
  }

  @inline
  replace(value: u32): u32 {
    const before = this.value;
    this.value = value;
    return before;
  }
}

export function clearCursors(): void {
  memory.fill(cursors, 0, 2 * CURSORS_BYTES);
}
