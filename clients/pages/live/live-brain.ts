/**
 * Runs a session in real time for a live fly. It advances while the user acts or the brain is active, and pauses after
 * that.
 */
import {
  type ExperimentDocument,
  type NeuralExperimentClient,
  type RequestOptions,
  ServiceError,
  type Session,
  type SessionChanges,
  type StepAnswer,
} from '#client';

/** Length of a step in real time, and in slow motion or if the brain is in this tab and the page keeps up. */
const [STEP_MS, SHORT_STEP_MS] = [40, 20];
/** Without a spike and an action for this time, the brain is at rest. */
const QUIET_MS = 80;
/** If the brain stays active for this time after the last action, the session ends. */
const ALONE_MS = 1500;
/** A session at rest stays open for this time, so that the next action continues it. */
const KEPT_MS = 30_000;
const PATIENCE_S = 2;
/** Weight of a new step in the running mean of lateness. */
const LATE_SHARE = 0.2;

export interface Step {
  readonly answer: StepAnswer;
  /** The same step of the second brain, if there is one. */
  readonly lesioned: StepAnswer | undefined;
  readonly durationMs: number;
  /** Time for which it is visible, in ms of the page. */
  readonly shownMs: number;
  /** True if the brain in this tab has computed it. */
  readonly isHere: boolean;
}

export interface LiveBrainListener {
  /** @returns changes for the next step, types that are silent in a second brain, and whether the user acts during it */
  sense(stepMs: number): {
    readonly changes: SessionChanges;
    readonly lesion?: readonly string[];
    readonly isActing: boolean;
  };
  onStep(step: Step): void;
  /** Called if the service has no room for the second brain, so the step is that of one. */
  onOne(): void;
  /** Called if it pauses: at rest, active without actions, at the maximum length of a session, or after an error. */
  onPause(why: 'rest' | 'alone' | 'full' | { readonly error: unknown }): void;
}

export class LiveBrain {
  /** Brain time for each ms of the page. */
  speed = 1;
  /** Mean lateness of steps, in ms of the page. */
  lateMs = 0;
  #session: Session | undefined;
  /** A branch of the session in which some types are silent. A step then costs twice as much. */
  #lesioned: Session | undefined;
  #experiment: ExperimentDocument | undefined;
  #underWay: Promise<void> | undefined;
  #mayGoOn = false;
  /** Number of calls that wait for the current step and then do something without the session's next one. */
  #pauses = 0;
  /** True if the user acted meanwhile. */
  #isWanted = false;
  /** True if the user acted since the current step began. */
  #wasWoken = false;
  #leaving = new AbortController();
  #kept: ReturnType<typeof setTimeout> | undefined;

  /**
   * @param document a session's document, without members that steps change
   * @param isHere tells whether a session of this name is in this tab
   */
  constructor(
    private readonly client: Pick<NeuralExperimentClient, 'openSession'>,
    private document: ExperimentDocument,
    private readonly listener: LiveBrainListener,
    private readonly isHere: (name: string) => boolean = () => false,
  ) {}

  /** True if there is a session; the next action then belongs to the same experiment. */
  get isOpen(): boolean {
    return this.#session !== undefined;
  }

  /** Continues the session, or opens one, unless it is running. */
  wake(): void {
    this.#isWanted = this.#pauses > 0;
    if (this.#isWanted) return;
    clearTimeout(this.#kept);
    this.#mayGoOn = this.#wasWoken = true;
    this.#underWay ??= this.#goOn().finally(() => (this.#underWay = undefined));
  }

  /**
   * The experiment so far, or the last one; undefined if there was none. Of two brains it is the one in which types are
   * silent.
   */
  async experiment(): Promise<ExperimentDocument | undefined> {
    await this.#pausing(() => this.#keepExperiment());
    return this.#experiment;
  }

  /**
   * Ends the session and stores its experiment.
   * @param next document of the next session, if it is another one; of overlapping calls, the last one decides
   */
  async end(next = this.document): Promise<void> {
    clearTimeout(this.#kept);
    this.#isWanted = false;
    // No session opens before the end, so another call already finds this document.
    this.document = next;
    await this.#pausing(async () => {
      await this.#keepExperiment().catch(() => undefined);
      await this.#close();
    });
  }

  /** Ends the session at once, when the user leaves the page. */
  leave(): void {
    clearTimeout(this.#kept);
    this.#mayGoOn = this.#isWanted = false;
    this.#leaving.abort();
    this.#leaving = new AbortController();
    void this.#close();
  }

  /** Does something between two steps. If the user acts meanwhile, the brain goes on after it. */
  async #pausing(work: () => Promise<void>): Promise<void> {
    this.#pauses++;
    this.#mayGoOn = false;
    try {
      await this.#underWay;
      await work();
    } finally {
      this.#pauses--;
      if (this.#pauses === 0 && this.#isWanted) this.wake();
    }
  }

  async #close(): Promise<void> {
    const open = [this.#session, this.#lesioned];
    this.#session = this.#lesioned = undefined;
    await Promise.all(open.map((each) => each?.end().catch(() => undefined)));
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
        // A page that draws slowly would take short steps even later.
        const isHere = this.isHere(this.#session.name);
        const isQuick = isHere && this.lateMs < SHORT_STEP_MS;
        const durationMs = this.speed < 1 || isQuick ? SHORT_STEP_MS : STEP_MS;
        this.#wasWoken = false;
        const { changes, lesion = [], isActing } = this.listener.sense(durationMs);
        const options = { drive: true, waitAtMostS: PATIENCE_S, signal: this.#leaving.signal };
        if (lesion.length > 0) this.#lesioned ??= await this.#branch(this.#session, options);
        else if (this.#lesioned !== undefined) void this.#endLesioned();
        const [answer, lesioned] = await Promise.all([
          this.#session.step(durationMs, changes, options),
          this.#lesioned?.step(durationMs, { ...changes, silence: [...lesion] }, options),
        ]);
        const shownMs = durationMs / this.speed;
        this.listener.onStep({ answer, lesioned, durationMs, shownMs, isHere });
        const spikes = answer.spikes + (lesioned?.spikes ?? 0);
        quietMs = isActing || spikes > 0 ? 0 : quietMs + durationMs;
        aloneMs = isActing ? 0 : aloneMs + durationMs;
        if (quietMs >= QUIET_MS && !this.#wasWoken) return this.#stop('rest', KEPT_MS);
        if (aloneMs >= ALONE_MS && !this.#wasWoken) return this.#stop('alone', 0);
        // After a late step, time slows down instead of catching up. Only one request is in progress.
        dueMs += shownMs;
        const late = Math.max(0, performance.now() - dueMs);
        dueMs += late;
        this.lateMs += (late - this.lateMs) * LATE_SHARE;
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
      }
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'SESSION_FULL') return this.#stop('full', 0);
      void this.#close();
      if (this.#mayGoOn) this.listener.onPause({ error });
    }
  }

  /** @returns undefined if the service has no room for a second session */
  async #branch(session: Session, options: RequestOptions): Promise<Session | undefined> {
    try {
      return await session.branch({}, options);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'QUEUE_FULL') throw error;
      this.listener.onOne();
      return undefined;
    }
  }

  async #endLesioned(): Promise<void> {
    const lesioned = this.#lesioned;
    this.#lesioned = undefined;
    await lesioned?.end().catch(() => undefined);
  }

  /** Pauses, and ends the session later unless it continues. */
  #stop(why: 'rest' | 'alone' | 'full', endsInMs: number): void {
    this.#kept = setTimeout(() => void this.end(), endsInMs);
    this.listener.onPause(why);
  }

  async #keepExperiment(): Promise<void> {
    const session = this.#lesioned ?? this.#session;
    if (session === undefined || session.tMs === 0) return;
    this.#experiment = await session.document({ waitAtMostS: PATIENCE_S });
  }
}
