/** A session as a live fly needs it: it goes on while something is done, rests when the brain does, and keeps its time. */
import {
  type ExperimentDocument,
  type NeuralExperimentClient,
  ServiceError,
  type Session,
  type SessionChanges,
  type StepAnswer,
} from '#client';

/** Steps in real time, and slowed down. */
const [STEP_MS, SLOW_STEP_MS] = [40, 20];
/** A brain without a spike for so long, and nothing done to it, is at rest. */
const QUIET_MS = 80;
/** A brain that goes on by itself for so long after the last that was done is ended. */
const ALONE_MS = 1500;
/** A session at rest is kept for so long, so that what is done next goes on with it. */
const KEPT_MS = 30_000;
const PATIENCE_S = 2;
/** Share of a late step in the mean that is told. */
const LATE_SHARE = 0.2;

export interface Step {
  readonly answer: StepAnswer;
  readonly durationMs: number;
  /** How long it is shown, in ms of the page. */
  readonly shownMs: number;
}

export interface LiveBrainListener {
  /** @returns what holds in the step that comes, and whether something is done in it */
  sense(stepMs: number): { readonly changes: SessionChanges; readonly isActing: boolean };
  onStep(step: Step): void;
  /** It does not go on: at rest, still firing by itself, as long as a session may be, or because of an error. */
  onPause(why: 'rest' | 'alone' | 'full' | { readonly error: unknown }): void;
}

export class LiveBrain {
  /** Brain time for each ms of the page. */
  speed = 1;
  /** By how many ms of the page a step is late, on average. */
  lateMs = 0;
  #session: Session | undefined;
  #experiment: ExperimentDocument | undefined;
  #underWay: Promise<void> | undefined;
  #mayGoOn = false;
  #isPausing = false;
  /** Something was done since the step under way began. */
  #wasWoken = false;
  #leaving = new AbortController();
  #kept: ReturnType<typeof setTimeout> | undefined;

  /** @param document one that a session may have, with no member that steps change */
  constructor(
    private readonly client: Pick<NeuralExperimentClient, 'openSession'>,
    private readonly document: ExperimentDocument,
    private readonly listener: LiveBrainListener,
  ) {}

  /** Tells whether there is a session, so that what is done next belongs to the same experiment. */
  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  /** Goes on with the session, or opens one, unless it does so already. */
  wake(): void {
    if (this.#isPausing) return;
    clearTimeout(this.#kept);
    this.#mayGoOn = this.#wasWoken = true;
    this.#underWay ??= this.#goOn().finally(() => (this.#underWay = undefined));
  }

  /** The experiment so far, or the last one; undefined where nothing has been done. */
  async experiment(): Promise<ExperimentDocument | undefined> {
    this.#isPausing = true;
    this.#mayGoOn = false;
    try {
      await this.#underWay;
      await this.#keepExperiment(this.#session);
    } finally {
      this.#isPausing = false;
    }
    return this.#experiment;
  }

  /** Ends the session. Its experiment is kept. */
  async end(): Promise<void> {
    clearTimeout(this.#kept);
    await this.experiment().catch(() => undefined);
    const session = this.#session;
    this.#session = undefined;
    await session?.end().catch(() => undefined);
  }

  /** Ends the session at once, of a page that is being left. */
  leave(): void {
    clearTimeout(this.#kept);
    this.#mayGoOn = false;
    this.#leaving.abort();
    this.#leaving = new AbortController();
    void this.#session?.end().catch(() => undefined);
    this.#session = undefined;
  }

  async #goOn(): Promise<void> {
    let [quietMs, aloneMs] = [0, 0];
    try {
      this.#session ??= await this.client.openSession(this.document, {
        waitAtMostS: PATIENCE_S,
        signal: this.#leaving.signal,
      });
      let dueMs = performance.now();
      while (this.#mayGoOn) {
        const durationMs = this.speed < 1 ? SLOW_STEP_MS : STEP_MS;
        this.#wasWoken = false;
        const { changes, isActing } = this.listener.sense(durationMs);
        const options = { drive: true, waitAtMostS: PATIENCE_S, signal: this.#leaving.signal };
        const answer = await this.#session.step(durationMs, changes, options);
        const shownMs = durationMs / this.speed;
        this.listener.onStep({ answer, durationMs, shownMs });
        quietMs = isActing || answer.spikes > 0 ? 0 : quietMs + durationMs;
        aloneMs = isActing ? 0 : aloneMs + durationMs;
        if (quietMs >= QUIET_MS && !this.#wasWoken) return this.#stop('rest', KEPT_MS);
        if (aloneMs >= ALONE_MS && !this.#wasWoken) return this.#stop('alone', 0);
        // After a late step time passes more slowly: nothing is caught up with, and one request is on its way.
        dueMs += shownMs;
        const late = Math.max(0, performance.now() - dueMs);
        dueMs += late;
        this.lateMs += (late - this.lateMs) * LATE_SHARE;
        await new Promise((resolve) => setTimeout(resolve, dueMs - performance.now()));
      }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'SESSION_FULL') return this.#stop('full', 0);
      void this.#session?.end().catch(() => undefined);
      this.#session = undefined;
      if (this.#mayGoOn) this.listener.onPause({ error });
    }
  }

  /** Pauses, and ends the session later, when nothing goes on any more. */
  #stop(why: 'rest' | 'alone' | 'full', endsInMs: number): void {
    this.#kept = setTimeout(() => void this.end(), endsInMs);
    this.listener.onPause(why);
  }

  async #keepExperiment(session: Session | undefined): Promise<void> {
    if (session === undefined || session.tMs === 0) return;
    this.#experiment = await session.document({ waitAtMostS: PATIENCE_S });
  }
}
