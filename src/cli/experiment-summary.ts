/** Runs of one condition, seed by seed, and what they have in common: means, spread, overlap. */
import type { Experiment } from '../answers/v1/experiment.js';
import { roundDrive, roundRate } from '../answers/v1/rounding.js';
import type { RunBody } from './experiment-source.js';

/** One thing that is tried: an experiment, run with several seeds, in an intact or a lesioned brain. */
export interface Condition {
  readonly experiment: Omit<Experiment, 'seed'>;
  readonly seeds: readonly number[];
  /** Patterns of the cell types whose outputs were removed. */
  readonly silenced: readonly string[];
  /** One for each seed. */
  readonly runs: readonly RunBody[];
}

export interface Spread {
  readonly mean: number;
  /** Sample standard deviation (n - 1); null for a single run. */
  readonly sd: number | null;
}

export interface Summary {
  readonly totalSpikes: Spread;
  readonly respondingNeurons: Spread;
  /** Hz. */
  readonly channels: readonly (readonly [id: string, spread: Spread])[];
  readonly drive: readonly (readonly [id: string, spread: Spread])[];
}

export function labelOf({ experiment: { stimulus }, silenced }: Condition): string {
  return silenced.length === 0 ? stimulus : `${stimulus}, ${silenced.join(' ')} silenced`;
}

export function summaryOf({ runs }: Condition): Summary {
  return {
    totalSpikes: spreadOf(
      runs.map(({ spikes }) => spikes.total),
      roundRate,
    ),
    respondingNeurons: spreadOf(
      runs.map(({ spikes }) => spikes.responding_neurons),
      roundRate,
    ),
    channels: Object.keys(runs[0]!.channels).map((id) => [
      id,
      spreadOf(
        runs.map(({ channels }) => channels[id]!),
        roundRate,
      ),
    ]),
    drive: Object.keys(runs[0]!.drive).map((id) => [
      id,
      spreadOf(
        runs.map(({ drive }) => drive[id]!),
        roundDrive,
      ),
    ]),
  };
}

export function spreadOf(values: readonly number[], round: (value: number) => number): Spread {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  return {
    mean: round(mean),
    sd: values.length < 2 ? null : round(Math.sqrt(squares / (values.length - 1))),
  };
}

/**
 * How alike the sets of responding neurons are, seed by seed: size of what they share over size of both
 * together (Jaccard), 1 where both are silent.
 */
export function overlapOf(one: Condition, other: Condition): Spread {
  return spreadOf(
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
