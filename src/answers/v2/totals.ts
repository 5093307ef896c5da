import type { ExperimentPlan } from './plan.js';
import type { ConditionParameters, ExperimentTotals } from './result.js';
import { runawayWarning } from './warnings.js';

const MS_PER_SECOND = 1000;

/** What a condition adds to the totals. All numbers are whole, so the order of adding does not matter. */
export interface RunCost {
  readonly index: number;
  readonly brainMs: number;
  readonly inputEvents: number;
  readonly synapticEvents: number;
  readonly isRunaway: boolean;
}

/** Sums up what an answer says at its end. Conditions are added in the order of their index. */
export class TotalsSum {
  #brainMs = 0;
  #inputEvents = 0;
  #synapticEvents = 0;
  readonly #unchanged: ConditionParameters['parameters'][] = [];
  readonly #runaways: number[] = [];

  constructor(private readonly plan: Pick<ExperimentPlan, 'warnings' | 'cite'>) {}

  addRun({ index, brainMs, inputEvents, synapticEvents, isRunaway }: RunCost): void {
    this.#brainMs += brainMs;
    this.#inputEvents += inputEvents;
    this.#synapticEvents += synapticEvents;
    if (isRunaway) this.#runaways.push(index);
  }

  addUnchanged(parameters: ConditionParameters['parameters']): void {
    this.#unchanged.push(parameters);
  }

  totals(): ExperimentTotals {
    const warnings = [...this.plan.warnings];
    if (this.#runaways.length > 0) warnings.push(runawayWarning(this.#runaways));
    return {
      unchanged: this.#unchanged,
      cost: {
        brain_seconds: this.#brainMs / MS_PER_SECOND,
        input_events: this.#inputEvents,
        synaptic_events: this.#synapticEvents,
      },
      warnings,
      cite: this.plan.cite,
    };
  }
}
