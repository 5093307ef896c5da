/** Runs of one condition, seed by seed, and what they have in common: means, spread, overlap. */
import type { Experiment } from '../../answers/v1/experiment.js';
import { roundDrive, roundRate } from '../../answers/v1/rounding.js';
import { spreadOf } from '../../validation/spread.js';
import type { RunBody } from './source.js';

/** One thing that is tried: an experiment, run with several seeds, in an intact or a lesioned brain. */
export interface Condition {
  readonly experiment: Omit<Experiment, 'seed'>;
  readonly seeds: readonly number[];
  /** Patterns of the cell types whose outputs were removed. */
  readonly silenced: readonly string[];
  /** One for each seed. */
  readonly runs: readonly RunBody[];
}

export interface RoundedSpread {
  readonly mean: number;
  /** Sample standard deviation (n - 1); null for a single run. */
  readonly sd: number | null;
}

export interface Summary {
  readonly totalSpikes: RoundedSpread;
  readonly respondingNeurons: RoundedSpread;
  /** Hz. */
  readonly channels: readonly (readonly [id: string, spread: RoundedSpread])[];
  readonly drive: readonly (readonly [id: string, spread: RoundedSpread])[];
}

export function labelOf({ experiment: { stimulus }, silenced }: Condition): string {
  return silenced.length === 0 ? stimulus : `${stimulus}, ${silenced.join(' ')} silenced`;
}

export function summaryOf({ runs }: Condition): Summary {
  return {
    totalSpikes: roundedSpread(
      runs.map(({ spikes }) => spikes.total),
      roundRate,
    ),
    respondingNeurons: roundedSpread(
      runs.map(({ spikes }) => spikes.responding_neurons),
      roundRate,
    ),
    channels: Object.keys(runs[0]!.channels).map((id) => [
      id,
      roundedSpread(
        runs.map(({ channels }) => channels[id]!),
        roundRate,
      ),
    ]),
    drive: Object.keys(runs[0]!.drive).map((id) => [
      id,
      roundedSpread(
        runs.map(({ drive }) => drive[id]!),
        roundDrive,
      ),
    ]),
  };
}

export function roundedSpread(values: readonly number[], round: (value: number) => number): RoundedSpread {
  const { mean, sd } = spreadOf(values);
  return { mean: round(mean), sd: values.length < 2 ? null : round(sd) };
}

/** Jaccard index of the sets of responding neurons, seed by seed: intersection over union, 1 if both are silent. */
export function overlapOf(one: Condition, other: Condition): RoundedSpread {
  return roundedSpread(
    one.runs.map((run, at) => jaccard(respondingOf(run), respondingOf(other.runs[at]!))),
    roundDrive,
  );
}

function respondingOf({ frames = [] }: RunBody): Set<number> {
  return new Set(frames.flatMap(({ spikes }) => spikes));
}

function jaccard(one: ReadonlySet<number>, other: ReadonlySet<number>): number {
  let shared = 0;
  for (const neuron of one) if (other.has(neuron)) shared++;
  const together = one.size + other.size - shared;
  return together === 0 ? 1 : shared / together;
}

/** What --json prints where there is more than one run; see docs/guide.md. */
export function summaryJson(conditions: readonly Condition[]): string {
  const [first, second] = conditions;
  return `${JSON.stringify(
    {
      conditions: conditions.map((condition) => {
        const { experiment, seeds, silenced, runs } = condition;
        const { totalSpikes, respondingNeurons, channels, drive } = summaryOf(condition);
        return {
          model: runs[0]!.model,
          ...experiment,
          seeds,
          silenced,
          run_ids: runs.map(({ id }) => id),
          spikes: { total: totalSpikes, responding_neurons: respondingNeurons },
          channels_hz: Object.fromEntries(channels),
          drive: Object.fromEntries(drive),
        };
      }),
      ...(first !== undefined && second !== undefined
        ? { responding_overlap_jaccard: overlapOf(first, second) }
        : {}),
    },
    null,
    2,
  )}\n`;
}
