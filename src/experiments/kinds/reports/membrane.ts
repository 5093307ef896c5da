import { refused } from '../../../engine/schema/json-path.js';
import { listOf, number } from '../../../engine/schema/json-schema.js';
import { NETWORK } from '../../../engine/simulation/network.js';
import { sampledSteps } from '../../../engine/simulation/simulation.js';
import { STEPS_PER_MS } from '../../../engine/stimulus/protocol.js';
import { MAX_DURATION_MS, stepsOf, TIME_STEP_MS } from '../fields.js';
import { NO_GROUPS, type ReportDocument, reportSchema } from '../kind-schemas.js';
import { eventTable } from '../report-answers.js';
import type { EventKind, ReportWindow } from '../report-kind.js';
import type { TableColumn } from '../result-rows.js';
import { type EventResult, eventSum, type EventTask, joinedRows } from './event-table.js';

interface MembraneTask extends EventTask {
  readonly everySteps: number;
}

const POTENTIAL: TableColumn = { name: 'v_mv', type: 'double' };

/** Number of samples of one neuron. Equal to the length of sampledSteps(), but faster, for plans of many conditions. */
export function sampleCount({ startStep, endStep }: ReportWindow, everySteps: number): number {
  return Math.max(0, Math.ceil(endStep / everySteps) - Math.max(1, Math.ceil(startStep / everySteps)));
}

function everyStepsOf({ dt_ms: dtMs }: ReportDocument): number {
  return stepsOf(dtMs!);
}

/** A table of the membrane potential of each neuron at regular times, with all digits of the engine. */
export const membrane = {
  shape: 'events',
  schema: reportSchema('membrane', 'Table of the membrane potential of each neuron over time.', NO_GROUPS, {
    dt_ms: number(
      'Time between two samples in ms. A sample is v at the end of the step of 0.1 ms that begins at a multiple of it; 0 ' +
        'has none.',
      {
        multipleOf: TIME_STEP_MS,
        minimum: TIME_STEP_MS,
        maximum: MAX_DURATION_MS,
        default: 1,
        examples: [0.5],
      },
    ),
  }),
  answer: {
    MembraneTable: eventTable('A table of membrane potentials', {
      v_mv: listOf('Membrane potential in mV, with all digits.', number()),
    }),
  },
  label: 'membrane potential',
  noun: 'membrane potentials',
  trace: {
    column: POTENTIAL.name,
    label: 'Membrane potential',
    unit: 'mV',
    linesWith: ({ threshold_mv: thresholdMv = NETWORK.thresholdMv.value }) => [
      { label: 'threshold', at: thresholdMv, dash: '4 2' },
      { label: 'rest', at: NETWORK.restMv.value, dash: '2 3' },
    ],
  },
  mostNeurons: 1000,
  cost: {
    member: 'membrane_rows' as const,
    says: '',
    schema: number('If reports list membrane potentials: the number of their rows.', { minimum: 0 }),
  },
  columnsOf: () => [POTENTIAL],
  expectedRows: ({ document, window, neurons }) => neurons * sampleCount(window, everyStepsOf(document)),
  checkWindow(document, window, path) {
    if (sampleCount(window, everyStepsOf(document)) > 0) return;
    const [firstMs, lastMs] = [Math.max(1, window.startStep), window.endStep - 1].map(
      (step) => step / STEPS_PER_MS,
    );
    throw refused(
      [...path, 'dt_ms'],
      document.dt_ms,
      `a time that has a multiple in the time of the report, from ${firstMs} to ${lastMs} ms`,
    );
  },
  taskOf: ({ document }, maxRows) => ({ maxRows, everySteps: everyStepsOf(document) }),
  recordingOf({ neurons, startStep, endStep, everySteps }) {
    const samples = neurons.length * sampleCount({ startStep, endStep }, everySteps);
    return { neurons, startStep, endStep, everySteps, samples };
  },
  /** If the event budget ended the trial, it has samples up to that step. */
  read(task, { samples, rowsLeft, startStep, endStep }) {
    const rows = samples!.length;
    const length = Math.min(rows, task.maxRows, rowsLeft);
    // A copy, so that the samples that are left out are not sent to the thread.
    const potentials = length < rows ? samples!.slice(0, length) : samples!;
    // Every sample has the same neurons, so only its step is sent. `sum` writes the rows.
    const steps = sampledSteps(task, endStep, startStep).slice(0, samplesIn(length, task));
    return { steps, neurons: new Uint32Array(0), values: [potentials], rows };
  },
  join(task, first, second) {
    const { steps, ...joined } = joinedRows(task, first, second);
    return { ...joined, steps: steps.slice(0, samplesIn(joined.values[0]!.length, task)) };
  },
  sum: ({ maxRows, neurons: members }) =>
    eventSum('membrane', maxRows, [POTENTIAL], (result, steps, neurons) => {
      for (let row = 0, sample = 0; row < steps.length; row += members.length, sample++) {
        steps.fill(result.steps[sample]!, row, row + members.length);
        neurons.set(members.subarray(0, steps.length - row), row);
      }
    }),
} satisfies EventKind<MembraneTask, EventResult>;

/** Number of samples; the last one may lack neurons. */
function samplesIn(rows: number, { neurons }: MembraneTask): number {
  return Math.ceil(rows / neurons.length);
}
