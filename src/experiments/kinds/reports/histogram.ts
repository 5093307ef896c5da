import { firstNotBelow } from '../../../engine/connectome/sorted-array.js';
import { number } from '../../../engine/schema/json-schema.js';
import { STEPS_PER_MS } from '../../../engine/stimulus/protocol.js';
import { MAX_DURATION_MS, stepsOf, TIME_STEP_MS } from '../fields.js';
import { GROUPS, type ReportDocument, reportSchema } from '../kind-schemas.js';
import type { GroupKind, GroupTable, ReportTask, ReportWindow } from '../report-kind.js';
import { rounded } from '../mean-sd.js';
import { Counters, GroupRows, joined, type RespondingNeurons, respondingOf } from './group-counts.js';
import {
  neuronSeconds,
  rate,
  RATES,
  rateSum,
  rateValues,
  type RateCounts,
  type RateGroup,
  type RateValues,
} from './rate.js';

export interface HistogramTask extends ReportTask {
  /** The group of each neuron, from 0. */
  readonly groups: Uint32Array;
  readonly binSteps: number;
}

export interface HistogramResult extends RespondingNeurons {
  /** The entries (group * bins + bin) with at least one spike, ascending. */
  readonly cells: Uint32Array;
  readonly cellSpikes: Uint32Array;
}

interface HistogramCounts extends RateCounts {
  readonly histogram: {
    readonly binSteps: number;
    /** Spikes of row r in bin b of all trials at r * bins + b. */
    readonly spikes: Float64Array;
  };
}

/** Number of bins in a window. The last bin may be shorter. */
export function binCount({ startStep, endStep }: ReportWindow, binSteps: number): number {
  return Math.ceil((endStep - startStep) / binSteps);
}

function binStepsOf({ bin_ms: binMs }: ReportDocument): number {
  return stepsOf(binMs!);
}

/** The distinct values of a sorted list, and the number of times that each occurs. */
function runLengths(sorted: Uint32Array): Pick<HistogramResult, 'cells' | 'cellSpikes'> {
  const cells: number[] = [];
  const cellSpikes: number[] = [];
  sorted.forEach((cell, at) => {
    if (at > 0 && cell === sorted[at - 1]) cellSpikes[cellSpikes.length - 1]!++;
    else {
      cells.push(cell);
      cellSpikes.push(1);
    }
  });
  return { cells: Uint32Array.from(cells), cellSpikes: Uint32Array.from(cellSpikes) };
}

/** A row for each condition, report, group and bin. A stopped condition has no rows. */
const BINS: GroupTable = {
  name: 'histogram',
  columnsOf: (reports) => {
    const windows = reports.map((report) => ({
      startStep: stepsOf(report.start_ms),
      binSteps: binStepsOf(report),
    }));
    return [
      {
        column: { name: 'bin_start_ms', type: 'double' },
        valueOf: ({ at, report }) => {
          const { startStep, binSteps } = windows[report]!;
          // Sums of steps are exact; sums of multiples of 0.1 ms need not be.
          return (startStep + at * binSteps) / STEPS_PER_MS;
        },
      },
      {
        column: { name: 'rate_hz', type: 'double' },
        valueOf: ({ group, at }) => (group as RateGroup).bins_hz![at]!,
      },
    ];
  },
  rowsOfEach: (groups) => (groups.at(0) as RateGroup | undefined)?.bins_hz?.length ?? 0,
};

const { controlled: _, ...uncontrolled } = rate;

/** The mean rate of each group, and its rate in each bin. */
export const histogram = {
  ...uncontrolled,
  schema: reportSchema('histogram', 'Mean rate of each group in each bin.', GROUPS, {
    bin_ms: number('Length of a bin in ms; the last one may be shorter.', {
      multipleOf: TIME_STEP_MS,
      minimum: 1,
      maximum: MAX_DURATION_MS,
      default: 10,
      examples: [25],
    }),
  }),
  label: 'rate in bins of time',
  // A session needs no histogram: its steps are bins.
  isOfWholeTrials: true,
  tables: [RATES, BINS],
  course: {
    name: 'rates in time',
    unit: 'Hz',
    table: BINS.name,
    note: 'Mean rates over neurons and trials, in bins.',
    of: (group) => (group as RateGroup).bins_hz ?? null,
  },
  taskOf: ({ document, groupOfNeuron }) => ({ groups: groupOfNeuron, binSteps: binStepsOf(document) }),
  read(task, trial) {
    const { neurons, groups, startStep, endStep, binSteps } = task;
    const { raster, marks } = trial;
    const bins = binCount(task, binSteps);
    const responding = respondingOf(task, trial);
    for (const position of responding.positions) marks[neurons[position]!] = groups[position]! + 1;
    const cells: number[] = [];
    const to = firstNotBelow(raster.steps, endStep);
    for (let spike = firstNotBelow(raster.steps, startStep); spike < to; spike++) {
      const group = marks[raster.neurons[spike]!]!;
      if (group > 0)
        cells.push((group - 1) * bins + Math.floor((raster.steps[spike]! - startStep) / binSteps));
    }
    for (const position of responding.positions) marks[neurons[position]!] = 0;
    return { ...responding, ...runLengths(Uint32Array.from(cells).sort()) };
  },
  join: (_, first, second) => ({
    ...joined(['positions', 'spikes'], first, second),
    ...joined(['cells', 'cellSpikes'], first, second),
  }),
  sum(task, options) {
    const { binSteps } = task;
    const bins = binCount(task, binSteps);
    const rows = new GroupRows(options.groups);
    const rates = rateSum(task, options, rows);
    const spikes = new Counters(rows, Float64Array, bins);
    return {
      add(trial, result, keepsRows) {
        rates.add(trial, result, keepsRows);
        result.cells.forEach((cell, at) => {
          const group = Math.floor(cell / bins);
          spikes.add(rows.ofGroup(group), cell - group * bins, result.cellSpikes[at]!);
        });
      },
      counts: () => ({ ...rates.counts(), histogram: { binSteps, spikes: spikes.values() } }),
    };
  },
  furtherNumbers: (document, window) => binCount(window, binStepsOf(document)),
  valuesOf(counts, trials) {
    const { startStep, endStep, histogram } = counts;
    const { binSteps, spikes } = histogram;
    const bins = binCount(counts, binSteps);
    const rates = rateValues(counts, trials);
    return {
      of: (row, neurons) => ({
        ...rates.of(row, neurons),
        bins_hz: Array.from({ length: bins }, (_, bin) => {
          const from = startStep + bin * binSteps;
          const steps = Math.min(endStep, from + binSteps) - from;
          return rounded(spikes[row * bins + bin]! / trials / neuronSeconds(neurons, steps));
        }),
      }),
      silent: { ...rates.silent, bins_hz: new Array<number>(bins).fill(0) },
      stopped: { ...rates.stopped, bins_hz: null },
    };
  },
} satisfies GroupKind<HistogramTask, HistogramResult, HistogramCounts, RateValues>;
