/**
 * Draws trains with the same result as input-events.ts. It is faster mainly because WebAssembly has 64-bit products,
 * which Philox needs. The head of stimulus/trains.ts explains the terms.
 *
 * Memory, in this order:
 * 1. marks: for each step, the number of the last train with an event in it;
 * 2. nextOfStep: for each step, the index of its next event in the sorted list;
 * 3. data that stays until the program ends, such as tables of intervals (`keep`);
 * 4. data of the present trial, such as layers (`lend`);
 * 5. drawnEvents: the events in the order of the trains;
 * 6. eventSteps and eventNeurons: the same events, sorted by step.
 */
import { ALIGNMENT, aligned, MULTIPLIER_0, MULTIPLIER_1, reach, ROUNDS, WEYL_0, WEYL_1 } from './common';

/** The largest random word plus one. */
const WORD_RANGE: f64 = 4294967296;
/** Sparse trains that are drawn together; a multiple of four. */
const NEURONS_AT_ONCE: u32 = 512;
/** The size of the head of a table of intervals: length, guideShift, 8 unused bytes. */
const TABLE_HEAD_BYTES: usize = 16;

let longestTrial: u32;
let marks: usize;
let nextOfStep: usize;
let endOfKept: usize;

let durationSteps: u32;
let train: u32;
let eventCount: u32;
let drawnEvents: usize;

/** The host reads these after endTrial. */
export let eventSteps: usize;
export let eventNeurons: usize;

/** A layer of the trains of an input, in one epoch. */
@unmanaged
class Layer {
  /** The table's address: its head, the guide, then the cumulative distribution; see intervals.ts. */
  table: usize;
  /** The number of the layer in its train. */
  number: u32;
  /** The number of the epoch plus 1: a cursor with epoch 0 is unused. */
  epoch: u32;
  /** The first step of the epoch, counted from the start of the trial. */
  origin: u32;
  /** Converts a step of the epoch to a step of the segment, by addition. */
  toPart: u32;
  firstBlock: u32;
  /** Only events from startStep to endStep - 1, counted from the start of the epoch, are added. */
  startStep: u32;
  endStep: u32;
  /** The address of a changing course: its rates, then the first step of each. 0 if the rate is constant. */
  course: usize;
  changeCount: u32;
  fromHz: f64;
  toHz: f64;
  /** If the rate is constant: an event stays if its random number is below this. */
  keepBelow: f64;
  /** From this word on, an interval ends after endStep wherever it begins, so no table is searched. */
  noneFrom: f64;

  @inline
  static at(layers: usize, index: u32): Layer {
    return changetype<Layer>(layers + <usize>index * aligned(offsetof<Layer>()));
  }

  /**
   * Draws the layer for the present train, from its cursor or else from the start of the epoch.
   * @param isVarying whether the rate changes
   * @param cursors the address of the train's cursors; 0 if the trial has only one segment
   * @param begun the address of the first block's words, 16 bytes apart, if they are known; otherwise 0
   */
  @inline
  draw(
    isVarying: bool,
    begun: usize,
    cursors: usize,
    neuron: u32,
    w1: u32,
    w2: u32,
    w3: u32,
    key0: u32,
    key1: u32,
  ): void {
    // Read once: the compiler cannot know that writing an event leaves these fields unchanged.
    const length = load<u32>(this.table);
    const shift = load<u32>(this.table, 4);
    const guide = this.table + TABLE_HEAD_BYTES;
    const cumulative = guide + ((<usize>2) << (32 - shift));
    const startStep = this.startStep;
    const endStep = this.endStep;
    const toPart = this.toPart;
    const keepBelow = this.keepBelow;
    const noneFrom = this.noneFrom;
    const cursor = changetype<Cursor>(cursors + <usize>this.number * offsetof<Cursor>());
    let step: u32 = 0;
    let block = this.firstBlock;
    if (cursors != 0 && cursor.epoch == this.epoch) {
      block = cursor.block;
      step = cursor.step;
    }
    let stepBefore = step;
    for (; step < endStep; block++) {
      stepBefore = step;
      let c0 = block;
      let c1 = w1;
      let c2 = w2;
      let c3 = w3;
      if (begun != 0 && block == this.firstBlock) {
        c0 = load<u32>(begun);
        c1 = load<u32>(begun, 16);
        c2 = load<u32>(begun, 32);
        c3 = load<u32>(begun, 48);
      } else {
        let k0 = key0;
        let k1 = key1;
        for (let round: u32 = 0; round < ROUNDS; round++) {
          const product0 = MULTIPLIER_0 * <u64>c0;
          const product1 = MULTIPLIER_1 * <u64>c2;
          c0 = <u32>(product1 >> 32) ^ c1 ^ k0;
          c1 = <u32>product1;
          c2 = <u32>(product0 >> 32) ^ c3 ^ k1;
          c3 = <u32>product0;
          k0 += WEYL_0;
          k1 += WEYL_1;
        }
      }
      // Steps count from 1 in this loop, so that none is negative.
      step += <f64>c0 < noneFrom ? intervalOf(c0, guide, shift, cumulative, length) : longestTrial + 1;
      if (step > endStep) continue;
      if (step > startStep) {
        const limit = isVarying ? this.limitAt(step - 1) : keepBelow;
        if (<f64>c1 < limit) addEvent(step - 1 + toPart, neuron);
      }
      step += <f64>c2 < noneFrom ? intervalOf(c2, guide, shift, cumulative, length) : longestTrial + 1;
      if (step > startStep && step <= endStep) {
        const limit = isVarying ? this.limitAt(step - 1) : keepBelow;
        if (<f64>c3 < limit) addEvent(step - 1 + toPart, neuron);
      }
    }
    if (cursors != 0 && stepBefore < step) {
      // The next segment draws the last block again, because it may have an event of that segment.
      cursor.epoch = this.epoch;
      cursor.block = block - 1;
      cursor.step = stepBefore;
    }
  }

  /** Replaces keepBelow if the rate changes. It follows from the rate in this step. */
  private limitAt(stepOfEpoch: u32): f64 {
    const step = this.origin + stepOfEpoch;
    const steps = this.course + ((<usize>this.changeCount) << 3);
    let index: u32 = 0;
    for (let end = this.changeCount; end - index > 1;) {
      const middle = (index + end) >> 1;
      if (load<u32>(steps + ((<usize>middle) << 2)) <= step) index = middle;
      else end = middle;
    }
    const rateHz = load<f64>(this.course + ((<usize>index) << 3));
    return min<f64>(1, (rateHz - this.fromHz) / (this.toHz - this.fromHz)) * WORD_RANGE;
  }

  /** Draws the first blocks of four neurons and stores four vectors, one for each word of a block. */
  @inline
  drawFour(w1: v128, w2: v128, w3: u32, key0: u32, key1: u32, blocks: usize): void {
    let c0 = i32x4.splat(this.firstBlock);
    let c1 = w1;
    let c2 = w2;
    let c3 = i32x4.splat(w3);
    let k0 = i32x4.splat(key0);
    let k1 = i32x4.splat(key1);
    for (let round: u32 = 0; round < ROUNDS; round++) {
      const first0 = i64x2.extmul_low_i32x4_u(c0, i32x4.splat(<u32>MULTIPLIER_0));
      const last0 = i64x2.extmul_high_i32x4_u(c0, i32x4.splat(<u32>MULTIPLIER_0));
      const first1 = i64x2.extmul_low_i32x4_u(c2, i32x4.splat(<u32>MULTIPLIER_1));
      const last1 = i64x2.extmul_high_i32x4_u(c2, i32x4.splat(<u32>MULTIPLIER_1));
      c0 = v128.xor(v128.xor(v128.shuffle<u32>(first1, last1, 1, 3, 5, 7), c1), k0);
      c1 = v128.shuffle<u32>(first1, last1, 0, 2, 4, 6);
      c2 = v128.xor(v128.xor(v128.shuffle<u32>(first0, last0, 1, 3, 5, 7), c3), k1);
      c3 = v128.shuffle<u32>(first0, last0, 0, 2, 4, 6);
      k0 = i32x4.add(k0, i32x4.splat(WEYL_0));
      k1 = i32x4.add(k1, i32x4.splat(WEYL_1));
    }
    v128.store(blocks, c0);
    v128.store(blocks, c1, 16);
    v128.store(blocks, c2, 32);
    v128.store(blocks, c3, 48);
  }
}

/** The cursor of one layer of one train; see TrainCursors in input-events.ts. */
@unmanaged
class Cursor {
  epoch: u32;
  block: u32;
  step: u32;
}

/** A layer of a neuron's train that has an event in the trial. */
@unmanaged
class FoundLayer {
  neuron: u32;
  layer: Layer;
  /** The address of its first block. */
  block: usize;

  @inline
  static at(found: usize, index: u32): FoundLayer {
    return changetype<FoundLayer>(found + <usize>index * offsetof<FoundLayer>());
  }
}

/**
 * Divides the memory; call it once, first.
 * @param steps the length of the longest trial or segment
 */
export function layOut(steps: u32): void {
  longestTrial = steps;
  marks = ALIGNMENT;
  nextOfStep = aligned(marks + ((<usize>steps) << 2));
  endOfKept = aligned(nextOfStep + ((<usize>steps) << 2));
  reach(endOfKept);
}

/** Allocates memory that is never released. Do not call it during a trial. @returns the address */
export function keep(bytes: usize): usize {
  const address = endOfKept;
  endOfKept = aligned(address + bytes);
  reach(endOfKept);
  return address;
}

/** Allocates memory until the next trial begins. Call it before the first event of the trial. @returns the address */
export function lend(bytes: usize): usize {
  const address = drawnEvents;
  drawnEvents = aligned(address + bytes);
  reach(drawnEvents);
  return address;
}

/** Begins a trial, or a segment of one, and releases the memory of the one before. */
export function beginTrial(steps: u32): void {
  durationSteps = steps;
  eventCount = 0;
  drawnEvents = endOfKept;
  memory.fill(marks, 0, (<usize>steps) << 2);
  train = 0;
}

/** Adds a layer after the one before; the layers of a train must be contiguous. @returns the address */
export function addLayer(
  table: usize,
  number: u32,
  epoch: u32,
  origin: u32,
  toPart: u32,
  firstBlock: u32,
  startStep: u32,
  endStep: u32,
  course: usize,
  changeCount: u32,
  fromHz: f64,
  toHz: f64,
  keepBelow: f64,
  noneFrom: f64,
): usize {
  const layer = changetype<Layer>(lend(offsetof<Layer>()));
  layer.table = table;
  layer.number = number;
  layer.epoch = epoch;
  layer.origin = origin;
  layer.toPart = toPart;
  layer.firstBlock = firstBlock;
  layer.startStep = startStep;
  layer.endStep = endStep;
  layer.course = course;
  layer.changeCount = changeCount;
  layer.fromHz = fromHz;
  layer.toHz = toHz;
  layer.keepBelow = keepBelow;
  layer.noneFrom = noneFrom;
  return changetype<usize>(layer);
}

/**
 * Begins a train, which has at most one event a step. Begin trains in the order of their neurons: then the events of a
 * step have that order too.
 */
export function beginTrain(): void {
  train++;
}

/** Adds an event to the present train, unless the train has one in this step. */
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

/**
 * Draws a train and adds its events.
 * @param cursors the address of its cursors, or 0
 * @param w1 with w2 and w3: words 1 to 3 of Philox's counter; word 0 is the block's number
 */
export function addTrain(
  neuron: u32,
  layers: usize,
  layerCount: u32,
  cursors: usize,
  w1: u32,
  w2: u32,
  w3: u32,
  key0: u32,
  key1: u32,
): void {
  train++;
  for (let at: u32 = 0; at < layerCount; at++) {
    const layer = Layer.at(layers, at);
    if (layer.changeCount > 1) layer.draw(true, 0, cursors, neuron, w1, w2, w3, key0, key1);
    else layer.draw(false, 0, cursors, neuron, w1, w2, w3, key0, key1);
  }
}

/**
 * Draws the trains of all neurons of an input. A call of the host for each train would take as long as drawing it.
 * @param neurons the address of the ascending neurons
 * @param idWords the address of two words for each neuron of the brain
 * @param cursors the address of the first train's cursors, or 0
 */
export function addTrains(
  neurons: usize,
  neuronCount: u32,
  idWords: usize,
  layers: usize,
  layerCount: u32,
  cursors: usize,
  cursorBytes: usize,
  w3: u32,
  key0: u32,
  key1: u32,
): void {
  for (let at: u32 = 0; at < neuronCount; at++) {
    const neuron = load<u32>(neurons + ((<usize>at) << 2));
    const own = idWords + ((<usize>neuron) << 3);
    addTrain(neuron, layers, layerCount, cursors, load<u32>(own), load<u32>(own, 4), w3, key0, key1);
    cursors += cursorBytes;
  }
}

/**
 * Draws the trains of many neurons that have few events. It draws the first blocks of four neurons at a time, collects
 * the layers whose first event comes before the end, and draws only these to the end.
 * @param neurons the address of the ascending neurons, padded to a multiple of four
 * @param idWords the address of two words for each neuron of the brain
 */
export function addSparseTrains(
  neurons: usize,
  neuronCount: u32,
  idWords: usize,
  layers: usize,
  layerCount: u32,
  w3: u32,
  key0: u32,
  key1: u32,
): void {
  const blocks = lend((<usize>(NEURONS_AT_ONCE * layerCount)) << 4);
  const found = lend(<usize>(NEURONS_AT_ONCE * layerCount + 1) * offsetof<FoundLayer>());
  for (let begin: u32 = 0; begin < neuronCount; begin += NEURONS_AT_ONCE) {
    const end = min(neuronCount, begin + NEURONS_AT_ONCE);
    let foundCount: u32 = 0;
    for (let at = begin; at < end; at += 4) {
      const four = neurons + ((<usize>at) << 2);
      const blocksOfFour = blocks + ((<usize>((at - begin) * layerCount)) << 4);
      const w1 = wordsOfFour(four, idWords);
      const w2 = wordsOfFour(four, idWords + sizeof<u32>());
      for (let index: u32 = 0; index < layerCount; index++) {
        Layer.at(layers, index).drawFour(w1, w2, w3, key0, key1, blocksOfFour + ((<usize>index) << 6));
      }
      const count = min<u32>(4, end - at);
      for (let lane: u32 = 0; lane < count; lane++) {
        for (let index: u32 = 0; index < layerCount; index++) {
          const next = FoundLayer.at(found, foundCount);
          next.neuron = load<u32>(four + ((<usize>lane) << 2));
          next.layer = Layer.at(layers, index);
          next.block = blocksOfFour + ((<usize>((index << 4) + lane)) << 2);
          // No branch here: it would often be mispredicted.
          foundCount += <u32>(<f64>load<u32>(next.block) < next.layer.noneFrom);
        }
      }
    }
    let previous: u32 = u32.MAX_VALUE;
    for (let at: u32 = 0; at < foundCount; at++) {
      const next = FoundLayer.at(found, at);
      const neuron = next.neuron;
      train += <u32>(neuron != previous);
      previous = neuron;
      const own = idWords + ((<usize>neuron) << 3);
      next.layer.draw(false, next.block, 0, neuron, load<u32>(own), load<u32>(own, 4), w3, key0, key1);
    }
  }
}

/** @returns one id word of each of four neurons */
function wordsOfFour(neurons: usize, idWords: usize): v128 {
  let words = i32x4.splat(load<u32>(idWords + ((<usize>load<u32>(neurons)) << 3)));
  words = i32x4.replace_lane(words, 1, load<u32>(idWords + ((<usize>load<u32>(neurons, 4)) << 3)));
  words = i32x4.replace_lane(words, 2, load<u32>(idWords + ((<usize>load<u32>(neurons, 8)) << 3)));
  return i32x4.replace_lane(words, 3, load<u32>(idWords + ((<usize>load<u32>(neurons, 12)) << 3)));
}

function intervalOf(word: u32, guide: usize, shift: u32, cumulative: usize, length: u32): u32 {
  let k: u32 = load<u16>(guide + ((<usize>(word >> shift)) << 1));
  while (k < length && load<f64>(cumulative + ((<usize>k) << 3)) <= <f64>word) k++;
  return k == length ? longestTrial + 1 : k + 1;
}

/** Sorts the events by step; events of one step stay in the order of the trains. @returns their number */
export function endTrial(): u32 {
  eventSteps = aligned(drawnEvents + ((<usize>eventCount) << 3));
  eventNeurons = aligned(eventSteps + ((<usize>eventCount) << 1));
  const end = eventNeurons + ((<usize>eventCount) << 2);
  // Beyond 4 GiB addresses begin again at 0.
  if (eventSteps < drawnEvents || eventNeurons < eventSteps || end < eventNeurons) unreachable();
  reach(end);
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
