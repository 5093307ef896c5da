/**
 * Draws trains as input-events.ts does, event for event, where a product of 64 bits is one instruction.
 *
 * Memory is a row of sections: for each step the number of the last train that has an event in it; for each step
 * the index of its next event; the tables of intervals; at the end the events of the trial, first in the order of the
 * trains, then in the order of the steps.
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

let longestTrial: u32;
let marks: usize;
let nextOfStep: usize;
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
  nextOfStep = aligned(marks + ((<usize>steps) << 2));
  endOfTables = aligned(nextOfStep + ((<usize>steps) << 2));
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

/**
 * Begins a train: whatever its layers are, it has one event a step at most. Trains come in the order of their neurons, so
 * that of the events of a step.
 */
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

/** Orders the events by step, those of a step by train. @returns how many there are */
export function endTrial(): u32 {
  eventSteps = aligned(drawnEvents + ((<usize>eventCount) << 3));
  eventNeurons = aligned(eventSteps + ((<usize>eventCount) << 1));
  reach(eventNeurons + ((<usize>eventCount) << 2));
  memory.fill(nextOfStep, 0, (<usize>durationSteps) << 2);
  for (let q: u32 = 0; q < eventCount; q++) {
    const count = nextOfStep + ((<usize>load<u32>(drawnEvents + ((<usize>q) << 3))) << 2);
    store<u32>(count, load<u32>(count) + 1);
  }
  let begin: u32 = 0;
  for (let step: u32 = 0; step < durationSteps; step++) {
    const next = nextOfStep + ((<usize>step) << 2);
    const count = load<u32>(next);
    store<u32>(next, begin);
    begin += count;
  }
  for (let q: u32 = 0; q < eventCount; q++) {
    const drawn = drawnEvents + ((<usize>q) << 3);
    const step = load<u32>(drawn);
    const next = nextOfStep + ((<usize>step) << 2);
    const at = load<u32>(next);
    store<u32>(next, at + 1);
    store<u16>(eventSteps + ((<usize>at) << 1), <u16>step);
    store<u32>(eventNeurons + ((<usize>at) << 2), load<u32>(drawn, 4));
  }
  return eventCount;
}

function aligned(address: usize): usize {
  return (address + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
}

/** Grows memory up to, not including, an address; traps if that is not possible. */
function reach(end: usize): void {
  const pages = <i32>((end + PAGE_BYTES - 1) / PAGE_BYTES);
  const missing = pages - memory.size();
  if (missing > 0 && memory.grow(missing) < 0) unreachable();
}
