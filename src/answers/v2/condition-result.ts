/** From what was counted in a condition to what an answer says of it. */
import { STEPS_PER_MS } from '../../experiment/protocol.js';
import type { Groups } from './groups.js';
import type { ConditionResult, GroupResult, GroupResults, MeanSd } from './result.js';
import type { ConditionCounts, GroupCounts } from './summary.js';
import { binCount } from './trial.js';

const MS_PER_SECOND = 1000;
const DECIMALS = 10_000;

/**
 * Every mean, standard deviation and rate of an answer has four decimals at most: finer than the effect of one spike in
 * a small group, and short numbers keep answers small. Each is rounded once, from exact counts, never from another
 * rounded number.
 */
export function rounded(value: number): number {
  return Math.round(value * DECIMALS) / DECIMALS;
}

/** A report of a plan, and its groups. */
export interface SummarisedReport {
  readonly name: string;
  readonly groups: Groups;
}

/** @param reports of the plan */
export function conditionResult(
  counts: ConditionCounts,
  reports: readonly SummarisedReport[],
): ConditionResult {
  const { index, parameters, stoppedAtStep } = counts;
  const complete = stoppedAtStep === undefined;
  return {
    index,
    parameters,
    complete,
    ...(!complete && {
      // The end of the last step that was simulated.
      stopped_at_ms: (stoppedAtStep + 1) / STEPS_PER_MS,
      reason: 'EVENT_BUDGET',
    }),
    spikes: complete ? roundedMeanSd(counts.spikes) : null,
    responding_neurons: complete ? roundedMeanSd(counts.responding) : null,
    synaptic_events: counts.synapticEvents,
    reports: Object.fromEntries(
      reports.map(({ name, groups }, at) => {
        const report = counts.reports[at]!;
        if ('table' in report) return [name, report];
        return [name, new CountedGroups(groups, report, counts.spikes.length, complete)];
      }),
    ),
  };
}

/** What a row has beside the labels and the size of its group. */
type GroupReading = Pick<GroupResult, 'responding' | 'responding_any' | 'rate_hz' | 'bins_hz'>;

/**
 * The groups of a report, each made when it is asked for: a report of a whole brain by neuron has more of them than
 * should be made at once, and nobody needs all of them at a time.
 */
class CountedGroups implements GroupResults {
  readonly length: number;
  /** 1 more than the row of each group; 0 of a group without a spike. */
  readonly #rowOf: Uint32Array;
  readonly #bins: number;
  /** Of a whole brain by neuron nearly all groups are silent: they share what is read of them. */
  readonly #silent: GroupReading;

  constructor(
    private readonly groups: Groups,
    private readonly counts: GroupCounts,
    private readonly trials: number,
    private readonly complete: boolean,
  ) {
    const { startStep, endStep, histogram } = counts;
    this.length = groups.count;
    this.#rowOf = new Uint32Array(groups.count);
    counts.groups.forEach((group, row) => (this.#rowOf[group] = row + 1));
    this.#bins = histogram === undefined ? 0 : binCount({ startStep, endStep, binSteps: histogram.binSteps });
    this.#silent = complete ? this.#silence() : this.#noReading();
  }

  at(group: number): GroupResult | undefined {
    if (group >= this.length) return undefined;
    const { groups } = this;
    const row = this.#rowOf[group]!;
    const reading = this.complete && row > 0 ? this.#readingOf(group, row - 1) : this.#silent;
    return { ...groups.labelsOf(group), neurons: groups.sizes[group]!, ...reading };
  }

  *[Symbol.iterator](): Generator<GroupResult, void, void> {
    for (let group = 0; group < this.length; group++) yield this.at(group)!;
  }

  toJSON(): readonly GroupResult[] {
    return [...this];
  }

  #readingOf(group: number, row: number): GroupReading {
    return {
      responding: roundedMeanSd(this.#ofRow(this.counts.responding, row)),
      responding_any: this.counts.respondingInAny[row]!,
      rate_hz: this.#rate(group, row),
      ...(this.#bins > 0 && { bins_hz: this.#binRates(group, row) }),
    };
  }

  #silence(): GroupReading {
    return {
      responding: { mean: 0, sd: 0 },
      responding_any: 0,
      rate_hz: { mean: 0, sd: 0, trials: new Array<number>(this.trials).fill(0) },
      ...(this.#bins > 0 && { bins_hz: new Array<number>(this.#bins).fill(0) }),
    };
  }

  #noReading(): GroupReading {
    return {
      responding: null,
      responding_any: null,
      rate_hz: null,
      ...(this.#bins > 0 && { bins_hz: null }),
    };
  }

  #ofRow(values: Uint32Array, row: number): Uint32Array {
    return values.subarray(row * this.trials, (row + 1) * this.trials);
  }

  #rate(group: number, row: number): GroupResult['rate_hz'] {
    const { startStep, endStep } = this.counts;
    const spikes = this.#ofRow(this.counts.spikes, row);
    const neuronSeconds = this.#neuronSeconds(group, endStep - startStep);
    const { mean, sd } = meanSd(spikes);
    return {
      mean: rounded(mean / neuronSeconds),
      sd: rounded(sd / neuronSeconds),
      trials: Array.from(spikes, (count) => rounded(count / neuronSeconds)),
    };
  }

  #binRates(group: number, row: number): number[] {
    const { startStep, endStep, histogram } = this.counts;
    const { binSteps, spikes: ofBins } = histogram!;
    return Array.from({ length: this.#bins }, (_, bin) => {
      const from = startStep + bin * binSteps;
      const steps = Math.min(endStep, from + binSteps) - from;
      const spikes = ofBins[row * this.#bins + bin]! / this.trials;
      return rounded(spikes / this.#neuronSeconds(group, steps));
    });
  }

  #neuronSeconds(group: number, steps: number): number {
    return (this.groups.sizes[group]! * steps) / (STEPS_PER_MS * MS_PER_SECOND);
  }
}

function roundedMeanSd(values: ArrayLike<number>): MeanSd {
  const { mean, sd } = meanSd(values);
  return { mean: rounded(mean), sd: rounded(sd) };
}

/** Of the population (ddof 0), in two passes, in the order of the values. */
function meanSd(values: ArrayLike<number>): MeanSd {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i]!;
  const mean = sum / values.length;
  let squares = 0;
  for (let i = 0; i < values.length; i++) {
    const deviation = values[i]! - mean;
    squares += deviation * deviation;
  }
  return { mean, sd: Math.sqrt(squares / values.length) };
}
