/** Adds up the trials of a cell. answered-condition.ts turns the sums into an answer. */
import { exponentialDecay } from '../../engine/simulation/exponential.js';
import { STEPS_PER_MS } from '../../engine/stimulus/protocol.js';
import type { ReportCounts, ReportResult, ReportSum, SpikeCounts } from '../kinds/report-kind.js';
import { kindOf } from '../kinds/report-kinds.js';
import type { Condition, ExperimentPlan } from '../plan/plan.js';
import type { TrialResult } from '../plan/trial.js';
import { maxRecruited } from '../plan/warnings.js';
import type { RunConditionResult } from './condition-result.js';
import type { ConditionParameters } from '../document/result.js';

const STEPS_PER_S = 1000 * STEPS_PER_MS;
/** Standard deviations that a number of neurons may lie above its mean. */
const MAX_DEVIATIONS = 5;

/** Sums over the trials of a cell. Plain data. Groups without a spike take no space. `index` is the cell, not the condition. */
export interface ConditionCounts extends ConditionParameters {
  /** The last simulated step, if the event budget ended a trial; the earliest of several. */
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
 * Adds up the trial results of a cell. Add them in the order of the trials, even if they finish in another order: then equal
 * trials give equal sums, and tables are cut at the same row. It keeps no trial result.
 */
export class ConditionSum {
  #inputEvents = 0;
  #synapticEvents = 0;
  #stoppedAtStep: number | undefined;
  readonly #spikes: number[] = [];
  readonly #responding: number[] = [];
  readonly #reports: readonly ReportSum<ReportResult, ReportCounts>[];
  /** Spikes of every neuron, if they decide about other cells. */
  readonly #spikesOfAll: Uint32Array | undefined;
  #respondingInAny = 0;
  /** A bit for each neuron that has responded. */
  readonly #hasResponded: Uint32Array;
  /** A bit for each neuron that an input stimulates, except by background. */
  readonly #isStimulated: Uint32Array;
  /** Neurons that have an event of background in a trial, at most: it names very many, but few have one. */
  #stimulatedByBackground = 0;
  #isRunaway = false;

  /** @param reports the planned reports of condition.reports, in the same order */
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
    this.#isStimulated = new Uint32Array(this.#hasResponded.length);
    for (const { neurons, train } of condition.protocol.inputs) {
      if (train.kind === 'background') {
        const eventsOfNeuron = (train.rateHz * (train.endStep - train.startStep)) / STEPS_PER_S;
        const mean = neurons.length * (1 - exponentialDecay(eventsOfNeuron));
        this.#stimulatedByBackground = mean + MAX_DEVIATIONS * Math.sqrt(mean);
        continue;
      }
      for (const neuron of neurons) this.#isStimulated[neuron >>> 5]! |= 1 << (neuron & 31);
    }
    if (condition.countsAll) this.#spikesOfAll = new Uint32Array(connectome.neuronCount);
  }

  /**
   * @param trial greater than that of the call before
   * @param keepsRows whether tables keep the rows of this trial
   */
  add(trial: number, trialResult: TrialResult, keepsRows: boolean): void {
    this.#spikes.push(trialResult.spikes);
    this.#responding.push(trialResult.responding);
    this.#inputEvents += trialResult.inputEvents;
    this.#synapticEvents += trialResult.synapticEvents;
    if (trialResult.stoppedAtStep !== undefined) {
      this.#stoppedAtStep = Math.min(trialResult.stoppedAtStep, this.#stoppedAtStep ?? Infinity);
    }
    this.#reports.forEach((report, at) => report.add(trial, trialResult.reports[at]!, keepsRows));
    const { counts, responders } = trialResult;
    this.#addResponders(counts?.neurons ?? responders!);
    counts?.neurons.forEach((neuron, at) => (this.#spikesOfAll![neuron]! += counts.spikes[at]!));
  }

  #addResponders(neurons: Uint32Array): void {
    const [has, isStimulated] = [this.#hasResponded, this.#isStimulated];
    let recruited = 0;
    // A loop by number, for speed: runaway activity has 100,000 responders.
    for (let at = 0; at < neurons.length; at++) {
      const neuron = neurons[at]!;
      const [word, bit] = [neuron >>> 5, 1 << (neuron & 31)];
      if ((has[word]! & bit) === 0) this.#respondingInAny++;
      has[word]! |= bit;
      if ((isStimulated[word]! & bit) === 0) recruited++;
    }
    const most = maxRecruited(this.plan.connectome.neuronCount) + this.#stimulatedByBackground;
    if (recruited > most) this.#isRunaway = true;
  }

  result(): RunConditionResult {
    const { cell, parameters, protocol } = this.condition;
    const synapticEvents = this.#synapticEvents;
    return {
      kind: 'run',
      counts: {
        index: cell,
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
        isRunaway: this.#isRunaway,
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
