import type { components, operations } from './api-v2.js';
import type { ExperimentDocument } from './experiment-run.js';
import { linesOf } from './lines.js';
import { jsonBody, withQuery, type RequestOptions, type Requests } from './requests.js';
import { ServiceError } from './service-error.js';

type Schemas = components['schemas'];
type BodyOf<Name extends 'stepSession' | 'branchSession'> = NonNullable<
  operations[Name]['requestBody']
>['content']['application/json'];
export type Step = BodyOf<'stepSession'>;

/** Rates and silences that hold from a moment on. */
export type SessionChanges = BodyOf<'branchSession'>;
/** The result of a step. */
export type StepAnswer = Schemas['StepAnswer'];

export interface StepOptions extends RequestOptions {
  /** True to get the drives of an animated body. */
  readonly drive?: boolean;
}

interface AskedStep {
  readonly step: Step;
  readonly drive?: boolean | undefined;
}

const SESSIONS = '/api/v2/sessions';
/** Default of `waitAtMostS`: long enough for a restart of the service. */
const WAIT_AT_MOST_S = 30;
/** Statuses that speak of the step itself: it is invalid, too expensive, too large or not the next one. */
const REFUSES_STEP: readonly number[] = [400, 409, 413, 422];
/** Twice the interval at which the service sends a line to the watchers of a quiet session. */
const MIN_WATCH_TIMEOUT_MS = 30_000;
/** Number of steps to repeat at most when a session is opened again, unless its document could not be had. */
const STEPS_KEPT = 500;

/**
 * A brain that advances step by step. The service may lose it after a restart, or another replica may answer. The
 * client then opens it again from its document and the steps since, which gives the same spikes.
 */
export class Session {
  readonly #requests: Requests;
  #path = '';
  #tMs = 0;
  /** The session before the first of the stored steps. */
  #document: ExperimentDocument;
  #steps: Step[] = [];
  /** Changes of a branch, which apply from its first step on. */
  #changes: SessionChanges = {};
  /** A step whose answer did not arrive. The service computes it all the same. */
  #unanswered: AskedStep | undefined;
  /** True once this program has ended it. */
  #isEnded = false;

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

  /** Name by which `watchSession` finds it. It is another one after the service has lost the session. */
  get name(): string {
    return this.#path.slice(SESSIONS.length + 1);
  }

  /** Time since the start of the session, in ms. */
  get tMs(): number {
    return this.#tMs;
  }

  /**
   * Advances the session. Await each step before the next one. A step whose answer does not arrive, because it was
   * aborted or nothing answers, is taken all the same: the next call goes on after it.
   * @param changes apply from the beginning of the step on
   * @throws ServiceError if the service refuses; the error of fetch if nothing answers for `waitAtMostS`, by default 30
   *   s
   */
  async step(
    durationMs: number,
    changes: SessionChanges = {},
    options: StepOptions = {},
  ): Promise<StepAnswer> {
    const stored = this.#steps.length;
    await this.#takeUnanswered(options);
    const step = { t_ms: this.#tMs, duration_ms: durationMs, ...merged(this.#changes, changes) };
    const answer = await this.#take({ step, drive: options.drive }, options);
    // The step counts, also if this request fails.
    if (Math.floor(this.#steps.length / STEPS_KEPT) > Math.floor(stored / STEPS_KEPT)) {
      const { signal } = options;
      await this.document({ waitAtMostS: 0, ...(signal && { signal }) }).catch(() => undefined);
    }
    return answer;
  }

  /** The session so far as a document. `runExperiment` gives the same spikes; `openSession` continues at its end. */
  async document(options: RequestOptions = {}): Promise<ExperimentDocument> {
    await this.#takeUnanswered(options);
    const ask = (left: RequestOptions) =>
      this.#requests.json<ExperimentDocument>(`${this.#path}/document`, {}, left, ['inputs']);
    this.#document = await this.#whereverItIs(options, ask, true);
    this.#steps = [];
    return this.#document;
  }

  /** A second, independent session that continues from here. */
  async branch(changes: SessionChanges = {}, options: RequestOptions = {}): Promise<Session> {
    await this.#takeUnanswered(options);
    const branch = new Session(this.#requests, this.#document);
    // If the service has lost this session, it knows nothing of changes before the next step.
    branch.#changes = merged(this.#changes, changes);
    branch.#path = await this.#whereverItIs(options, (left) =>
      this.#branched(this.#path, branch.#changes, left),
    );
    branch.#tMs = this.#tMs;
    branch.#steps = [...this.#steps];
    return branch;
  }

  /** Ends it, if the service still has it. Later calls, except `end`, throw a ServiceError with code SESSION_ENDED. */
  async end(options: RequestOptions = {}): Promise<void> {
    this.#isEnded = true;
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

  /** @returns path of the new session */
  async #branched(path: string, changes: SessionChanges, options: RequestOptions): Promise<string> {
    const { session } = await this.#requests.json<Schemas['Session']>(
      `${path}/branches`,
      jsonBody(changes),
      options,
      ['session'],
    );
    return `${SESSIONS}/${session}`;
  }

  /** An unanswered step is asked for with the same `drive`. Otherwise the service would take it for another one. */
  async #take(asked: AskedStep, options: RequestOptions): Promise<StepAnswer> {
    const { step, drive } = asked;
    let mayBeComputed = this.#unanswered !== undefined;
    try {
      const answer = await this.#whereverItIs(options, (left) =>
        this.#send(step, left, drive).catch((error: unknown) => {
          mayBeComputed ||= !isRefusal(error);
          throw error;
        }),
      );
      this.#changes = {};
      this.#unanswered = undefined;
      this.#tMs = answer.t_ms;
      this.#steps.push(step);
      return answer;
    } catch (error) {
      // A later try may be refused for another reason than the step, for example because an allowance is spent.
      const isKept = !isRefusal(error) || (mayBeComputed && !REFUSES_STEP.includes(error.status!));
      this.#unanswered = isKept ? asked : undefined;
      throw error;
    }
  }

  async #takeUnanswered(options: RequestOptions): Promise<void> {
    if (this.#unanswered !== undefined) await this.#take(this.#unanswered, options);
  }

  #send(step: Step, options: RequestOptions, drive?: boolean): Promise<StepAnswer> {
    const path = withQuery(`${this.#path}/steps`, { drive: drive || undefined });
    return this.#requests.json(path, jsonBody(step), options, ['t_ms', 'reports']);
  }

  /**
   * Sends a repeatable request, and opens the session again if the service has lost it.
   * @param needsChanges true if the answer depends on changes that are sent with the next step
   */
  async #whereverItIs<T>(
    options: RequestOptions,
    ask: (options: RequestOptions) => Promise<T>,
    needsChanges = false,
  ): Promise<T> {
    return this.#requests.untilAnswered({ waitAtMostS: WAIT_AT_MOST_S, ...options }, async (left) => {
      if (this.#isEnded) throw endedHere();
      try {
        return await ask(left);
      } catch (error) {
        if (!hasEnded(error) || this.#isEnded) throw error;
        const [path, tMs] = [this.#path, this.#tMs];
        try {
          await this.#open(left);
          for (const step of this.#steps) this.#tMs = (await this.#send(step, left)).t_ms;
          if (needsChanges && Object.keys(this.#changes).length > 0) await this.#change(left);
          if (this.#isEnded) {
            await this.end(left).catch(() => undefined);
            throw endedHere();
          }
        } catch (failure) {
          // The next request finds it lost again, and not without its last steps and changes.
          [this.#path, this.#tMs] = [path, tMs];
          throw failure;
        }
        return ask(left);
      }
    });
  }

  /** Goes on in a branch with the changes, because a session takes changes only with a step. */
  async #change(options: RequestOptions): Promise<void> {
    const path = this.#path;
    this.#path = await this.#branched(path, this.#changes, options);
    // If this fails, the service ends it after a while.
    await this.#requests.json(path, { method: 'DELETE' }, options).catch(() => undefined);
  }
}

/** See NeuralExperimentClient.watchSession. */
export async function* stepsOf(
  requests: Requests,
  name: string,
  options: RequestOptions,
): AsyncGenerator<StepAnswer, void, void> {
  const path = `${SESSIONS}/${encodeURIComponent(name)}/events`;
  const response = await requests.begun(path, {}, options, { mediaType: 'text/event-stream' });
  let event = '';
  // The lines of the service keep a quiet session from a timeout.
  for await (const line of linesOf(response, Math.max(requests.timeoutMs, MIN_WATCH_TIMEOUT_MS))) {
    const [, field, text] = /^(event|data): (.*)$/.exec(line) ?? [];
    if (field === 'event') event = text!;
    else if (field === 'data' && event === 'step') yield JSON.parse(text!) as StepAnswer;
    else if (field === 'data' && event === 'end') return;
  }
  throw new ServiceError(undefined, 'The events ended before the session did.');
}

/** Later changes after earlier ones: rates by the name of their input, a silence in place of the one before. */
function merged(earlier: SessionChanges, later: SessionChanges): SessionChanges {
  const rates = { ...earlier.rates_hz, ...later.rates_hz };
  return { ...earlier, ...later, ...(Object.keys(rates).length > 0 && { rates_hz: rates }) };
}

/** True if the service itself has answered. */
function isRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && !error.isOfGateway;
}

function endedHere(): ServiceError {
  return new ServiceError(undefined, 'This program has ended the session.', { code: 'SESSION_ENDED' });
}

function hasEnded(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SESSION_ENDED';
}
