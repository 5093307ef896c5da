import { firstNotBelow } from '../../../engine/connectome/sorted-array.js';
import { number, orNull, ref, type SchemaOf, type Static } from '../../../engine/schema/json-schema.js';
import { STEPS_PER_MS } from '../../../engine/stimulus/protocol.js';
import { GROUPS, reportSchema } from '../kind-schemas.js';
import { groupSchema, overTrials } from '../report-answers.js';
import type { GroupCounts, GroupKind, GroupTable, ReportTask } from '../report-kind.js';
import { rounded, roundedMeanSd } from '../mean-sd.js';
import { Counters, GroupRows, joined, numberColumn, respondingOf } from './group-counts.js';

const LATENCY = overTrials(
  'A time in ms over the trials that have it.',
  'Of each trial; null if no neuron of the group spiked.',
  { type: ['number', 'null'], minimum: 0 } as SchemaOf<number | null>,
);
const GROUP = groupSchema('The result of a report of type latency for a group of neurons.', {
  latency_ms: orNull(
    'Time from start_ms of the report to the first spike of any neuron of the group. Null if there is none in any ' +
      'trial, or a trial was stopped.',
    ref<Static<typeof LATENCY>>('Latency'),
  ),
  responding_trials: orNull(
    'Share of the trials in which a neuron of the group spiked. Null if a trial was stopped.',
    number(undefined, { minimum: 0, maximum: 1 }),
  ),
});

type LatencyGroup = Static<typeof GROUP>;
type LatencyValues = Pick<LatencyGroup, 'latency_ms' | 'responding_trials'>;

interface LatencyResult {
  /** Positions, in the task's list, of the neurons with at least one spike; ascending. */
  readonly positions: Uint32Array;
  /** Steps from the start of the window to the first spike of each of them. */
  readonly firstSpikes: Uint32Array;
}

interface LatencyCounts extends GroupCounts {
  /** Steps to the first spike plus 1 of row r in trial t, at r * trials + t; 0 if there is no spike. */
  readonly firstSpikes: Uint32Array;
}

const COLUMNS = [
  numberColumn<LatencyValues>('latency_ms_mean', ({ latency_ms: latencyMs }) => latencyMs?.mean),
  numberColumn<LatencyValues>('latency_ms_sd', ({ latency_ms: latencyMs }) => latencyMs?.sd),
  numberColumn<LatencyValues>('responding_trials', ({ responding_trials: share }) => share),
];

/** A row for each condition, report and group. */
const LATENCIES: GroupTable = { name: 'latency', columnsOf: () => COLUMNS };

/** The time from the start of the window to the first spike of a group. */
export const latency = {
  shape: 'groups',
  schema: reportSchema('latency', 'Time of the first spike of each group, in ms from start_ms.', GROUPS),
  answer: { LatencyGroup: GROUP, Latency: LATENCY },
  label: 'time of the first spike',
  tables: [LATENCIES],
  measure: {
    label: 'First spike',
    unit: 'ms',
    lowest: 'earliest',
    of: (group) => (group as LatencyGroup).latency_ms,
    respondingOf(group) {
      const { responding_trials: share } = group as LatencyGroup;
      return share === null ? '' : `${Math.round(100 * share)} %`;
    },
  },
  read(task, trial) {
    const { neurons, startStep, endStep } = task;
    const { raster, marks } = trial;
    const { positions } = respondingOf(task, trial);
    positions.forEach((position, at) => (marks[neurons[position]!] = at + 1));
    const firstSpikes = new Uint32Array(positions.length);
    const to = firstNotBelow(raster.steps, endStep);
    for (let spike = firstNotBelow(raster.steps, startStep); spike < to; spike++) {
      const neuron = raster.neurons[spike]!;
      const mark = marks[neuron]!;
      if (mark === 0) continue;
      firstSpikes[mark - 1] = raster.steps[spike]! - startStep;
      marks[neuron] = 0;
    }
    return { positions, firstSpikes };
  },
  join: (_, first, second) => ({
    ...joined(['positions', 'firstSpikes'], first, second, (earlier) => earlier),
  }),
  sum(task, { groups, trials }) {
    const rows = new GroupRows(groups);
    const first = new Counters(rows, Uint32Array, trials);
    return {
      add(trial, { positions, firstSpikes }) {
        positions.forEach((position, at) =>
          first.keepLowest(rows.ofPosition(position), trial, firstSpikes[at]! + 1),
        );
      },
      counts: () => ({ ...rows.counts(task), firstSpikes: first.values() }),
    };
  },
  valuesOf: ({ firstSpikes }, trials) => ({
    of(row) {
      const ofTrials = firstSpikes.subarray(row * trials, (row + 1) * trials);
      const steps = ofTrials.filter((first) => first > 0).map((first) => first - 1);
      return {
        latency_ms: {
          ...roundedMeanSd(steps, STEPS_PER_MS),
          trials: Array.from(ofTrials, (first) => (first === 0 ? null : (first - 1) / STEPS_PER_MS)),
        },
        responding_trials: rounded(steps.length / trials),
      };
    },
    silent: { latency_ms: null, responding_trials: 0 },
    stopped: { latency_ms: null, responding_trials: null },
  }),
} satisfies GroupKind<ReportTask, LatencyResult, LatencyCounts, LatencyValues>;
