import { count, listOf, number, orNull, ref, type Static } from '../../../engine/schema/json-schema.js';
import { STEPS_PER_SECOND } from '../../../engine/stimulus/protocol.js';
import { GROUPS, reportSchema } from '../kind-schemas.js';
import { type Control, groupSchema, MEAN_SD, type RATE } from '../report-answers.js';
import type {
  GroupCounts,
  GroupKind,
  GroupTable,
  GroupValues,
  ReportSum,
  ReportTask,
  SumOptions,
} from '../report-kind.js';
import { rounded, roundedMeanSd } from '../mean-sd.js';
import {
  Counters,
  GroupRows,
  joined,
  numberColumn,
  respondingOf,
  type RespondingNeurons,
} from './group-counts.js';

const VALUES = {
  responding: orNull('Of these, with at least one spike in a trial.', MEAN_SD),
  responding_any: orNull('Of these, with at least one spike in any trial.', count()),
  rate_hz: orNull(
    'Mean rate of the neurons of the group. Null if a trial was stopped.',
    ref<Static<typeof RATE>>('Rate'),
  ),
  'control?': ref<Control>(
    'Control',
    'Of a report of type rate, if the experiment has controls: its mean rate in these.',
  ),
  'bins_hz?': orNull(
    'Of a histogram: mean rate in each bin.',
    listOf(undefined, number(undefined, { minimum: 0 })),
  ),
};
const GROUP = groupSchema(
  'The result of a report of type rate or histogram for a group of neurons. Labels are those of group_by.',
  VALUES,
);

/** A group in an answer. */
export type RateGroup = Static<typeof GROUP>;
export type RateValues = Pick<RateGroup, 'responding' | 'responding_any' | 'rate_hz' | 'bins_hz'>;

export interface RateCounts extends GroupCounts {
  /** Spikes of row r in trial t at r * trials + t. */
  readonly spikes: Uint32Array;
  /** Neurons with at least one spike of row r in trial t at r * trials + t. */
  readonly responding: Uint32Array;
  /** Neurons of each row with at least one spike in any trial. */
  readonly respondingInAny: Uint32Array;
}

export function rateSum(
  task: ReportTask,
  { groups, trials }: SumOptions,
  rows = new GroupRows(groups),
): ReportSum<RespondingNeurons, RateCounts> {
  const spikesOf = new Counters(rows, Uint32Array, trials);
  const responding = new Counters(rows, Uint32Array, trials);
  const respondingInAny = new Counters(rows, Uint32Array, 1);
  /** By position. One trial needs no marks, because a neuron then cannot respond twice; they would be as large as the report. */
  const hasResponded = trials > 1 ? new Uint8Array(groups.groupOfPosition.length) : undefined;
  return {
    add(trial, { positions, spikes }) {
      positions.forEach((position, at) => {
        const row = rows.ofPosition(position);
        spikesOf.add(row, trial, spikes[at]!);
        responding.add(row, trial, 1);
        if (hasResponded?.[position] === 1) return;
        if (hasResponded !== undefined) hasResponded[position] = 1;
        respondingInAny.add(row, 0, 1);
      });
    },
    counts: () => ({
      ...rows.counts(task),
      spikes: spikesOf.values(),
      responding: responding.values(),
      respondingInAny: respondingInAny.values(),
    }),
  };
}

export function rateValues(counts: RateCounts, trials: number): GroupValues<RateValues> {
  const ofRow = (values: Uint32Array, row: number) => values.subarray(row * trials, (row + 1) * trials);
  return {
    of(row, neurons) {
      const spikes = ofRow(counts.spikes, row);
      const seconds = neuronSeconds(neurons, counts.endStep - counts.startStep);
      return {
        responding: roundedMeanSd(ofRow(counts.responding, row)),
        responding_any: counts.respondingInAny[row]!,
        rate_hz: {
          ...roundedMeanSd(spikes, seconds),
          trials: Array.from(spikes, (spikeCount) => rounded(spikeCount / seconds)),
        },
      };
    },
    silent: {
      responding: { mean: 0, sd: 0 },
      responding_any: 0,
      rate_hz: { mean: 0, sd: 0, trials: new Array<number>(trials).fill(0) },
    },
    stopped: { responding: null, responding_any: null, rate_hz: null },
  };
}

export function neuronSeconds(neurons: number, steps: number): number {
  return (neurons * steps) / STEPS_PER_SECOND;
}

const RATE_COLUMNS = [
  numberColumn<RateValues>('responding', ({ responding }) => responding?.mean),
  numberColumn<RateValues>('rate_hz_mean', ({ rate_hz: rateHz }) => rateHz?.mean),
  numberColumn<RateValues>('rate_hz_sd', ({ rate_hz: rateHz }) => rateHz?.sd),
];

/** A row for each condition, report and group. */
export const RATES: GroupTable = {
  name: 'rates',
  columnsOf: () => RATE_COLUMNS,
  controlColumns: [
    numberColumn<RateGroup>('control_hz_mean', ({ control }) => control?.mean),
    numberColumn<RateGroup>('control_hz_sd', ({ control }) => control?.sd),
    numberColumn<RateGroup>('p', ({ control }) => control?.p),
    numberColumn<RateGroup>('q', ({ control }) => control?.q),
  ],
};

/** A row for each condition, report, group and control. */
const CONTROL_TABLE: GroupTable = {
  name: 'controls',
  isOfControls: true,
  columnsOf: () => [
    { column: { name: 'control', type: 'int32' }, valueOf: ({ at }) => at + 1 },
    {
      column: { name: 'rate_hz_mean', type: 'double', nullable: true },
      valueOf: ({ group, at }) => (group as RateGroup).control?.values[at] ?? NaN,
    },
  ],
  rowsOfEach: (groups) => (groups.at(0) as RateGroup | undefined)?.control?.values.length ?? 0,
};

/** The mean rate of each group: spikes per neuron and second. */
export const rate = {
  shape: 'groups',
  schema: reportSchema('rate', 'Mean rate of each group.', GROUPS),
  answer: { Group: GROUP },
  label: 'mean rate',
  tables: [RATES, CONTROL_TABLE],
  measure: {
    label: 'Mean rate',
    unit: 'Hz',
    of: (group) => (group as RateGroup).rate_hz,
    respondingOf: (group) => (group as RateGroup).responding?.mean.toFixed(1) ?? '',
  },
  read: respondingOf,
  join: (_, first, second) => joined(['positions', 'spikes'], first, second),
  sum: (task, options) => rateSum(task, options),
  controlled: {
    totalsOf: ({ groups, spikes }, trials) =>
      Float64Array.from(groups, (_, row) =>
        spikes.subarray(row * trials, (row + 1) * trials).reduce((sum, each) => sum + each, 0),
      ),
    unitOf: (neurons, { startStep, endStep }, trials) => trials * neuronSeconds(neurons, endStep - startStep),
  },
  valuesOf: rateValues,
} satisfies GroupKind<ReportTask, RespondingNeurons, RateCounts, RateValues>;
