/**
 * Turns the list of spikes into the raster, which is ordered by step, then by neuron.
 *
 * This is a radix sort, least significant digit first:
 * 1. The neurons that spiked, fewer than the spikes, are sorted by the lower half of their index, then the upper half.
 * 2. The spikes, which are listed by step, are sorted by neuron.
 * 3. The spikes are sorted by step again.
 *
 * Each pass is stable. Nothing is compared, so no branch can be mispredicted.
 */
import {
  Cursor,
  DIGIT_BITS,
  Entry,
  NEURON_SHIFT,
  Neuron,
  Spike,
  StepSpikes,
  clearCursors,
  halfSorted,
  layOutRaster,
  rasterNeurons,
  rasterSteps,
  spikeCounts,
  spikingNeurons,
} from './memory';

/** A count for each neuron; 0 between two rasters. */
@unmanaged
class Tally {
  /** The number of its spikes; later the index of its next spike in the list sorted by neuron. */
  spikes: u32;

  @inline
  static of(neuron: Neuron): Tally {
    // A tally has a quarter of the bytes of a neuron.
    return changetype<Tally>(spikeCounts + (changetype<usize>(neuron) >> 2));
  }

  /** @returns 1 for the first spike, else 0 */
  @inline
  count(): u32 {
    const before = this.spikes;
    this.spikes = before + 1;
    return <u32>(before == 0);
  }
}

const DIGIT_MASK: u32 = (1 << DIGIT_BITS) - 1;
const UPPER_SHIFT: u32 = DIGIT_BITS + NEURON_SHIFT;

/**
 * Writes the raster of the steps from firstStep to endStep - 1. It leaves each neuron that spiked once in the list of
 * spiking neurons.
 * @returns the number of these neurons
 */
export function writeRaster(firstStep: u32, endStep: u32): u32 {
  const firstSpike = StepSpikes.of(firstStep).begin;
  const endSpike = StepSpikes.of(endStep).begin;
  const spikeCount = endSpike - firstSpike;
  layOutRaster(endSpike, spikeCount);
  const count = listSpiked(firstSpike, endSpike);
  sortByIndex(count);
  let index: u32 = 0;
  for (let q: u32 = 0; q < count; q++) {
    const tally = Tally.of(Entry.at(spikingNeurons, q).neuron);
    const next = index + tally.spikes;
    tally.spikes = index;
    index = next;
  }
  const end = Spike.at(endSpike);
  for (let spike = Spike.at(firstSpike); spike != end; spike = spike.next) {
    const index = Tally.of(spike.neuron).spikes++;
    Spike.sortedAt(index).word = spike.word;
  }
  const endOfSorted = Spike.sortedAt(spikeCount);
  for (let spike = Spike.sortedAt(0); spike != endOfSorted; spike = spike.next) {
    const step = spike.step;
    const index = StepSpikes.of(step).begin++ - firstSpike;
    store<u16>(rasterSteps + ((<usize>index) << 1), step - firstStep);
    store<u32>(rasterNeurons + ((<usize>index) << 2), <u32>changetype<usize>(spike.neuron) >> NEURON_SHIFT);
  }
  for (let q: u32 = 0; q < count; q++) Tally.of(Entry.at(spikingNeurons, q).neuron).spikes = 0;
  return count;
}

/** Lists the neurons that spiked, each once, and counts the spikes of each. */
function listSpiked(firstSpike: u32, endSpike: u32): u32 {
  let spiked = Entry.at(spikingNeurons, 0);
  const end = Spike.at(endSpike);
  for (let spike = Spike.at(firstSpike); spike != end; spike = spike.next) {
    const neuron = spike.neuron;
    spiked.neuron = neuron;
    spiked = spiked.plus(Tally.of(neuron).count());
  }
  return spiked.indexIn(spikingNeurons);
}

/** Sorts the neurons that spiked by index. */
function sortByIndex(count: u32): void {
  clearCursors();
  for (let q: u32 = 0; q < count; q++) {
    const neuron = Entry.at(spikingNeurons, q).neuron;
    Cursor.of(lowerDigitOf(neuron), 0).advance();
    Cursor.of(upperDigitOf(neuron), 1).advance();
  }
  let lower: u32 = 0;
  let upper: u32 = 0;
  for (let digit: u32 = 0; digit <= DIGIT_MASK; digit++) {
    lower += Cursor.of(digit, 0).replace(lower);
    upper += Cursor.of(digit, 1).replace(upper);
  }
  for (let q: u32 = 0; q < count; q++) {
    const neuron = Entry.at(spikingNeurons, q).neuron;
    Entry.at(halfSorted, Cursor.of(lowerDigitOf(neuron), 0).advance()).neuron = neuron;
  }
  for (let q: u32 = 0; q < count; q++) {
    const neuron = Entry.at(halfSorted, q).neuron;
    Entry.at(spikingNeurons, Cursor.of(upperDigitOf(neuron), 1).advance()).neuron = neuron;
  }
}

function lowerDigitOf(neuron: Neuron): u32 {
  return (<u32>changetype<usize>(neuron) >> NEURON_SHIFT) & DIGIT_MASK;
}

function upperDigitOf(neuron: Neuron): u32 {
  return <u32>changetype<usize>(neuron) >> UPPER_SHIFT;
}
