/**
 * One run of each stimulus, which the service computes once and keeps: showing it costs none of the reader's runs. They
 * are of the model that is served.
 */
import { fetchJson, type FullRun, type Model, ServiceFailure } from './client.js';
import { DEFAULT_EXPERIMENT, equal, type Experiment } from './experiment.js';
import { type Run, runOf } from './run-result.js';

export class StoredRuns {
  readonly #runs = new Map<string, Promise<Run>>();

  constructor(private readonly model: Model) {}

  /** Tells whether the service keeps the run of an experiment: a stimulus with all defaults. */
  has(experiment: Experiment): boolean {
    const { stimulus } = experiment;
    const isOffered = stimulus === 'none' || this.model.stimuli.some(({ id }) => id === stimulus);
    // A link may hold fields that do not exist: the service has to say so.
    const isKnown = Object.keys(experiment).every((name) => name in DEFAULT_EXPERIMENT);
    return isOffered && isKnown && equal(experiment, { ...DEFAULT_EXPERIMENT, stimulus });
  }

  /** @throws ServiceFailure or ServiceError where there is none, or one of another model */
  async of(stimulus: string): Promise<Run> {
    let run = this.#runs.get(stimulus);
    if (run === undefined) {
      run = this.#load(stimulus);
      this.#runs.set(stimulus, run);
      run.catch(() => this.#runs.delete(stimulus));
    }
    return run;
  }

  async #load(stimulus: string): Promise<Run> {
    const response = await fetchJson<FullRun>(`/runs/${this.model.connectome_digest}/${stimulus}`);
    if (response.model !== this.model.id) {
      throw new ServiceFailure('failed', 'The service has another model now.');
    }
    return runOf(response);
  }
}
