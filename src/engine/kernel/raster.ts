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
  clearCursors,
  layOutRaster,
  rasterNeurons,
  sortedSpikes,
  spikes,
} from './memory';

const DIGIT_MASK: u32 = (1 << DIGIT_BITS) - 1;
/** A neuron's index has two digits; the step stands above it. */
const STEP_SHIFT: u32 = 2 * DIGIT_BITS;
const NEURON_MASK: u32 = (1 << STEP_SHIFT) - 1;

/** Destroys the list of spikes and where its steps begin: nothing but the raster is left of the run. */
export function writeRaster(stepCount: u32, spikeCount: u32): void {
  layOutRaster(spikeCount);
  placeDigits(spikeCount);
  for (let step: u32 = 0; step < stepCount; step++) {
    const ofStep = StepSpikes.of(step);
    for (let q = ofStep.begin; q < ofStep.end; q++) {
      const neuron = Entry.at(spikes, q).neuron;
      Entry.at(sortedSpikes, Cursor.ofLower(neuron & DIGIT_MASK).advance()).neuron =
        (step << STEP_SHIFT) | neuron;
    }
  }
  for (let q: u32 = 0; q < spikeCount; q++) {
    const key = Entry.at(sortedSpikes, q).neuron;
    Entry.at(spikes, Cursor.ofUpper((key & NEURON_MASK) >> DIGIT_BITS).advance()).neuron = key;
  }
  for (let q: u32 = 0; q < spikeCount; q++) {
    const key = Entry.at(spikes, q).neuron;
    const step = key >> STEP_SHIFT;
    const ofStep = StepSpikes.of(step);
    const place = ofStep.begin++;
    RasterStep.at(place).step = <u16>step;
    Entry.at(rasterNeurons, place).neuron = key & NEURON_MASK;
  }
}

/** Sets the cursor of each digit to where its first spike goes. */
function placeDigits(spikeCount: u32): void {
  clearCursors();
  for (let q: u32 = 0; q < spikeCount; q++) {
    const neuron = Entry.at(spikes, q).neuron;
    Cursor.ofLower(neuron & DIGIT_MASK).advance();
    Cursor.ofUpper(neuron >> DIGIT_BITS).advance();
  }
  let lower: u32 = 0;
  let upper: u32 = 0;
  for (let digit: u32 = 0; digit <= DIGIT_MASK; digit++) {
    lower += Cursor.ofLower(digit).replace(lower);
    upper += Cursor.ofUpper(digit).replace(upper);
  }
}
