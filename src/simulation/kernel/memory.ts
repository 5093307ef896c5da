/**
 * The layout of the kernel's linear memory: sections, sized by the connectome and, at the end, by the trial. The classes
 * are views of it: a reference is an address, a field a load or store at a constant offset, and nothing is allocated.
 * Rows, lists and connections refer to neurons by address, not by index, so the inner loops compute none.
 */

/** log2 of the bytes of a cache line. Sections are aligned to it. */
export const LINE_SHIFT: usize = 6;
export const CACHE_LINE_BYTES: usize = 1 << LINE_SHIFT;
const PAGE_BYTES: usize = 65536;

/** The raster is sorted by neuron in two digits of this many bits. */
export const DIGIT_BITS: u32 = 9;
const CURSORS_BYTES: usize = sizeof<u32>() << DIGIT_BITS;
/** log2 of the bytes of a neuron. */
export const NEURON_SHIFT: u32 = 4;
/** Bits of a neuron's address; ADDRESS_BITS in cpu/kernel-exports.ts. */
export const ADDRESS_BITS: u32 = 2 * DIGIT_BITS + NEURON_SHIFT;
export const ADDRESS_MASK: u32 = (1 << ADDRESS_BITS) - 1;

/** The first section begins at 0, so the address of a neuron is its index, shifted. */
export const NEURONS: usize = 0;
/** Begins where the addresses of neurons end, which makes it a constant. */
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
/** Used by the kernel alone. */
let factorTable: usize;
let partFactors: usize;
/** Where Factors.of counts from: the table, or the factors of a part. */
let factors: usize;
export let spikeCounts: usize;
export let halfSorted: usize;
export let spikingNeurons: usize;
let cursors: usize;
/** Used by the kernel, and by the host where a trial has parts. */
export let candidates: usize;
export let waitingNeurons: usize;
/** Neurons of a trial in parts that are not at rest, and u and h of each, for its host; reached.ts lists them. */
export let reachedNeurons: usize;
export let reachedStates: usize;
/** A byte for each cache line of neurons. */
export let marks: usize;
export let stepSpikes: usize;
export let spikes: usize;
let sortedSpikes: usize;
/** Read by the host. */
export let rasterSteps: usize;
export let rasterNeurons: usize;
export let samples: usize;

export let neuronCount: u32;
/** The neuron after the last one. It does not exist and stays at rest; it ends lists and pads rows. */
export let sentinel: Neuron = changetype<Neuron>(0);
let endOfNetwork: usize;
let endOfOverrides: usize;
let layoutEnd: usize;

function section(bytes: usize): usize {
  const begin = layoutEnd;
  layoutEnd = (begin + bytes + CACHE_LINE_BYTES - 1) & ~(CACHE_LINE_BYTES - 1);
  return begin;
}

/**
 * Lays out what all trials of a network share. New memory is zero: all neurons are at rest, all rows empty. Memory
 * that is never written takes no space in the machine.
 * @param words of all connections
 * @param wordsOfLongestRow the most of them in one row
 * @param longestTrial that is simulated whole, in steps
 * @param longestPart of trials in parts, in steps
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
  // There are at most neuronCount candidates before a row is delivered, then one for each word of the row, and
  // one for each neuron with input events, and with background. Loops write up to two entries beyond the end of a list.
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

/** Lays out overridden connections, two of them in a pair. The host fills the rows of all neurons that have any. */
export function layOutOverrides(pairs: u32): void {
  layoutEnd = endOfNetwork;
  overridden = section(<usize>pairs * offsetof<OverriddenPair>());
  endOfOverrides = layoutEnd;
  reserve(layoutEnd);
}

/** Lays out one trial. The spikes come last, because their number is not known yet. */
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
  samples = section(<usize>sampleCount * offsetof<Sample>());
  stepSpikes = section((<usize>stepCount + 1) * offsetof<StepSpikes>());
  spikes = layoutEnd;
  reserve(spikes);
}

/** Grows memory up to, not including, an address; traps if that is not possible. */
function reserve(end: usize): void {
  const pages = <i32>((end + PAGE_BYTES - 1) / PAGE_BYTES);
  const missing = pages - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
}

/** u and h after a spike. Minus infinity stays what it is, whatever is added to it. */
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

  /** Both, since input changes both at once. */
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

  /** After a spike: at rest if stimulated, else refractory. A mask, because a branch could not be predicted. */
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
  /** A silenced neuron has no connections: its row ends where it begins. */
  begin: Pair;
  end: Pair;
  /** Connections in these pairs; a connection of many synapses takes several words. */
  connectionCount: u32;
  /** 1 or 0, to be used in sums. */
  isExcitatory: u16;
  isStimulated: u16;

  @inline
  static of(neuron: Neuron): Row {
    // A row has as many bytes as a neuron, so the same offset leads to both.
    return changetype<Row>(rows + changetype<usize>(neuron) - NEURONS);
  }
}

/**
 * Two connections of a row, a word each: the address of the target in the lower bits, the signed synapses above. A
 * row with an odd number of words is padded with a connection of no synapses to the sentinel.
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

  /** Brings the pair into the cache: a load whose value is not used, as WebAssembly has no prefetch instruction. */
  @inline
  fetch(): void {
    load<u32>(changetype<usize>(this));
  }
}

/** The overridden connections of a neuron: a second list, empty in most. Zero stands for an empty one. */
@unmanaged
export class OverrideRow {
  begin: OverriddenPair;
  end: OverriddenPair;

  @inline
  static of(neuron: Neuron): OverrideRow {
    // It has half as many bytes as a neuron.
    return changetype<OverrideRow>(overrideRows + (changetype<usize>(neuron) >> 1));
  }
}

/** Two overridden connections: their targets, then their signed synapses times their weights. */
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
 * The number of the last visit to a neuron. Each step is one visit, and so is each review, so that a neuron listed twice is
 * processed once. Visits are numbered from 1 through all trials; after the last number all are forgotten.
 */
export class Visit {
  static next(): u32 {
    if (lastVisit == u16.MAX_VALUE) {
      memory.fill(VISITS, 0, <usize>neuronCount * sizeof<u16>());
      lastVisit = 0;
    }
    return ++lastVisit;
  }

  /** @returns 1 for the first time with this number, else 0 */
  @inline
  static record(neuron: Neuron, visit: u32): u32 {
    const index = changetype<usize>(neuron) >> VISIT_SHIFT;
    const last = <u32>load<u16>(index, VISITS);
    store<u16>(index, visit, VISITS);
    // The number of an earlier visit is lower, so the difference is negative.
    return (last - visit) >> 31;
  }
}

/** A visit has 2 bytes where a neuron has 16. */
const VISIT_SHIFT: u32 = NEURON_SHIFT - 1;
let lastVisit: u32 = 0;

/** The factors of one step; see factors.ts. */
@unmanaged
export class Factors {
  uhOfSynapse: v128;
  /** v in mV above rest is u times the first of these minus h times the second. */
  mvOfUh: v128;
  /** The same for the tangent of v in the last step before the next review. */
  boundMvOfUh: v128;
  uOfInputEvent: f64;
  /** A neuron at or below the threshold with no more u than this cannot reach the threshold without input. */
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

  /** Each of these twice, for two neurons side by side. */
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
  /** Connections of all neurons that spiked. */
  connectionCount: u32;

  @inline
  static of(step: u32): StepSpikes {
    return changetype<StepSpikes>(stepSpikes + <usize>step * offsetof<StepSpikes>());
  }

  /** The spikes of a step end where those of the next begin. */
  @inline
  get end(): u32 {
    return changetype<StepSpikes>(changetype<usize>(this) + offsetof<StepSpikes>()).begin;
  }

  @inline
  set end(index: u32) {
    changetype<StepSpikes>(changetype<usize>(this) + offsetof<StepSpikes>()).begin = index;
  }
}

/** A spike, in one word: the address of the neuron in the lower half, the step in the upper one. */
@unmanaged
export class Spike {
  word: u64;

  @inline
  static at(index: u32): Spike {
    return changetype<Spike>(spikes + <usize>index * offsetof<Spike>());
  }

  /** In the list that is sorted by neuron. */
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
  get previous(): Spike {
    return this.plus(-1);
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
    this.word = (<u64>changetype<usize>(neuron)) | ((<u64>step) << 32);
  }
}

/** Reserves memory for a number of spikes in all. */
export function reserveSpikes(count: u32): void {
  reserve(spikes + <usize>count * offsetof<Spike>());
}

/** Lays out the raster, and what sorting it needs, behind the spikes, when their number is known. */
export function layOutRaster(endSpike: u32, spikeCount: u32): void {
  layoutEnd = spikes;
  section(<usize>endSpike * offsetof<Spike>());
  sortedSpikes = section(<usize>spikeCount * offsetof<Spike>());
  rasterSteps = section(<usize>spikeCount * sizeof<u16>());
  rasterNeurons = section(<usize>spikeCount * sizeof<u32>());
  reserve(layoutEnd);
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

/** Input event number q of the trial. */
@unmanaged
export class InputEvent {
  /** No trial is long enough to have this step. */
  static endAfter(eventCount: u32): void {
    store<u16>(eventSteps + ((<usize>eventCount) << 1), u16.MAX_VALUE);
  }

  @inline
  static stepOf(q: u32): u32 {
    return load<u16>(eventSteps + ((<usize>q) << 1));
  }

  @inline
  static neuronOf(q: u32): Neuron {
    return Neuron.at(load<u32>(eventNeurons + ((<usize>q) << 2)));
  }
}

/** Event number q of the background of the trial. */
@unmanaged
export class BackgroundEvent {
  /** No trial is long enough to have this step. */
  static endAfter(eventCount: u32): void {
    store<u16>(backgroundSteps + ((<usize>eventCount) << 1), u16.MAX_VALUE);
  }

  @inline
  static stepOf(q: u32): u32 {
    return load<u16>(backgroundSteps + ((<usize>q) << 1));
  }

  @inline
  static neuronOf(q: u32): Neuron {
    return Neuron.at(load<u32>(backgroundNeurons + ((<usize>q) << 2)));
  }
}

/** A sample of a membrane, in mV. */
@unmanaged
export class Sample {
  mv: f64;

  @inline
  static at(index: u32): Sample {
    return changetype<Sample>(samples + <usize>index * offsetof<Sample>());
  }

  @inline
  plus(count: u32): Sample {
    return changetype<Sample>(changetype<usize>(this) + <usize>count * offsetof<Sample>());
  }

  /** This sample and the next one. */
  @inline
  set ofBoth(mv: v128) {
    v128.store(changetype<usize>(this), mv);
  }
}

/** Counts the spikes with a certain digit, then holds the index of the next one. */
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
