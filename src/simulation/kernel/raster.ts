/**
 * Turns the list of spikes into the raster: ordered by step, then by neuron.
 *
 * A radix sort, least significant digit first. The neurons that spiked, which are fewer than the spikes, are sorted by
 * the lower and the upper half of their index; then the spikes, which are listed by step, are moved to their neurons,
 * and from there to their steps. Each pass keeps the order of the pass before. Nothing is compared, so no branch can be
 * mispredicted.
 */
import {
  Cursor,
  DIGIT_BITS,
  Entry,
  NEURON_SHIFT,
  Neuron,
  RasterStep,
  Spike,
  StepSpikes,
  Word,
  candidates,
  clearCursors,
  layOutRaster,
  rasterNeurons,
  waitingNeurons,
} from './memory';

const DIGIT_MASK: u32 = (1 << DIGIT_BITS) - 1;
const UPPER_SHIFT: u32 = DIGIT_BITS + NEURON_SHIFT;

/**
 * Overwrites the list of candidates with the neurons that spiked, each once, and their state, no longer needed.
 * @returns the number of these neurons
 */
export function writeRaster(spikeCount: u32): u32 {
  layOutRaster(spikeCount);
  const count = listSpiked(spikeCount);
  sortByIndex(count);
  let place: u32 = 0;
  for (let q: u32 = 0; q < count; q++) {
    const neuron = Entry.at(candidates, q).neuron;
    const next = place + neuron.spikeCount;
    neuron.spikeCount = place;
    place = next;
  }
  const end = Spike.at(spikeCount);
  for (let spike = Spike.at(0); spike != end; spike = spike.next) {
    const place = spike.neuron.spikeCount++;
    spike.copyTo(Spike.sortedAt(place));
  }
  const endOfSorted = Spike.sortedAt(spikeCount);
  for (let spike = Spike.sortedAt(0); spike != endOfSorted; spike = spike.next) {
    const step = spike.step;
    const place = StepSpikes.of(step).begin++;
    RasterStep.at(place).step = <u16>step;
    Word.at(rasterNeurons, place).value = (<u32>changetype<usize>(spike.neuron)) >> NEURON_SHIFT;
  }
  return count;
}

/** Lists each neuron that spiked once, and counts its spikes. */
function listSpiked(spikeCount: u32): u32 {
  let spiked = Entry.at(candidates, 0);
  const end = Spike.at(spikeCount);
  for (let spike = Spike.at(0); spike != end; spike = spike.next) {
    const neuron = spike.neuron;
    spiked.neuron = neuron;
    spiked = spiked.plus(neuron.countSpike());
  }
  return spiked.placeIn(candidates);
}

/** Sorts the neurons that spiked. */
function sortByIndex(count: u32): void {
  clearCursors();
  for (let q: u32 = 0; q < count; q++) {
    const neuron = Entry.at(candidates, q).neuron;
    Cursor.ofLower(lowerDigitOf(neuron)).advance();
    Cursor.ofUpper(upperDigitOf(neuron)).advance();
  }
  let lower: u32 = 0;
  let upper: u32 = 0;
  for (let digit: u32 = 0; digit <= DIGIT_MASK; digit++) {
    lower += Cursor.ofLower(digit).replace(lower);
    upper += Cursor.ofUpper(digit).replace(upper);
  }
  for (let q: u32 = 0; q < count; q++) {
    const neuron = Entry.at(candidates, q).neuron;
    Entry.at(waitingNeurons, Cursor.ofLower(lowerDigitOf(neuron)).advance()).neuron = neuron;
  }
  for (let q: u32 = 0; q < count; q++) {
    const neuron = Entry.at(waitingNeurons, q).neuron;
    Entry.at(candidates, Cursor.ofUpper(upperDigitOf(neuron)).advance()).neuron = neuron;
  }
}

function lowerDigitOf(neuron: Neuron): u32 {
  return ((<u32>changetype<usize>(neuron)) >> NEURON_SHIFT) & DIGIT_MASK;
}

function upperDigitOf(neuron: Neuron): u32 {
  return (<u32>changetype<usize>(neuron)) >> UPPER_SHIFT;
}
