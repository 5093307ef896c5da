import { refused } from '../../../schema/json-path.js';
import { listOf, number } from '../../../schema/json-schema.js';
import { sampledSteps } from '../../../simulation/simulation.js';
import { STEPS_PER_MS } from '../../../stimulus/protocol.js';
import { MAXIMUM_DURATION_MS, stepsOf, TIME_STEP_MS } from '../../document/fields.js';
import { NO_GROUPS, type ReportDocument, reportSchema } from '../../document/kind-schemas.js';
import { eventTable } from '../report-answers.js';
import type { EventKind, ReportWindow } from '../report-kind.js';
import type { TableColumn } from '../table-column.js';
import { type EventReading, eventSum, type EventTask, joinedRows } from './event-table.js';

interface MembraneTask extends EventTask {
  readonly everySteps: number;
}

const POTENTIAL: TableColumn = { name: 'v_mv', type: 'double' };

/** Samples of one neuron: as many as sampledSteps lists, which plans of many conditions have no time for. */
export function sampleCount({ startStep, endStep }: ReportWindow, everySteps: number): number {
  return Math.max(0, Math.ceil(endStep / everySteps) - Math.max(1, Math.ceil(startStep / everySteps)));
}

function everyStepsOf({ dt_ms: dtMs }: ReportDocument): number {
  return stepsOf(dtMs!);
}

/** The membrane potential of each neuron at regular times, as exact as the engine has it. */
export const membrane = {
  shape: 'events',
  schema: reportSchema('membrane', 'Table of the membrane potential of each neuron over time.', NO_GROUPS, {
    dt_ms: number(
      'Time between two samples in ms. A sample is v at the end of the step of 0.1 ms that begins at a multiple of it; 0 ' +
        'has none.',
      {
        multipleOf: TIME_STEP_MS,
        minimum: TIME_STEP_MS,
        maximum: MAXIMUM_DURATION_MS,
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
  trace: { column: POTENTIAL.name, label: 'Membrane potential', unit: 'mV' },
  mostNeurons: 1000,
  cost: {
    member: 'membrane_rows' as const,
    says: '',
    schema: number('Where reports list membrane potentials: the number of their rows.', { minimum: 0 }),
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
      `a time that has a multiple in what the report reads, from ${firstMs} to ${lastMs} ms`,
    );
  },
  taskOf: ({ document }, maximumRows) => ({ maximumRows, everySteps: everyStepsOf(document) }),
  recordingOf({ neurons, startStep, endStep, everySteps }) {
    const samples = neurons.length * sampleCount({ startStep, endStep }, everySteps);
    return { neurons, startStep, endStep, everySteps, samples };
  },
  /** A trial that the event budget ended has the samples up to there. */
  read(task, { samples, rowsLeft, startStep, endStep }) {
    const rows = samples!.length;
    const length = Math.min(rows, task.maximumRows, rowsLeft);
    // Rows that are left out must not travel with the rest.
    const potentials = length < rows ? samples!.slice(0, length) : samples!;
    // The step of each sample alone, because the neurons of all samples are the same: rows are written by the sum.
    const steps = sampledSteps(task, endStep, startStep).slice(0, samplesIn(length, task));
    return { steps, neurons: new Uint32Array(0), values: [potentials], rows };
  },
  join(task, first, second) {
    const { steps, ...joined } = joinedRows(task, first, second);
    return { ...joined, steps: steps.slice(0, samplesIn(joined.values[0]!.length, task)) };
  },
  sum: ({ maximumRows, neurons: members }) =>
    eventSum('membrane', maximumRows, [POTENTIAL], (reading, steps, neurons) => {
      for (let row = 0, sample = 0; row < steps.length; row += members.length, sample++) {
        steps.fill(reading.steps[sample]!, row, row + members.length);
        neurons.set(members.subarray(0, steps.length - row), row);
      }
    }),
} satisfies EventKind<MembraneTask, EventReading>;

/** The last one may lack neurons. */
function samplesIn(rows: number, { neurons }: MembraneTask): number {
  return Math.ceil(rows / neurons.length);
}
