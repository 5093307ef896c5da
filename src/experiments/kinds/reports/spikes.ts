import { NO_GROUPS, reportSchema } from '../kind-schemas.js';
import { firstNotBelow } from '../../../engine/connectome/sorted-array.js';
import { number } from '../../../engine/schema/json-schema.js';
import { eventTable } from '../report-answers.js';
import type { EventKind } from '../report-kind.js';
import { type EventResult, eventSum, type EventTask, joinedRows, readRows } from './event-table.js';

/** A table of every spike. */
export const spikes = {
  shape: 'events',
  schema: reportSchema('spikes', 'Table of the spikes.', NO_GROUPS),
  answer: { EventTable: eventTable('A table of spikes', {}) },
  label: 'every spike',
  noun: 'spikes',
  takesNames: true,
  cost: {
    member: 'spike_rows_at_most' as const,
    says: 'at most',
    schema: number(
      'If reports list spikes: rows at most, with one spike of each neuron in each refractory period, and of a ' +
        'stimulated neuron in each step. As a rule there are far fewer; only a simulation tells their number.',
      { minimum: 0 },
    ),
  },
  /** An upper bound: one spike in each refractory period. Stimulated neurons have no such period and may spike in each step. */
  expectedRows({ window, neurons, stimulated, refractorySteps }) {
    const steps = window.endStep - window.startStep;
    return stimulated * steps + (neurons - stimulated) * Math.ceil(steps / Math.max(1, refractorySteps));
  },
  taskOf: (_, maxRows) => ({ maxRows }),
  read(task, trial) {
    const { raster } = trial;
    const from = firstNotBelow(raster.steps, task.startStep);
    const to = firstNotBelow(raster.steps, task.endStep);
    const { steps, neurons, rows } = readRows(task, trial, to - from, (add) => {
      for (let spike = from; spike < to; spike++) {
        add(raster.steps[spike]!, raster.neurons[spike]!);
      }
    });
    return { steps, neurons, values: [], rows };
  },
  join: joinedRows,
  sum: ({ maxRows }) => eventSum('spikes', maxRows),
  // A table of all neurons needs no warning: its readers also want the stimulated ones.
  isReadout: ({ neurons }, neuronCount) => neurons.length < neuronCount,
} satisfies EventKind<EventTask, EventResult>;
