import { NO_GROUPS, reportSchema } from '../kind-schemas.js';
import { firstNotBelow } from '../../../engine/connectome/sorted-array.js';
import { listOf, number, text } from '../../../engine/schema/json-schema.js';
import { eventTable } from '../report-answers.js';
import type { EventKind } from '../report-kind.js';
import type { TableColumn } from '../result-rows.js';
import { type EventResult, eventSum, type EventTask, joinedRows, readRows } from './event-table.js';

const columnsOf = (labels: readonly string[]): TableColumn[] => [{ name: 'input', type: 'label', labels }];

/** A table of every input event with its input. */
export const inputs = {
  shape: 'events',
  schema: reportSchema('inputs', 'Table of the input events.', NO_GROUPS),
  answer: {
    InputTable: eventTable('A table of input events', { input: listOf('Name of the input.', text()) }),
  },
  label: 'every input event',
  noun: 'input events',
  readsInputs: true,
  cost: {
    member: 'input_rows' as const,
    says: 'about',
    schema: number('If reports list input events: the expected number of their rows.', { minimum: 0 }),
  },
  expectedRows: ({ inputEvents }) => inputEvents,
  taskOf: (_, maxRows) => ({ maxRows }),
  /** Merges the events of all inputs by step, then neuron, then input. */
  read(task, trial) {
    const { eventsOfInputs } = trial;
    const mostEvents = eventsOfInputs.reduce((sum, { steps }) => sum + steps.length, 0);
    const { labels, ...rows } = readRows(task, trial, mostEvents, (add) => {
      const next = eventsOfInputs.map(({ steps }) => firstNotBelow(steps, task.startStep));
      for (;;) {
        let first = -1;
        let firstStep = task.endStep;
        let firstNeuron = 0;
        for (let input = 0; input < eventsOfInputs.length; input++) {
          const { steps, neurons } = eventsOfInputs[input]!;
          const at = next[input]!;
          if (at === steps.length) continue;
          const step = steps[at]!;
          const neuron = neurons[at]!;
          if (step < firstStep || (first >= 0 && step === firstStep && neuron < firstNeuron)) {
            first = input;
            firstStep = step;
            firstNeuron = neuron;
          }
        }
        if (first < 0) return;
        next[first]!++;
        add(firstStep, firstNeuron, first);
      }
    });
    return { ...rows, values: [labels] };
  },
  join: joinedRows,
  sum: ({ maxRows }, { inputNames }) => eventSum('inputs', maxRows, columnsOf(inputNames)),
  columnsOf,
} satisfies EventKind<EventTask, EventResult>;
