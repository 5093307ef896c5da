/**
 * What lies where in the linear memory of the kernel.
 *
 * Memory is a row of sections. Their lengths follow from the connectome, those of the last ones from the trial. A
 * class here is a view, not an object: `at` turns an index into a reference, a field is a load or a store at a
 * constant offset, and nothing is ever allocated or collected.
 *
 * A neuron is named by its address, not by its index: rows, lists and connections hold addresses, so that the loops
 * that take most of the time compute none.
 */

const SECTION_ALIGNMENT: usize = 64;
const PAGE_BYTES: usize = 65536;

/** The raster is sorted by neuron in two digits of so many bits. */
export const DIGIT_BITS: u32 = 9;
const CURSORS_BYTES: usize = sizeof<u32>() << DIGIT_BITS;
/** log2 of the bytes of a neuron. */
const NEURON_SHIFT: usize = 4;
/** Of a target in a connection; ADDRESS_BITS of backends/cpu/kernel-engine.ts. */
const ADDRESS_BITS: i32 = <i32>(2 * DIGIT_BITS + NEURON_SHIFT);
const ADDRESS_MASK: u32 = (1 << ADDRESS_BITS) - 1;

/** The first section begins at 0: the address of a neuron is its index, shifted. */
const NEURONS: usize = 0;
/** Filled by the host once. */
export let connections: usize;
export let rows: usize;
/** Filled by the host for each trial. */
export let eventSteps: usize;
export let eventNeurons: usize;
/** Filled by the kernel. */
export let hotNeurons: usize;
export let spikingNeurons: usize;
export let inhibitorySpikes: usize;
let cursors: usize;
let stepSpikes: usize;
export let spikes: usize;
export let sortedSpikes: usize;
/** For the host to read. */
export let rasterSteps: usize;
export let rasterNeurons: usize;

/** Stands behind the last neuron and is always at rest: it fills lists up to an even length. */
export let nobody: Neuron = changetype<Neuron>(0);
let endOfNetwork: usize;
let layoutEnd: usize;

function section(bytes: usize): usize {
  const begin = layoutEnd;
  layoutEnd = (begin + bytes + SECTION_ALIGNMENT - 1) & ~(SECTION_ALIGNMENT - 1);
  return begin;
}

/** Lays out what every trial of a network shares. Fresh memory is zero: all neurons are at rest, all rows empty. */
export function layOutNetwork(neurons: u32, words: u32): void {
  nobody = Neuron.at(neurons);
  layoutEnd = NEURONS;
  section((<usize>neurons + 1) * offsetof<Neuron>());
  connections = section(<usize>words * sizeof<u32>());
  rows = section((<usize>neurons + 1) * offsetof<Row>());
  // Two more than there are neurons: lists are written two at once, past their end before they are longer.
  hotNeurons = section((<usize>neurons + 2) * offsetof<Entry>());
  spikingNeurons = section((<usize>neurons + 2) * offsetof<Entry>());
  inhibitorySpikes = section((<usize>neurons + 2) * offsetof<Entry>());
  cursors = section(2 * CURSORS_BYTES);
  endOfNetwork = layoutEnd;
  reach(layoutEnd);
}

/** Lays out what belongs to one trial. The spikes come last, because nobody knows how many there will be. */
export function layOutTrial(stepCount: u32, eventCount: u32): void {
  layoutEnd = endOfNetwork;
  eventSteps = section(<usize>eventCount * sizeof<u16>());
  eventNeurons = section(<usize>eventCount * sizeof<u32>());
  stepSpikes = section((<usize>stepCount + 1) * offsetof<StepSpikes>());
  spikes = layoutEnd;
  reach(spikes);
}

/** Makes memory reach up to, not including, an address; traps where there is no more to be had. */
function reach(end: usize): void {
  const pages = <i32>((end + PAGE_BYTES - 1) / PAGE_BYTES);
  const missing = pages - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
}

export function putAllToRest(): void {
  memory.fill(NEURONS, 0, changetype<usize>(nobody) - NEURONS);
}

/** The state of a neuron; kernel.ts says what u and h are. 16 bytes, so four share a cache line. */
@unmanaged
export class Neuron {
  u: f64;
  h: f64;

  @inline
  static at(i: u32): Neuron {
    return changetype<Neuron>(NEURONS + ((<usize>i) << NEURON_SHIFT));
  }

  @inline
  get index(): u32 {
    return <u32>((changetype<usize>(this) - NEURONS) >> NEURON_SHIFT);
  }

  @inline
  get next(): Neuron {
    return changetype<Neuron>(changetype<usize>(this) + offsetof<Neuron>());
  }

  /** u and h as one vector: what arrives changes both at once. */
  @inline
  get uh(): v128 {
    return v128.load(changetype<usize>(this));
  }

  @inline
  set uh(both: v128) {
    v128.store(changetype<usize>(this), both);
  }

  /** At rest, as every neuron is when a trial begins. */
  @inline
  rest(): void {
    this.uh = f64x2.splat(0);
  }

  /** Until it rests again, whatever arrives has no effect: minus infinity plus anything stays what it is. */
  @inline
  ignoreInput(): void {
    this.u = -Infinity;
  }

  /** By a mask, not a branch: a processor cannot guess which spikes are of stimulated neurons. */
  @inline
  restIfIgnoring(): void {
    const uh = this.uh;
    this.uh = v128.and(uh, f64x2.gt(v128.shuffle<f64>(uh, uh, 0, 0), f64x2.splat(-Infinity)));
  }

  /** By a mask as well. */
  @inline
  restIfStimulated(): void {
    this.uh = v128.and(this.uh, i64x2.splat(<i64>Row.of(this).isStimulated - 1));
  }
}

/** What the host says of a neuron: its connections, and what it is. */
@unmanaged
export class Row {
  /** A silenced neuron has none: its row ends where it begins. */
  begin: Pair;
  end: Pair;
  /** How many connections these pairs are: large ones take several words. */
  connectionCount: u32;
  /** 1 or 0, so that they can be added as well as tested. */
  isExcitatory: u16;
  isStimulated: u16;

  @inline
  static of(neuron: Neuron): Row {
    // A row is as long as a neuron, so the address of the one leads to the other.
    return changetype<Row>(rows + changetype<usize>(neuron) - NEURONS);
  }
}

/**
 * Two connections of a row, a word each: the address of the target below, the signed synapses above. An odd row is
 * filled up with a connection of no synapses to nobody.
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

  /** Of both connections, as doubles. */
  @inline
  get signedSynapses(): v128 {
    return f64x2.convert_low_i32x4_s(i32x4.shr_s(v128.load64_zero(changetype<usize>(this)), ADDRESS_BITS));
  }

  /** A load whose value nobody waits for: WebAssembly has no instruction to fetch memory ahead of its use. */
  @inline
  fetch(): void {
    load<u32>(changetype<usize>(this));
  }
}

/** The spikes of one step, as places in the list of spikes: first those that excite. */
@unmanaged
export class StepSpikes {
  begin: u32;
  firstInhibitory: u32;

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
  set end(spike: u32) {
    changetype<StepSpikes>(changetype<usize>(this) + offsetof<StepSpikes>()).begin = spike;
  }
}

/** A neuron in a list of neurons: hotNeurons, spikes, ... */
@unmanaged
export class Entry {
  neuron: Neuron;

  @inline
  static at(list: usize, q: u32): Entry {
    return changetype<Entry>(list + ((<usize>q) << 2));
  }

  @inline
  plus(entries: u32): Entry {
    return changetype<Entry>(changetype<usize>(this) + ((<usize>entries) << 2));
  }

  @inline
  isBefore(other: Entry): bool {
    return changetype<usize>(this) < changetype<usize>(other);
  }

  /** Its place in a list. */
  @inline
  placeIn(list: usize): u32 {
    return <u32>((changetype<usize>(this) - list) >> 2);
  }
}

/** Makes room for a number of spikes in all. */
export function reachSpikes(count: u32): void {
  reach(spikes + ((<usize>count) << 2));
}

/** Lays out the raster and what it takes to sort it, behind the spikes, when their number is known. */
export function layOutRaster(spikeCount: u32): void {
  layoutEnd = spikes;
  section(<usize>spikeCount * sizeof<u32>());
  sortedSpikes = section(<usize>spikeCount * sizeof<u32>());
  rasterSteps = section(<usize>spikeCount * sizeof<u16>());
  rasterNeurons = section(<usize>spikeCount * sizeof<u32>());
  reach(layoutEnd);
}

/** Input event number q of the trial. */
@unmanaged
export class InputEvent {
  @inline
  static stepOf(q: u32): u32 {
    return load<u16>(eventSteps + ((<usize>q) << 1));
  }

  @inline
  static neuronOf(q: u32): Neuron {
    return Neuron.at(load<u32>(eventNeurons + ((<usize>q) << 2)));
  }
}

/** A number in a list of numbers. */
@unmanaged
export class Word {
  value: u32;

  @inline
  static at(list: usize, q: u32): Word {
    return changetype<Word>(list + ((<usize>q) << 2));
  }
}

@unmanaged
export class RasterStep {
  step: u16;

  @inline
  static at(q: u32): RasterStep {
    return changetype<RasterStep>(rasterSteps + ((<usize>q) << 1));
  }
}

/** Counts the spikes with a certain digit, then goes through the places where they belong. */
@unmanaged
export class Cursor {
  value: u32;

  @inline
  static ofLower(digit: u32): Cursor {
    return changetype<Cursor>(cursors + ((<usize>digit) << 2));
  }

  @inline
  static ofUpper(digit: u32): Cursor {
    return changetype<Cursor>(cursors + CURSORS_BYTES + ((<usize>digit) << 2));
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
