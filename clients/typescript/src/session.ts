import type { components, operations } from './api-v2.js';
import type { ExperimentDocument } from './experiment-run.js';
import { jsonBody, withQuery, type RequestOptions, type Requests } from './requests.js';
import { ServiceError } from './service-error.js';

type Schemas = components['schemas'];
type BodyOf<Name extends 'stepSession' | 'branchSession'> = NonNullable<
  operations[Name]['requestBody']
>['content']['application/json'];
type Step = BodyOf<'stepSession'>;

/** Rates and silences that hold from a moment on. */
export type SessionChanges = BodyOf<'branchSession'>;
/** A step, with what happened in it. */
export type StepAnswer = Schemas['StepAnswer'];

export interface StepOptions extends RequestOptions {
  /** Asks for the drives of an animated body. */
  readonly drive?: boolean;
}

const SESSIONS = '/api/v2/sessions';
/** Where the caller says nothing: long enough for a service that is replaced. */
const WAIT_AT_MOST_S = 30;
/** So many steps are repeated at most where a session has to be opened again. */
const STEPS_KEPT = 500;

/**
 * A brain that goes on, step by step. Where the service has lost it, because it was restarted or another replica answers,
 * it is opened again from its document and the steps since: what it does from then on is the same, spike for spike.
 */
export class Session {
  readonly #requests: Requests;
  #path = '';
  #tMs = 0;
  /** The session as it was when the first of the kept steps began. */
  #document: ExperimentDocument;
  #steps: Step[] = [];
  /** Changes of a branch: they hold from its first step on. */
  #changes: SessionChanges = {};

  private constructor(requests: Requests, document: ExperimentDocument) {
    this.#requests = requests;
    this.#document = document;
  }

  /** See NeuralExperimentClient.openSession. */
  static async open(
    requests: Requests,
    document: ExperimentDocument,
    options: RequestOptions,
  ): Promise<Session> {
    const session = new Session(requests, document);
    await session.#open(options);
    return session;
  }

  /** Where it is, in ms from its start. */
  get tMs(): number {
    return this.#tMs;
  }

  /**
   * Goes on. Steps are taken one after another: await each.
   * @param changes hold from the beginning of the step on
   * @throws ServiceError where the service refuses; what fetch throws where nothing answers for `waitAtMostS`, 30 s
   */
  async step(
    durationMs: number,
    changes: SessionChanges = {},
    options: StepOptions = {},
  ): Promise<StepAnswer> {
    const step = { t_ms: this.#tMs, duration_ms: durationMs, ...this.#changes, ...changes };
    const answer = await this.#whereverItIs(options, (left) => this.#send(step, left, options.drive));
    this.#changes = {};
    this.#tMs = answer.t_ms;
    this.#steps.push(step);
    if (this.#steps.length >= STEPS_KEPT) await this.document(options);
    return answer;
  }

  /** The session so far as an experiment: `runExperiment` gives the same spikes, `openSession` goes on where it ends. */
  async document(options: RequestOptions = {}): Promise<ExperimentDocument> {
    const ask = (left: RequestOptions) =>
      this.#requests.json<ExperimentDocument>(`${this.#path}/document`, {}, left, ['inputs']);
    this.#document = await this.#whereverItIs(options, ask);
    this.#steps = [];
    return this.#document;
  }

  /** A second session that goes on from here by itself. */
  async branch(changes: SessionChanges = {}, options: RequestOptions = {}): Promise<Session> {
    const branch = new Session(this.#requests, this.#document);
    const { session } = await this.#whereverItIs(options, (left) =>
      this.#requests.json<Schemas['Session']>(`${this.#path}/branches`, jsonBody(changes), left, ['session']),
    );
    branch.#path = `${SESSIONS}/${session}`;
    branch.#tMs = this.#tMs;
    branch.#steps = [...this.#steps];
    branch.#changes = { ...this.#changes, ...changes };
    return branch;
  }

  /** Ends it, if the service still has it. */
  async end(options: RequestOptions = {}): Promise<void> {
    try {
      await this.#requests.json(this.#path, { method: 'DELETE' }, options);
    } catch (error) {
      if (!hasEnded(error)) throw error;
    }
  }

  async #open(options: RequestOptions): Promise<void> {
    const { session, t_ms: tMs } = await this.#requests.json<Schemas['Session']>(
      SESSIONS,
      jsonBody(this.#document),
      options,
      ['session', 't_ms'],
    );
    this.#path = `${SESSIONS}/${session}`;
    this.#tMs = tMs;
  }

  #send(step: Step, options: RequestOptions, drive?: boolean): Promise<StepAnswer> {
    const path = withQuery(`${this.#path}/steps`, { drive: drive || undefined });
    return this.#requests.json(path, jsonBody(step), options, ['t_ms', 'reports']);
  }

  /** Asks what may be asked twice, and opens the session again where it has been lost. */
  async #whereverItIs<T>(options: RequestOptions, ask: (options: RequestOptions) => Promise<T>): Promise<T> {
    return this.#requests.untilAnswered({ waitAtMostS: WAIT_AT_MOST_S, ...options }, async (left) => {
      try {
        return await ask(left);
      } catch (error) {
        if (!hasEnded(error)) throw error;
        await this.#open(left);
        for (const step of this.#steps) this.#tMs = (await this.#send(step, left)).t_ms;
        return ask(left);
      }
    });
  }
}

function hasEnded(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SESSION_ENDED';
}
