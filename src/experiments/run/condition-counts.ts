/** Adds up the trials of a condition. What an answer says of the sums is in condition-result.ts. */
import { STEPS_PER_MS } from '../../stimulus/protocol.js';
import type { ReportCounts, ReportReading, ReportSum, SpikeCounts } from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import type { Condition, ExperimentPlan } from '../plan/plan.js';
import type { TrialReading } from '../plan/trial.js';
import { RUNAWAY_NEURONS } from '../plan/warnings.js';
import type { RunOutcome } from './outcomes.js';
import type { ConditionParameters } from './result.js';

/** Counts of all trials of a condition. Plain data: groups without a spike take no space. */
export interface ConditionCounts extends ConditionParameters {
  /** The earliest last step of the trials that the event budget ended. */
  readonly stoppedAtStep?: number;
  readonly spikes: readonly number[];
  readonly responding: readonly number[];
  /** Neurons with at least one spike in any trial. */
  readonly respondingInAny: number;
  /** Sum over all trials. */
  readonly synapticEvents: number;
  /** In the order of the reports. */
  readonly reports: readonly ReportCounts[];
}

/**
 * Takes the readings of a condition, in the order of the trials, whatever order they finished in: so every sum has
 * one order, and tables are cut at the same row. Readings are counted and let go.
 */
export class ConditionSum {
  #inputEvents = 0;
  #synapticEvents = 0;
  #stoppedAtStep: number | undefined;
  readonly #spikes: number[] = [];
  readonly #responding: number[] = [];
  readonly #reports: readonly ReportSum<ReportReading, ReportCounts>[];
  /** Spikes of every neuron, where they are wanted. */
  readonly #spikesOfAll: Uint32Array | undefined;
  #respondingInAny = 0;
  /** A bit for each neuron: whether it has responded. */
  readonly #hasResponded: Uint32Array;

  /** @param reports those that the tasks of the condition are of, in their order */
  constructor(
    private readonly plan: Pick<ExperimentPlan, 'connectome' | 'trials' | 'inputNames'>,
    private readonly condition: Condition,
    reports: ExperimentPlan['reports'],
  ) {
    const { trials, inputNames, connectome } = plan;
    this.#reports = condition.reports.map((task, at) =>
      kindOf(task).sum(task, { groups: reports[at]!.groups, trials, inputNames }),
    );
    this.#hasResponded = new Uint32Array(Math.ceil(connectome.neuronCount / 32));
    if (condition.countsAll) this.#spikesOfAll = new Uint32Array(connectome.neuronCount);
  }

  /**
   * @param trial ascending from call to call
   * @param keepsRows whether the rows of its tables are kept
   */
  add(trial: number, reading: TrialReading, keepsRows: boolean): void {
    this.#spikes.push(reading.spikes);
    this.#responding.push(reading.responding);
    this.#inputEvents += reading.inputEvents;
    this.#synapticEvents += reading.synapticEvents;
    if (reading.stoppedAtStep !== undefined) {
      this.#stoppedAtStep = Math.min(reading.stoppedAtStep, this.#stoppedAtStep ?? Infinity);
    }
    this.#reports.forEach((report, at) => report.add(trial, reading.reports[at]!, keepsRows));
    const { counts, responders } = reading;
    this.#addResponders(counts?.neurons ?? responders!);
    counts?.neurons.forEach((neuron, at) => (this.#spikesOfAll![neuron]! += counts.spikes[at]!));
  }

  #addResponders(neurons: Uint32Array): void {
    const has = this.#hasResponded;
    // Indexed: runaway activity has 100,000 of them.
    for (let at = 0; at < neurons.length; at++) {
      const neuron = neurons[at]!;
      const [word, bit] = [neuron >>> 5, 1 << (neuron & 31)];
      if ((has[word]! & bit) === 0) this.#respondingInAny++;
      has[word]! |= bit;
    }
  }

  outcome(): RunOutcome {
    const { index, parameters, protocol } = this.condition;
    const hasBackground = protocol.inputs.some(({ train }) => train.kind === 'background');
    const synapticEvents = this.#synapticEvents;
    return {
      kind: 'run',
      counts: {
        index,
        parameters,
        ...(this.#stoppedAtStep !== undefined && { stoppedAtStep: this.#stoppedAtStep }),
        spikes: this.#spikes,
        responding: this.#responding,
        respondingInAny: this.#respondingInAny,
        synapticEvents,
        reports: this.#reports.map((report) => report.counts()),
      },
      cost: {
        brainMs: (protocol.durationSteps / STEPS_PER_MS) * this.plan.trials,
        inputEvents: this.#inputEvents,
        synapticEvents,
        // Background fires neurons everywhere.
        isRunaway: !hasBackground && this.#responding.some((neurons) => neurons > RUNAWAY_NEURONS),
      },
      ...(this.#spikesOfAll && { spikesOfAll: countedSpikes(this.#spikesOfAll) }),
    };
  }
}

/** @param spikes of every neuron */
export function countedSpikes(spikes: Uint32Array): SpikeCounts {
  const neurons: number[] = [];
  for (let neuron = 0; neuron < spikes.length; neuron++) if (spikes[neuron]! > 0) neurons.push(neuron);
  return {
    neurons: Uint32Array.from(neurons),
    spikes: Uint32Array.from(neurons, (neuron) => spikes[neuron]!),
  };
}
