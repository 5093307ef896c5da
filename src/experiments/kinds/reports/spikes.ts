import { NO_GROUPS, reportSchema } from '../../document/kind-schemas.js';
import { firstNotBelow } from '../../../connectome/sorted-array.js';
import { number } from '../../../schema/json-schema.js';
import { eventTable } from '../report-answers.js';
import type { EventKind } from '../report-kind.js';
import { type EventReading, eventSum, type EventTask, joinedRows, readRows } from './event-table.js';

/** Every spike. */
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
      'Where reports list spikes: rows at most, with one spike of each neuron in each refractory period, and of a ' +
        'stimulated neuron in each step. As a rule there are far fewer; how many, only a simulation says.',
      { minimum: 0 },
    ),
  },
  /** One in each refractory period, and of a stimulated neuron, which has none, one in each step: rarely so many. */
  expectedRows({ window, neurons, stimulated, refractorySteps }) {
    const steps = window.endStep - window.startStep;
    return stimulated * steps + (neurons - stimulated) * Math.ceil(steps / Math.max(1, refractorySteps));
  },
  taskOf: (_, maximumRows) => ({ maximumRows }),
  read(task, trial) {
    const { raster } = trial;
    const { steps, neurons, rows } = readRows(task, trial, (add) => {
      const to = firstNotBelow(raster.steps, task.endStep);
      for (let spike = firstNotBelow(raster.steps, task.startStep); spike < to; spike++) {
        add(raster.steps[spike]!, raster.neurons[spike]!);
      }
    });
    return { steps, neurons, values: [], rows };
  },
  join: joinedRows,
  sum: ({ maximumRows }) => eventSum('spikes', maximumRows),
  // A table of all spikes is no readout: who asks for it wants those of the stimulated neurons as well.
  isReadout: ({ neurons }, neuronCount) => neurons.length < neuronCount,
} satisfies EventKind<EventTask, EventReading>;
