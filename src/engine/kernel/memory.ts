/**
 * What lies where in the linear memory of the kernel.
 *
 * Memory is a row of sections; how long each is follows from the connectome, and for the last three from the
 * run. A class here is a view, not an object: `at` turns an index into a reference, a field is a load or a
 * store at a constant offset, and nothing is ever allocated or collected.
 */

const SECTION_ALIGNMENT: usize = 64;
const PAGE_BYTES: usize = 65536;

/** The raster is sorted by neuron in two digits of so many bits. */
export const DIGIT_BITS: u32 = 9;
/** Of a neuron in a connection and in the raster; the host knows it as TARGET_BITS of src/connectome/connectome.ts. */
const TARGET_BITS: i32 = <i32>(2 * DIGIT_BITS);
const TARGET_MASK: u32 = (1 << TARGET_BITS) - 1;
const CURSORS_BYTES: usize = sizeof<u32>() << DIGIT_BITS;

/** The one section whose address is a constant: the loops that take most of the time go through it. */
const NEURONS: usize = SECTION_ALIGNMENT;
/** Filled by the host once. */
export let connections: usize;
export let rowStarts: usize;
export let excites: usize;
export let factors: usize;
/** Filled by the host for each run. */
export let stimulated: usize;
export let kickSteps: usize;
export let kickNeurons: usize;
/** Filled by the kernel. */
let stepSpikes: usize;
export let hotNeurons: usize;
export let inhibitorySpikes: usize;
export let spikes: usize;
let cursors: usize;
export let sortedSpikes: usize;
/** For the host to read. */
export let rasterSteps: usize;
export let rasterNeurons: usize;

let neuronCount: u32;
let layoutEnd: usize;

function section(bytes: usize): usize {
  const begin = layoutEnd;
  layoutEnd = (begin + bytes + SECTION_ALIGNMENT - 1) & ~(SECTION_ALIGNMENT - 1);
  return begin;
}

/** Lays out what every run of a network shares. Fresh memory is zero, so nobody is stimulated or excited. */
export function layOutNetwork(neurons: u32, connectionCount: u32, stepCount: u32): void {
  neuronCount = neurons;
  layoutEnd = NEURONS;
  section(<usize>neurons * offsetof<Neuron>());
  connections = section(<usize>connectionCount * offsetof<Connection>());
  rowStarts = section((<usize>neurons + 1) * sizeof<u32>());
  excites = section(neurons);
  factors = section(<usize>stepCount * offsetof<StepFactors>());
  stimulated = section(neurons);
  stepSpikes = section((<usize>stepCount + 1) * offsetof<StepSpikes>());
  // One more than there are neurons: a list may be written one past its end before it is known to be longer.
  hotNeurons = section((<usize>neurons + 1) * sizeof<u32>());
  inhibitorySpikes = section((<usize>neurons + 1) * sizeof<u32>());
  cursors = section(2 * CURSORS_BYTES);
  kickSteps = layoutEnd;
  reach(layoutEnd);
}

/** Lays out what belongs to one run; the spikes come last, because nobody knows how many there will be. */
export function layOutRun(kickCount: u32): void {
  layoutEnd = kickSteps;
  section(<usize>kickCount * sizeof<u16>());
  kickNeurons = section(<usize>kickCount * sizeof<u32>());
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
  memory.fill(NEURONS, 0, <usize>neuronCount * offsetof<Neuron>());
}

/** The state of a neuron; kernel.ts says what u and h are. 16 bytes, so four share a cache line. */
@unmanaged
export class Neuron {
  u: f64;
  h: f64;

  @inline
  static at(i: u32): Neuron {
    return changetype<Neuron>(NEURONS + ((<usize>i) << 4));
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

  /** At rest, as every neuron is when a run begins. */
  @inline
  rest(): void {
    this.u = 0;
    this.h = 0;
  }

  /** Until it rests again, whatever arrives has no effect: minus infinity plus anything stays what it is. */
  @inline
  ignoreInput(): void {
    this.u = -Infinity;
  }
}

/** One word: the signed synapse count in the upper bits, the target in the lower ones. */
@unmanaged
export class Connection {
  word: i32;

  @inline
  static at(c: usize): Connection {
    return changetype<Connection>(connections + (c << 2));
  }

  @inline
  get next(): Connection {
    return changetype<Connection>(changetype<usize>(this) + offsetof<Connection>());
  }

  @inline
  get target(): u32 {
    return (<u32>this.word) & TARGET_MASK;
  }

  @inline
  get signedSynapses(): f64 {
    return <f64>(this.word >> TARGET_BITS);
  }
}

/** The connections of one neuron. */
@unmanaged
export class Row {
  private begins: u32;
  /** Row starts are one array, so a row ends where the next begins. */
  private ends: u32;

  @inline
  static of(i: u32): Row {
    return changetype<Row>(rowStarts + ((<usize>i) << 2));
  }

  @inline
  get begin(): Connection {
    return Connection.at(this.begins);
  }

  @inline
  get end(): Connection {
    return Connection.at(this.ends);
  }

  @inline
  get length(): u32 {
    return this.ends - this.begins;
  }
}

/** What one step makes of u and h. */
@unmanaged
export class StepFactors {
  /** What one synapse adds to u and to h. */
  uOfSynapse: f64;
  hOfSynapse: f64;
  /** v in mV above rest is u * mvOfU - h * mvOfH. */
  mvOfU: f64;
  mvOfH: f64;
  uOfKick: f64;
  /** Only a neuron with more than this at the end of the step can spike in the next one. */
  uOfHot: f64;

  @inline
  static of(step: u32): StepFactors {
    return changetype<StepFactors>(factors + <usize>step * offsetof<StepFactors>());
  }

  @inline
  get uhOfSynapse(): v128 {
    return v128.load(changetype<usize>(this));
  }
}

/** The spikes of one step, as indices into the list of spikes: first those that excite. */
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
  neuron: u32;

  @inline
  static at(list: usize, q: u32): Entry {
    return changetype<Entry>(list + ((<usize>q) << 2));
  }

  @inline
  plus(entries: u32): Entry {
    return changetype<Entry>(changetype<usize>(this) + ((<usize>entries) << 2));
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

/** Kick number q of the run. */
@unmanaged
export class Kick {
  static stepOf(q: u32): u32 {
    return load<u16>(kickSteps + ((<usize>q) << 1));
  }

  static neuronOf(q: u32): u32 {
    return load<u32>(kickNeurons + ((<usize>q) << 2));
  }
}

/** 1 or 0, so that it can be added as well as tested. */
export function isExcitatory(i: u32): u32 {
  return load<u8>(excites + i);
}

export function isStimulated(i: u32): bool {
  return load<u8>(stimulated + i) != 0;
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
