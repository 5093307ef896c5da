/**
 * Draws trains as thinned-train.ts does, event for event, where a product of 64 bits is one instruction.
 *
 * Memory is a row of sections: for each step the number of the last train that has an event in it; for each step
 * the places of its first and of its next event; the tables of intervals; at the end the events of the trial, first
 * in the order of the trains, then in their own.
 */
const PAGE_BYTES: usize = 65536;
const ALIGNMENT: usize = 16;

// As in philox.ts.
const MULTIPLIER_0: u64 = 0xd2511f53;
const MULTIPLIER_1: u64 = 0xcd9e8d57;
const WEYL_0: u32 = 0x9e3779b9;
const WEYL_1: u32 = 0xbb67ae85;
const ROUNDS: u32 = 10;

/** A table: the guide, a half word for each first byte of a random word, then the cumulative distribution. */
const GUIDE_BYTES: usize = 256 * sizeof<u16>();
/** Moves by insertion for each event of a step, before a heap takes over. */
const MOVES_OF_EACH: u64 = 32;

let longestTrial: u32;
let marks: usize;
let places: usize;
let endOfTables: usize;

let durationSteps: u32;
let train: u32;
let eventCount: u32;
let drawnEvents: usize;

/** For the host to read when the trial is drawn. */
export let eventSteps: usize;
export let eventNeurons: usize;

export function layOut(steps: u32): void {
  longestTrial = steps;
  marks = ALIGNMENT;
  places = aligned(marks + ((<usize>steps) << 2));
  endOfTables = aligned(places + ((<usize>steps) << 3));
  reach(endOfTables);
}

/** Makes room for a table of intervals. @returns its address, for the host to fill */
export function addTable(length: u32): usize {
  const table = endOfTables;
  endOfTables = aligned(table + GUIDE_BYTES + ((<usize>length) << 3));
  reach(endOfTables);
  return table;
}

/** Begins a trial. All tables that it needs have been added. */
export function beginTrial(steps: u32): void {
  durationSteps = steps;
  eventCount = 0;
  drawnEvents = endOfTables;
  memory.fill(marks, 0, (<usize>steps) << 2);
  train = 0;
}

/** Begins a train: whatever its layers are, it has one event a step at most. */
export function beginTrain(): void {
  train++;
}

/** Adds one event of the present train. */
export function addEvent(step: u32, neuron: u32): void {
  const mark = marks + ((<usize>step) << 2);
  if (load<u32>(mark) == train) return;
  store<u32>(mark, train);
  const at = drawnEvents + ((<usize>eventCount) << 3);
  reach(at + 8);
  store<u32>(at, step);
  store<u32>(at, neuron, 4);
  eventCount++;
}

/** Draws one layer of the present train from its first step on and adds the events from startStep to endStep - 1. */
export function addLayer(
  neuron: u32,
  startStep: u32,
  endStep: u32,
  table: usize,
  tableLength: u32,
  keepBelow: f64,
  firstBlock: u32,
  counter1: u32,
  counter2: u32,
  counter3: u32,
  key0: u32,
  key1: u32,
): void {
  let step: u32 = 0;
  for (let block = firstBlock; step < endStep; block++) {
    let c0 = block;
    let c1 = counter1;
    let c2 = counter2;
    let c3 = counter3;
    let k0 = key0;
    let k1 = key1;
    for (let round: u32 = 0; round < ROUNDS; round++) {
      const product0 = MULTIPLIER_0 * <u64>c0;
      const product1 = MULTIPLIER_1 * <u64>c2;
      c0 = (<u32>(product1 >> 32)) ^ c1 ^ k0;
      c1 = <u32>product1;
      c2 = (<u32>(product0 >> 32)) ^ c3 ^ k1;
      c3 = <u32>product0;
      k0 += WEYL_0;
      k1 += WEYL_1;
    }
    // The step counts from 1 here, so that it is never negative.
    step += intervalOf(c0, table, tableLength);
    if (step > startStep && step <= endStep && <f64>c1 < keepBelow) addEvent(step - 1, neuron);
    step += intervalOf(c2, table, tableLength);
    if (step > startStep && step <= endStep && <f64>c3 < keepBelow) addEvent(step - 1, neuron);
  }
}

function intervalOf(word: u32, table: usize, length: u32): u32 {
  let k: u32 = load<u16>(table + ((<usize>(word >> 24)) << 1));
  while (k < length && load<f64>(table + ((<usize>k) << 3), GUIDE_BYTES) <= <f64>word) k++;
  return k == length ? longestTrial + 1 : k + 1;
}

/** Orders the events by step, then by neuron. @returns how many there are */
export function endTrial(): u32 {
  eventSteps = aligned(drawnEvents + ((<usize>eventCount) << 3));
  eventNeurons = aligned(eventSteps + ((<usize>eventCount) << 1));
  reach(eventNeurons + ((<usize>eventCount) << 2));
  placeSteps();
  let isOrdered = true;
  for (let q: u32 = 0; q < eventCount; q++) {
    const drawn = drawnEvents + ((<usize>q) << 3);
    if (!append(load<u32>(drawn), load<u32>(drawn, 4))) isOrdered = false;
  }
  // The neurons of one input ascend as a rule.
  if (isOrdered) return eventCount;
  for (let step: u32 = 0; step < durationSteps; step++) {
    const place = places + ((<usize>step) << 3);
    orderNeurons(load<u32>(place), load<u32>(place, 4));
  }
  return eventCount;
}

/** Sets both places of each step to that of its first event. */
function placeSteps(): void {
  memory.fill(places, 0, (<usize>durationSteps) << 3);
  for (let q: u32 = 0; q < eventCount; q++) {
    const place = places + ((<usize>load<u32>(drawnEvents + ((<usize>q) << 3))) << 3);
    store<u32>(place, load<u32>(place) + 1);
  }
  let begin: u32 = 0;
  for (let step: u32 = 0; step < durationSteps; step++) {
    const place = places + ((<usize>step) << 3);
    const count = load<u32>(place);
    store<u32>(place, begin);
    store<u32>(place, begin, 4);
    begin += count;
  }
}

/** Puts an event behind those of its step that are there already. @returns whether they ascend up to it */
function append(step: u32, neuron: u32): bool {
  const place = places + ((<usize>step) << 3);
  const at = load<u32>(place, 4);
  store<u32>(place, at + 1, 4);
  store<u16>(eventSteps + ((<usize>at) << 1), <u16>step);
  setNeuron(at, neuron);
  return at == load<u32>(place) || neuronAt(at - 1) <= neuron;
}

/**
 * Orders the neurons of a step by insertion: mostly these are few, or in order. Where two inputs kick a whole brain in
 * one step, that would take the square of its size, so after some moves a heap does it.
 */
function orderNeurons(begin: u32, end: u32): void {
  let moves = <u64>(end - begin) * MOVES_OF_EACH;
  for (let next = begin + 1; next < end; next++) {
    const neuron = neuronAt(next);
    let at = next;
    for (; at > begin && neuronAt(at - 1) > neuron; at--) setNeuron(at, neuronAt(at - 1));
    setNeuron(at, neuron);
    const moved: u64 = next - at;
    if (moved > moves) {
      sortAsHeap(begin, end - begin);
      return;
    }
    moves -= moved;
  }
}

function sortAsHeap(begin: u32, count: u32): void {
  for (let root = count >> 1; root > 0; root--) sink(begin, root - 1, count);
  for (let last = count - 1; last > 0; last--) {
    const largest = neuronAt(begin);
    setNeuron(begin, neuronAt(begin + last));
    setNeuron(begin + last, largest);
    sink(begin, 0, last);
  }
}

/** Moves a neuron down a heap that begins at a place, until none below it is larger. */
function sink(begin: u32, root: u32, count: u32): void {
  const neuron = neuronAt(begin + root);
  let at = root;
  for (let child: u32 = 2 * at + 1; child < count; child = 2 * at + 1) {
    if (child + 1 < count && neuronAt(begin + child + 1) > neuronAt(begin + child)) child++;
    if (neuronAt(begin + child) <= neuron) break;
    setNeuron(begin + at, neuronAt(begin + child));
    at = child;
  }
  setNeuron(begin + at, neuron);
}

function neuronAt(event: u32): u32 {
  return load<u32>(eventNeurons + ((<usize>event) << 2));
}

function setNeuron(event: u32, neuron: u32): void {
  store<u32>(eventNeurons + ((<usize>event) << 2), neuron);
}

function aligned(address: usize): usize {
  return (address + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/** Makes memory reach up to, not including, an address; traps where there is no more to be had. */
function reach(end: usize): void {
  const pages = <i32>((end + PAGE_BYTES - 1) / PAGE_BYTES);
  const missing = pages - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
}
