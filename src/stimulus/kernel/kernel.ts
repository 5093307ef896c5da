/**
 * Draws trains as input-events.ts does, event for event, where a product of 64 bits is one instruction.
 *
 * Memory is a row of sections: for each step the number of the last train that has an event in it; for each step
 * the index of its next event; what the host keeps, such as tables of intervals; what it lends to a trial, such as
 * layers; at the end the events of the trial, first in the order of the trains, then in the order of the steps.
 */
const PAGE_BYTES: usize = 65536;
const ALIGNMENT: usize = 16;

// As in philox.ts.
const MULTIPLIER_0: u64 = 0xd2511f53;
const MULTIPLIER_1: u64 = 0xcd9e8d57;
const WEYL_0: u32 = 0x9e3779b9;
const WEYL_1: u32 = 0xbb67ae85;
const ROUNDS: u32 = 10;
/** One more than the largest random word. */
const WORD_RANGE: f64 = 4294967296;
/** Sparse trains that are drawn together; a multiple of four. */
const NEURONS_AT_ONCE: u32 = 512;
/** The head of a table of intervals. */
const TABLE_HEAD_BYTES: usize = 16;

let longestTrial: u32;
let marks: usize;
let nextOfStep: usize;
let endOfKept: usize;

let durationSteps: u32;
let train: u32;
let eventCount: u32;
let drawnEvents: usize;

/** For the host to read when the trial is drawn. */
export let eventSteps: usize;
export let eventNeurons: usize;

/** A layer of the trains of an input, as trains.ts describes it. */
@unmanaged
class Layer {
  /** The length of the distribution, guideShift, 8 bytes, the guide, then the cumulative distribution. */
  table: usize;
  /** The number of the layer in its train. */
  number: u32;
  /** The number of the epoch, from 1 on. */
  epoch: u32;
  /** The step of the trial in which the epoch begins. */
  origin: u32;
  /** Added to a step of the epoch, it gives that of the part. */
  toPart: u32;
  firstBlock: u32;
  /** Events from this step of the epoch on are added, up to endStep - 1. */
  startStep: u32;
  endStep: u32;
  /** The rates of a train that changes, then the steps from which on they hold. */
  course: usize;
  changeCount: u32;
  fromHz: f64;
  toHz: f64;
  /** The number of an event that stays is below it, where the rate never changes. */
  keepBelow: f64;
  /** An interval of such a word, wherever it begins, ends behind endStep. */
  noneFrom: f64;

  @inline
  static at(layers: usize, place: u32): Layer {
    return changetype<Layer>(layers + <usize>place * aligned(offsetof<Layer>()));
  }

  /**
   * Draws it for the present train, from the first step of the epoch on, or from where the part before has ended.
   * @param isVarying whether the rate changes
   * @param cursors of the layers of the train; 0 where no part comes before or after
   * @param begun where the words of the first block stand, 16 bytes apart, if they are known; otherwise 0
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
    // Read once: an event that is written could be a part of the layer, as far as the compiler knows.
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
          c0 = (<u32>(product1 >> 32)) ^ c1 ^ k0;
          c1 = <u32>product1;
          c2 = (<u32>(product0 >> 32)) ^ c3 ^ k1;
          c3 = <u32>product0;
          k0 += WEYL_0;
          k1 += WEYL_1;
        }
      }
      // The step counts from 1 here, so that it is never negative. Behind the last event no table is searched.
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
      // The last block is drawn again: it may have an event behind the part.
      cursor.epoch = this.epoch;
      cursor.block = block - 1;
      cursor.step = stepBefore;
    }
  }

  /** The limit that takes the place of keepBelow where the rate changes: that of the rate that holds in a step. */
  private limitAt(stepOfEpoch: u32): f64 {
    const step = this.origin + stepOfEpoch;
    const steps = this.course + ((<usize>this.changeCount) << 3);
    let place: u32 = 0;
    for (let end = this.changeCount; end - place > 1;) {
      const middle = (place + end) >> 1;
      if (load<u32>(steps + ((<usize>middle) << 2)) <= step) place = middle;
      else end = middle;
    }
    const rateHz = load<f64>(this.course + ((<usize>place) << 3));
    return min<f64>(1, (rateHz - this.fromHz) / (this.toHz - this.fromHz)) * WORD_RANGE;
  }

  /** The first blocks of four neurons: four vectors, one for each word of a block. */
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

/** Where a layer of a train stands behind a part; see TrainCursors in input-events.ts. */
@unmanaged
class Cursor {
  epoch: u32;
  block: u32;
  step: u32;
}

/** A layer of a neuron that has an event in the trial. */
@unmanaged
class FoundLayer {
  neuron: u32;
  layer: Layer;
  /** Where its first block stands. */
  block: usize;

  @inline
  static at(found: usize, place: u32): FoundLayer {
    return changetype<FoundLayer>(found + <usize>place * offsetof<FoundLayer>());
  }
}

export function layOut(steps: u32): void {
  longestTrial = steps;
  marks = ALIGNMENT;
  nextOfStep = aligned(marks + ((<usize>steps) << 2));
  endOfKept = aligned(nextOfStep + ((<usize>steps) << 2));
  reach(endOfKept);
}

/** Makes room for what the host writes once; not while a trial is drawn. @returns its address */
export function keep(bytes: usize): usize {
  const address = endOfKept;
  endOfKept = aligned(address + bytes);
  reach(endOfKept);
  return address;
}

/** Makes room for what belongs to this trial, before anything of it is drawn. @returns its address */
export function lend(bytes: usize): usize {
  const address = drawnEvents;
  drawnEvents = aligned(address + bytes);
  reach(drawnEvents);
  return address;
}

/** Begins a trial. */
export function beginTrial(steps: u32): void {
  durationSteps = steps;
  eventCount = 0;
  drawnEvents = endOfKept;
  memory.fill(marks, 0, (<usize>steps) << 2);
  train = 0;
}

/** Adds a layer, behind the one that was added before. @returns its address */
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

/**
 * Adds a train.
 * @param cursors of its layers, or 0  @param w1 with w2 and w3 the counter behind the number of the block
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
 * Adds the trains of all neurons of an input, for which a call of the host for each would take as long as they do.
 * @param neurons ascending  @param idWords two words for each neuron of the brain  @param cursors of the first train, or 0
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
 * Adds sparse trains of many neurons: most layers end before their first event, and are told from the others four
 * neurons at a time.
 * @param neurons ascending, then others up to a multiple of four  @param idWords two words for each neuron of the brain
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
      for (let place: u32 = 0; place < layerCount; place++) {
        Layer.at(layers, place).drawFour(w1, w2, w3, key0, key1, blocksOfFour + ((<usize>place) << 6));
      }
      const count = min<u32>(4, end - at);
      for (let lane: u32 = 0; lane < count; lane++) {
        for (let place: u32 = 0; place < layerCount; place++) {
          const next = FoundLayer.at(found, foundCount);
          next.neuron = load<u32>(four + ((<usize>lane) << 2));
          next.layer = Layer.at(layers, place);
          next.block = blocksOfFour + ((<usize>((place << 4) + lane)) << 2);
          // Without a branch, which would be mispredicted often.
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

/** A word of the ids of four neurons. */
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
