import { Entry } from './memory';

/**
 * Sorts a list of neurons in place, by Shell's method with Knuth's gaps: as short as an insertion sort for the
 * twenty or so spikes of a step, and still fast where thousands of neurons spike at once.
 */
export function sortAscending(list: Entry, length: u32): void {
  let gap: u32 = 1;
  while (gap < length / 3) gap = 3 * gap + 1;
  for (; gap > 0; gap /= 3) {
    for (let from = gap; from < length; from++) {
      const neuron = list.plus(from).neuron;
      let to = from;
      while (to >= gap && list.plus(to - gap).neuron > neuron) {
        list.plus(to).neuron = list.plus(to - gap).neuron;
        to -= gap;
      }
      list.plus(to).neuron = neuron;
    }
  }
}
