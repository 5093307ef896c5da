/**
 * Turns the list of spikes into the raster: ordered by step, then by neuron.
 *
 * A radix sort, least significant digit first: by the lower half of the neuron's index, by the upper half, then by
 * step. Each pass keeps the order of the pass before. Nothing is compared, so no branch can be mispredicted.
 */
import {
  ADDRESS_BITS,
  ADDRESS_MASK,
  Cursor,
  DIGIT_BITS,
  NEURON_SHIFT,
  RasterStep,
  Spike,
  StepSpikes,
  Word,
  clearCursors,
  layOutRaster,
  rasterNeurons,
  sortedSpikes,
} from './memory';

const DIGIT_MASK: u32 = (1 << DIGIT_BITS) - 1;
const UPPER_SHIFT: u32 = DIGIT_BITS + NEURON_SHIFT;
/** A spike has the lowest bits of its step only, so a longer trial is sorted in parts of this many steps. */
const STEPS_OF_PART: u32 = 1 << (32 - ADDRESS_BITS);

/** Overwrites the list of spikes and the places where its steps begin. */
export function writeRaster(stepCount: u32, spikeCount: u32): void {
  layOutRaster(spikeCount);
  for (let step: u32 = 0; step < stepCount; step += STEPS_OF_PART) {
    writePart(step, min(step + STEPS_OF_PART, stepCount));
  }
}

function writePart(firstStep: u32, endStep: u32): void {
  const begin = StepSpikes.of(firstStep).begin;
  const end = StepSpikes.of(endStep).begin;
  placeDigits(begin, end);
  for (let q = begin; q < end; q++) {
    const word = Spike.at(q).word;
    Word.at(sortedSpikes, Cursor.ofLower(lowerDigitOf(word)).advance()).value = word;
  }
  for (let q = begin; q < end; q++) {
    const word = Word.at(sortedSpikes, q).value;
    Spike.at(Cursor.ofUpper(upperDigitOf(word)).advance()).word = word;
  }
  for (let q = begin; q < end; q++) {
    const word = Spike.at(q).word;
    const step = firstStep + (word >> ADDRESS_BITS);
    // Moves the beginning of this step only; the next part still needs that of its first step.
    const place = StepSpikes.of(step).begin++;
    RasterStep.at(place).step = <u16>step;
    Word.at(rasterNeurons, place).value = (word & ADDRESS_MASK) >> NEURON_SHIFT;
  }
}

/** Sets the cursor of each digit to the place of its first spike. */
function placeDigits(begin: u32, end: u32): void {
  clearCursors();
  for (let q = begin; q < end; q++) {
    const word = Spike.at(q).word;
    Cursor.ofLower(lowerDigitOf(word)).advance();
    Cursor.ofUpper(upperDigitOf(word)).advance();
  }
  let lower = begin;
  let upper = begin;
  for (let digit: u32 = 0; digit <= DIGIT_MASK; digit++) {
    lower += Cursor.ofLower(digit).replace(lower);
    upper += Cursor.ofUpper(digit).replace(upper);
  }
}

function lowerDigitOf(word: u32): u32 {
  return (word >> NEURON_SHIFT) & DIGIT_MASK;
}

function upperDigitOf(word: u32): u32 {
  return (word >> UPPER_SHIFT) & DIGIT_MASK;
}
