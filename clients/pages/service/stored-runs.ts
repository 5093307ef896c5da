/**
 * One run of each stimulus, which the service computes once and stores. Showing it does not count against the user's
 * rate limit. The runs are of the served model.
 */
import { getOrBegin } from '../../../src/engine/get-or-insert.js';
import { checkBrain, fetchJson, type FullRun, type Model } from './client.js';
import { DEFAULT_EXPERIMENT, equal, type Experiment } from './experiment.js';
import { type Run, runOf } from './run-result.js';

export class StoredRuns {
  readonly #runs = new Map<string, Promise<Run>>();

  constructor(readonly model: Model) {}

  /** True if the service stores the run of an experiment: a stimulus with all defaults. */
  has(experiment: Experiment): boolean {
    const { stimulus } = experiment;
    const isOffered = stimulus === 'none' || this.model.stimuli.some(({ id }) => id === stimulus);
    // A link may have unknown fields, which the service must refuse.
    const isKnown = Object.keys(experiment).every((name) => Object.hasOwn(DEFAULT_EXPERIMENT, name));
    return isOffered && isKnown && equal(experiment, { ...DEFAULT_EXPERIMENT, stimulus });
  }

  /** @throws ServiceFailure or ServiceError if there is no such run, or if it is of another model */
  of(stimulus: string): Promise<Run> {
    return getOrBegin(this.#runs, stimulus, async () => {
      const response = await fetchJson<FullRun>(`/runs/${this.model.connectome_digest}/${stimulus}`);
      checkBrain(response, this.model);
      return runOf(response);
    });
  }
}
