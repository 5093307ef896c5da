/**
 * From the list of spikes to the raster: ordered by step, then by neuron.
 *
 * A radix sort from the least significant digit: by the lower half of a neuron's index, by the upper half, then
 * by step. Every pass keeps the order of the one before, and none of them compares, so there is nothing for a
 * processor to mispredict.
 */
import {
  Cursor,
  DIGIT_BITS,
  Entry,
  RasterStep,
  StepSpikes,
  Word,
  clearCursors,
  layOutRaster,
  rasterNeurons,
  sortedSpikes,
  spikes,
} from './memory';

const DIGIT_MASK: u32 = (1 << DIGIT_BITS) - 1;
/** A key has a neuron's index, of two digits, and above it the step. */
const STEP_SHIFT: u32 = 2 * DIGIT_BITS;
const NEURON_MASK: u32 = (1 << STEP_SHIFT) - 1;
/** A longer trial is sorted in parts: the step counts from the beginning of its part. */
const STEPS_OF_PART: u32 = 1 << (32 - STEP_SHIFT);

/** Destroys the list of spikes and where its steps begin: nothing but the raster is left of the trial. */
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
  for (let step = firstStep; step < endStep; step++) {
    const ofStep = StepSpikes.of(step);
    for (let q = ofStep.begin; q < ofStep.end; q++) {
      const neuron = Entry.at(spikes, q).neuron.index;
      Word.at(sortedSpikes, Cursor.ofLower(neuron & DIGIT_MASK).advance()).value =
        ((step - firstStep) << STEP_SHIFT) | neuron;
    }
  }
  for (let q = begin; q < end; q++) {
    const key = Word.at(sortedSpikes, q).value;
    Word.at(spikes, Cursor.ofUpper((key & NEURON_MASK) >> DIGIT_BITS).advance()).value = key;
  }
  for (let q = begin; q < end; q++) {
    const key = Word.at(spikes, q).value;
    const step = firstStep + (key >> STEP_SHIFT);
    // Of the steps of this part only: the next one still has to know where it begins.
    const place = StepSpikes.of(step).begin++;
    RasterStep.at(place).step = <u16>step;
    Word.at(rasterNeurons, place).value = key & NEURON_MASK;
  }
}

/** Sets the cursor of each digit to where its first spike goes. */
function placeDigits(begin: u32, end: u32): void {
  clearCursors();
  for (let q = begin; q < end; q++) {
    const neuron = Entry.at(spikes, q).neuron.index;
    Cursor.ofLower(neuron & DIGIT_MASK).advance();
    Cursor.ofUpper(neuron >> DIGIT_BITS).advance();
  }
  let lower = begin;
  let upper = begin;
  for (let digit: u32 = 0; digit <= DIGIT_MASK; digit++) {
    lower += Cursor.ofLower(digit).replace(lower);
    upper += Cursor.ofUpper(digit).replace(upper);
  }
}
