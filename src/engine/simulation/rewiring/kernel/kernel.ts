/**
 * Rewires a network with the same result as rewired.ts, whose head explains the steps. A connection is one word: the
 * lower bits are its target, the upper bits its synapses. While connections move, neurons are numbered in the order of
 * their ids. Before and after, they have the connectome's order.
 */
import {
  ALIGNMENT,
  aligned,
  MULTIPLIER_0,
  MULTIPLIER_1,
  reach,
  ROUNDS,
  WEYL_0,
  WEYL_1,
} from '../../../stimulus/kernel/common';

// The constants of connectome.ts.
const TARGET_BITS: u32 = 18;
const TARGET_MASK: u32 = (1 << TARGET_BITS) - 1;
const MAX_SYNAPSES: f64 = 8191;

// The streams of philox.ts.
const SHUFFLE_STREAM: u32 = 3;
const JITTER_STREAM: u32 = 5;

// The constants of rewired.ts.
const MAX_TRIES: u32 = 10_000;
const EXCHANGES_PER_CONNECTION: u32 = 10;
const JITTER_FACTORS: usize = 16 * 255 + 1;

let neuronCount: u32;
/** Filled by the host once: the neuron with each number, and the number of each neuron. */
export let order: usize;
export let numbers: usize;
/** Rows in the connectome's order. The host fills them before loadWiring and reads them after each rewiring. */
export let rowStart: usize;
export let targets: usize;
export let synapseCounts: usize;
/** Filled by the host before a shuffle, in the order of the ids; see Deal in rewired.ts. */
export let ofSources: usize;
export let ofTargets: usize;
/** Filled by the host before a jitter. */
export let jitterFactors: usize;

/**
 * Rows in the order of the ids: their beginnings, their words as loaded, and their words as moved. `end` renumbers the
 * moved words to the connectome's order.
 */
let numberedStart: usize;
let loaded: usize;
let moved: usize;
/** For each loaded word, its index among the connectome's connections. */
let positions: usize;
/** A word for each connection. */
let scratch: usize;
/** The position of the next entry of each row or deck; its end once it is full. */
let ends: usize;
/** For each target, 1 + the last source whose connection to it was visited. */
let reachedFrom: usize;
/** For each deck, 1 if it has started again. */
let isDone: usize;
/** Sixteen random words. */
let drawn: usize;

/**
 * Divides the memory; call it once, first.
 * @param decks the largest deckCount of any shuffle
 */
export function layOut(neurons: u32, connections: u32, decks: u32): void {
  neuronCount = neurons;
  drawn = ALIGNMENT;
  let end: usize = drawn + 64;
  const words = (<usize>max(neurons, decks) + 2) << 2;
  order = end;
  numbers = end = aligned(order + words);
  rowStart = end = aligned(numbers + words);
  numberedStart = end = aligned(rowStart + words);
  ofSources = end = aligned(numberedStart + words);
  ofTargets = end = aligned(ofSources + words);
  ends = end = aligned(ofTargets + words);
  reachedFrom = end = aligned(ends + words);
  isDone = end = aligned(reachedFrom + words);
  jitterFactors = end = aligned(isDone + words);
  loaded = end = aligned(jitterFactors + (JITTER_FACTORS << 3));
  moved = targets = end = aligned(loaded + ((<usize>connections) << 2));
  positions = end = aligned(moved + ((<usize>connections) << 2));
  scratch = end = aligned(positions + ((<usize>connections) << 2));
  synapseCounts = end = aligned(scratch + ((<usize>connections) << 2));
  reach(end + ((<usize>connections) << 1));
}

/** Loads the wiring that the host has written. All rewirings start from it until the next call. */
export function loadWiring(): void {
  const count = wordAt(rowStart, neuronCount);
  for (let k: u32 = 0; k < count; k++) {
    setWord(
      moved,
      k,
      wordAt(targets, k) | ((<u32>load<u16>(synapseCounts + ((<usize>k) << 1))) << TARGET_BITS),
    );
  }
  renumber(rowStart, numberedStart, numbers, order);
  memory.copy(loaded, moved, (<usize>count) << 2);
  renumber(numberedStart, rowStart, order, numbers);
  for (let neuron: u32 = 0; neuron < neuronCount; neuron++) {
    const source = wordAt(numbers, neuron);
    const end = wordAt(rowStart, neuron + 1);
    for (let k = wordAt(rowStart, neuron); k < end; k++) {
      setWord(positions, positionOf(source, wordAt(numbers, wordAt(moved, k) & TARGET_MASK)), k);
    }
  }
}

/** @returns the index of a loaded connection, by binary search: the targets of a row ascend */
function positionOf(source: u32, target: u32): u32 {
  let low = rowBegin(source);
  let high = rowBegin(source + 1);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((wordAt(loaded, middle) & TARGET_MASK) <= target) low = middle;
    else high = middle;
  }
  return low;
}

/** Begins a rewiring from the loaded wiring. */
export function begin(): void {
  memory.copy(moved, loaded, (<usize>wordAt(numberedStart, neuronCount)) << 2);
}

/**
 * Ends a rewiring and writes its result.
 * @param hasMovedTargets if false, the targets are unchanged and only synapse counts are written
 */
export function end(hasMovedTargets: bool): void {
  if (hasMovedTargets) renumber(numberedStart, rowStart, order, numbers);
  const count = wordAt(rowStart, neuronCount);
  for (let k: u32 = 0; k < count; k++) {
    const word = wordAt(moved, k);
    const position = hasMovedTargets ? k : wordAt(positions, k);
    store<u16>(synapseCounts + ((<usize>position) << 1), <u16>(word >> TARGET_BITS));
    if (hasMovedTargets) setWord(targets, k, word & TARGET_MASK);
  }
}

/**
 * Renumbers the neurons of the moved rows by two stable sorts: by target, then by source.
 * @param numberOf the address of each neuron's new number
 * @param neuronAt the address of the neuron with each new number
 */
function renumber(fromStart: usize, toStart: usize, numberOf: usize, neuronAt: usize): void {
  const count = wordAt(fromStart, neuronCount);
  memory.fill(ends, 0, (<usize>neuronCount + 1) << 2);
  for (let k: u32 = 0; k < count; k++) {
    const next = ends + 4 + ((<usize>wordAt(numberOf, wordAt(moved, k) & TARGET_MASK)) << 2);
    store<u32>(next, load<u32>(next) + 1);
  }
  for (let n: u32 = 0; n < neuronCount; n++) setWord(ends, n + 1, wordAt(ends, n + 1) + wordAt(ends, n));
  setWord(toStart, 0, 0);
  for (let source: u32 = 0; source < neuronCount; source++) {
    const neuron = wordAt(neuronAt, source);
    const begin = wordAt(fromStart, neuron);
    const end = wordAt(fromStart, neuron + 1);
    setWord(toStart, source + 1, wordAt(toStart, source) + end - begin);
    for (let k = begin; k < end; k++) {
      const word = wordAt(moved, k);
      setWord(scratch, takeNext(ends, wordAt(numberOf, word & TARGET_MASK)), source | (word & ~TARGET_MASK));
    }
  }
  // Now `ends` has the end of each target's connections.
  memory.copy(reachedFrom, toStart, (<usize>neuronCount) << 2);
  let k: u32 = 0;
  for (let target: u32 = 0; target < neuronCount; target++) {
    for (const end = wordAt(ends, target); k < end; k++) {
      const word = wordAt(scratch, k);
      setWord(moved, takeNext(reachedFrom, word & TARGET_MASK), target | (word & ~TARGET_MASK));
    }
  }
}

/** True if all connections of a row belong to one deck, or none of them to any. */
let decksAreRows: bool;
let seed: u32;
let shuffleNumber: u32;
let blockNumber: u32;
let usedWords: u32;

/** Shuffles targets, synapses or both, which are different bits of the words. */
export function shuffle(
  key: u32,
  number: u32,
  deckCount: u32,
  movesTargets: bool,
  movesSynapses: bool,
): void {
  // Only shuffles within super classes have more decks, one for each pair of classes.
  decksAreRows = deckCount <= 2;
  seed = key;
  shuffleNumber = number;
  blockNumber = 0;
  usedWords = 16;
  const mask = (movesTargets ? TARGET_MASK : 0) | (movesSynapses ? ~TARGET_MASK : 0);
  findDecks(deckCount);
  for (let source: u32 = 0; source < neuronCount; source++) {
    const end = rowBegin(source + 1);
    for (let k = rowBegin(source); k < end; k++) {
      const deck = deckOf(source, k);
      if (deck < deckCount) setWord(scratch, takeNext(ends, deck), wordAt(loaded, k));
    }
  }
  let begin: u32 = 0;
  for (let deck: u32 = 0; deck < deckCount; deck++) {
    const end = wordAt(ends, deck);
    for (let at = end; at > begin + 1; at--) {
      const other = begin + nextBelow(at - begin);
      const word = wordAt(scratch, at - 1);
      setWord(scratch, at - 1, wordAt(scratch, other));
      setWord(scratch, other, word);
    }
    begin = end;
  }
  // Turns the ends into beginnings, for a second pass.
  memory.copy(ends + 4, ends, (<usize>deckCount) << 2);
  setWord(ends, 0, 0);
  for (let source: u32 = 0; source < neuronCount; source++) {
    const end = rowBegin(source + 1);
    for (let k = rowBegin(source); k < end; k++) {
      const deck = deckOf(source, k);
      if (deck >= deckCount) continue;
      const at = takeNext(ends, deck);
      setWord(moved, k, (wordAt(loaded, k) & ~mask) | (wordAt(scratch, at) & mask));
      // From here on the deck has the indices of its connections, and no words.
      setWord(scratch, at, k);
    }
  }
  if (movesTargets) repair(deckCount, mask);
}

/** Exchanges targets that do not fit: step 3 of rewired.ts. */
function repair(deckCount: u32, mask: u32): void {
  memory.fill(reachedFrom, 0, (<usize>neuronCount) << 2);
  memory.fill(isDone, 0, (<usize>deckCount) << 2);
  for (let source: u32 = 0; source < neuronCount; source++) {
    for (let k = rowBegin(source), end = rowBegin(source + 1); k < end; k++) {
      const target = wordAt(moved, k) & TARGET_MASK;
      if (target == source || wordAt(reachedFrom, target) == source + 1) {
        const deck = deckOf(source, k);
        if (deck < deckCount && wordAt(isDone, deck) == 0 && !finds(source, k, deck, mask))
          startAgain(deck, mask);
      }
      setWord(reachedFrom, wordAt(moved, k) & TARGET_MASK, source + 1);
    }
  }
}

function finds(source: u32, k: u32, deck: u32, mask: u32): bool {
  const begin = deck == 0 ? 0 : wordAt(ends, deck - 1);
  const length = wordAt(ends, deck) - begin;
  for (let tries: u32 = 0; tries < MAX_TRIES; tries++) {
    if (exchangeIfBothFit(source, k, wordAt(scratch, begin + nextBelow(length)), mask)) return true;
  }
  return false;
}

function startAgain(deck: u32, mask: u32): void {
  setWord(isDone, deck, 1);
  const begin = deck == 0 ? 0 : wordAt(ends, deck - 1);
  const length = wordAt(ends, deck) - begin;
  for (let at = begin; at < begin + length; at++) {
    const k = wordAt(scratch, at);
    setWord(moved, k, wordAt(loaded, k));
  }
  for (let n: u32 = 0; n < EXCHANGES_PER_CONNECTION * length; n++) {
    const k = wordAt(scratch, begin + nextBelow(length));
    exchangeIfBothFit(sourceOf(k), k, wordAt(scratch, begin + nextBelow(length)), mask);
  }
}

function exchangeIfBothFit(source: u32, a: u32, b: u32, mask: u32): bool {
  const ofA = wordAt(moved, a);
  const ofB = wordAt(moved, b);
  if (!fits(source, ofB & TARGET_MASK) || !fits(sourceOf(b), ofA & TARGET_MASK)) return false;
  setWord(moved, a, (ofA & ~mask) | (ofB & mask));
  setWord(moved, b, (ofB & ~mask) | (ofA & mask));
  return true;
}

function fits(source: u32, target: u32): bool {
  if (source == target) return false;
  for (let k = rowBegin(source), end = rowBegin(source + 1); k < end; k++) {
    if ((wordAt(moved, k) & TARGET_MASK) == target) return false;
  }
  return true;
}

function sourceOf(k: u32): u32 {
  let low: u32 = 0;
  let high = neuronCount;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (rowBegin(middle) <= k) low = middle;
    else high = middle;
  }
  return low;
}

/** Writes the beginning of each deck to `ends`. Filling a deck advances its entry to the deck's end. */
function findDecks(deckCount: u32): void {
  memory.fill(ends, 0, (<usize>deckCount + 1) << 2);
  for (let source: u32 = 0; source < neuronCount; source++) {
    const end = rowBegin(source + 1);
    for (let k = rowBegin(source); k < end; k++) {
      const deck = deckOf(source, k);
      const length = decksAreRows ? end - k : 1;
      if (deck < deckCount) setWord(ends, deck + 1, wordAt(ends, deck + 1) + length);
      if (decksAreRows) break;
    }
  }
  for (let deck: u32 = 0; deck < deckCount; deck++) {
    setWord(ends, deck + 1, wordAt(ends, deck + 1) + wordAt(ends, deck));
  }
}

function deckOf(source: u32, k: u32): u32 {
  const ofSource = wordAt(ofSources, source);
  return decksAreRows ? ofSource : ofSource + wordAt(ofTargets, wordAt(loaded, k) & TARGET_MASK);
}

function rowBegin(source: u32): u32 {
  return wordAt(numberedStart, source);
}

export function jitter(key: u32): void {
  seed = key;
  shuffleNumber = 0;
  let first: u32 = 0;
  let lanes: u32 = 0;
  for (let source: u32 = 0; source < neuronCount; source++) {
    const end = rowBegin(source + 1);
    for (let k = rowBegin(source); k < end; k++) {
      setWord(drawn, lanes, source);
      setWord(drawn, 4 + lanes, wordAt(moved, k) & TARGET_MASK);
      if (++lanes < 4) continue;
      jitterFrom(first, 4);
      first += 4;
      lanes = 0;
    }
  }
  jitterFrom(first, lanes);
}

/** Jitters up to four connections. `drawn` has their sources, then their targets. */
function jitterFrom(first: u32, count: u32): void {
  draw(v128.load(drawn), v128.load(drawn, 16), JITTER_STREAM);
  v128.store(
    drawn,
    i32x4.add(
      i32x4.add(sumsOfBytes(words0), sumsOfBytes(words1)),
      i32x4.add(sumsOfBytes(words2), sumsOfBytes(words3)),
    ),
  );
  for (let lane: u32 = 0; lane < count; lane++) {
    const word = wordAt(moved, first + lane);
    const factor = load<f64>(jitterFactors + ((<usize>wordAt(drawn, lane)) << 3));
    const synapses = max<f64>(1, min<f64>(MAX_SYNAPSES, floor(<f64>(word >> TARGET_BITS) * factor + 0.5)));
    setWord(moved, first + lane, (word & TARGET_MASK) | ((<u32>synapses) << TARGET_BITS));
  }
}

function sumsOfBytes(words: v128): v128 {
  return i32x4.extadd_pairwise_i16x8_u(i16x8.extadd_pairwise_i8x16_u(words));
}

/** Four blocks: words0 has word 0 of each, words1 has word 1, and so on. */
let words0: v128;
let words1: v128;
let words2: v128;
let words3: v128;

/** Draws four Philox blocks side by side. */
function draw(counter0: v128, counter1: v128, stream: u32): void {
  let c0 = counter0;
  let c1 = counter1;
  let c2 = i32x4.splat(0);
  let c3 = i32x4.splat(stream);
  let k0 = seed;
  let k1 = shuffleNumber;
  const multiplier0 = i32x4.splat(<u32>MULTIPLIER_0);
  const multiplier1 = i32x4.splat(<u32>MULTIPLIER_1);
  for (let round: u32 = 0; round < ROUNDS; round++) {
    const first0 = i64x2.extmul_low_i32x4_u(multiplier0, c0);
    const second0 = i64x2.extmul_high_i32x4_u(multiplier0, c0);
    const first1 = i64x2.extmul_low_i32x4_u(multiplier1, c2);
    const second1 = i64x2.extmul_high_i32x4_u(multiplier1, c2);
    c0 = v128.xor(v128.xor(v128.shuffle<i32>(first1, second1, 1, 3, 5, 7), c1), i32x4.splat(k0));
    c1 = v128.shuffle<i32>(first1, second1, 0, 2, 4, 6);
    c2 = v128.xor(v128.xor(v128.shuffle<i32>(first0, second0, 1, 3, 5, 7), c3), i32x4.splat(k1));
    c3 = v128.shuffle<i32>(first0, second0, 0, 2, 4, 6);
    k0 += WEYL_0;
    k1 += WEYL_1;
  }
  words0 = c0;
  words1 = c1;
  words2 = c2;
  words3 = c3;
}

function nextWord(): u32 {
  if (usedWords == 16) {
    draw(i32x4.add(i32x4.splat(blockNumber), i32x4(0, 1, 2, 3)), i32x4.splat(0), SHUFFLE_STREAM);
    blockNumber += 4;
    // Transposes, so that one block follows the other.
    const low01 = v128.shuffle<i32>(words0, words1, 0, 4, 1, 5);
    const low23 = v128.shuffle<i32>(words2, words3, 0, 4, 1, 5);
    const high01 = v128.shuffle<i32>(words0, words1, 2, 6, 3, 7);
    const high23 = v128.shuffle<i32>(words2, words3, 2, 6, 3, 7);
    v128.store(drawn, v128.shuffle<i64>(low01, low23, 0, 2));
    v128.store(drawn, v128.shuffle<i64>(low01, low23, 1, 3), 16);
    v128.store(drawn, v128.shuffle<i64>(high01, high23, 0, 2), 32);
    v128.store(drawn, v128.shuffle<i64>(high01, high23, 1, 3), 48);
    usedWords = 0;
  }
  return wordAt(drawn, usedWords++);
}

/** Like PhiloxSequence.nextBelow. */
function nextBelow(limit: u32): u32 {
  let word: u32;
  do {
    word = nextWord();
  } while (word < limit && word < (0 - limit) % limit);
  return word % limit;
}

/** Increments a word of a list. @returns its former value */
function takeNext(list: usize, at: u32): u32 {
  const next = list + ((<usize>at) << 2);
  const taken = load<u32>(next);
  store<u32>(next, taken + 1);
  return taken;
}

function wordAt(list: usize, at: u32): u32 {
  return load<u32>(list + ((<usize>at) << 2));
}

function setWord(list: usize, at: u32, word: u32): void {
  store<u32>(list + ((<usize>at) << 2), word);
}
