import { csvField } from '../../compiler/csv.js';
import { STEPS_PER_MS } from '../../engine/network.js';
import type { NeuronLabels } from './source.js';
import type { Condition } from './summary.js';

const COLUMNS = 'stimulus,silenced,seed,time_ms,neuron,id,type,side';

/**
 * Every spike of every run as a row; rows of a run are ordered by time, then neuron. `neuron` is the index into
 * the atlas, `time_ms` exact to the step of 0.1 ms.
 * @returns the text, frame by frame: that of a thousand runs is larger than a string may be
 */
export function* spikesCsv(conditions: readonly Condition[], labels: NeuronLabels): Generator<string> {
  yield `${COLUMNS}\n`;
  for (const { experiment, silenced, seeds, runs } of conditions) {
    for (const [trial, { frames = [] }] of runs.entries()) {
      const run = `${experiment.stimulus},${csvField(silenced.join(' '))},${seeds[trial]!}`;
      for (const { steps, spikes } of frames) {
        const rows = steps.map((step, at) => {
          const neuron = spikes[at]!;
          const timeMs = `${Math.floor(step / STEPS_PER_MS)}.${step % STEPS_PER_MS}`;
          const { id, type, side } = labels;
          return `${run},${timeMs},${neuron},${id(neuron)},${csvField(type(neuron))},${side(neuron)}\n`;
        });
        yield rows.join('');
      }
    }
  }
}
