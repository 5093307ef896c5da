import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CodedError } from '../../../engine/errors.js';
import { sendingMs } from '../../../experiments/plan/prices.js';
import { Session } from '../../../experiments/sessions/session.js';
import type { Changes, StepRequest } from '../../../experiments/sessions/step.js';
import { inTurns } from '../../../experiments/run/turn.js';
import { type LoadedModel, ModelHealth } from '../../health/model-health.js';
import { clientGone, whenEnded, withoutIdleLimit } from '../../http/request-watch.js';
import { BrainBudget } from '../../limits/brain-budget.js';
import { siteOf } from '../../limits/client-address.js';
import { ClientTurns } from '../../limits/client-turns.js';
import { DOCUMENT_LIMIT_BYTES, Limits } from '../../limits/limits.js';
import type { SessionEvents } from '../../sessions/session-events.js';
import { accountOf, ServedSession, Sessions } from '../../sessions/sessions.js';
import { ExperimentsService } from './experiments.service.js';

export const SESSION_NAME_BYTES = 16;
/** Time to write answers of one client in a turn of the event loop. Others wait at most so long for each turn. */
const WRITING_MS = 1;
/** Pause between two such turns of a client around a run, which needs the event loop several times until it is answered. */
const PAUSE_MS = 4;
/** Time after a run in which its client may send the next one. */
const RUN_GAP_MS = 20;

function newName(): string {
  return randomBytes(SESSION_NAME_BYTES).toString('base64url');
}

/** A session that is being opened. */
interface Opening {
  /** Aborts if the client leaves or the service stops. */
  readonly signal: AbortSignal;
  /** Functions that give back the admission of the session and its memory. */
  readonly leaves: (() => void)[];
}

/** Opens and steps sessions: it lets the experiment thread plan their documents and silences, and charges clients. */
@Injectable()
export class SessionsService {
  /** Turns in which answers to steps are written. */
  readonly #writing = new ClientTurns(1, (next) => this.#afterRuns(next));
  #lastRunMs = -Infinity;

  constructor(
    private readonly sessions: Sessions,
    private readonly experiments: ExperimentsService,
    private readonly budget: BrainBudget,
    private readonly health: ModelHealth,
    private readonly limits: Limits,
  ) {}

  /** Opens a session with the document of the request, and simulates the document's duration. */
  async open(reply: FastifyReply): Promise<Session> {
    const { request } = reply;
    const plan = await this.experiments.planSession(request);
    const model = this.health.modelForRuns();
    const { connectome, queue } = model;
    const owner = siteOf(request);
    return this.#open(request, model, async ({ signal, leaves }) => {
      const [states, leaveMemory] = this.sessions.memory.open(owner, plan, queue.trialsAtOnce);
      leaves.push(leaveMemory);
      const charge =
        plan.priceMs > 0 ? await this.budget.charge(accountOf(request), plan.priceMs, reply) : undefined;
      const limits = { ...this.limits, documentBytes: DOCUMENT_LIMIT_BYTES };
      const runStep = queue.runStep.bind(queue);
      let startPriceMs = 0;
      const onStarted = (priceMs: number) => (startPriceMs = priceMs);
      const parts = { newName, states, connectome, runStep, owner, limits, onStarted };
      try {
        return await withoutIdleLimit(request, () => Session.open(parts, signal));
      } finally {
        // A session that cannot be had costs what was simulated for it.
        await charge?.settle(startPriceMs);
      }
    });
  }

  /** Opens a second session that continues from the state of this one. */
  async branch(served: ServedSession, changes: Changes, reply: FastifyReply): Promise<Session> {
    const { session } = served;
    const { request } = reply;
    return this.#open(request, this.health.modelForRuns(), ({ leaves }) => {
      leaves.push(session.enter(siteOf(request)));
      return this.#charging(session, reply, () => this.#changedBranch(served, changes, reply));
    });
  }

  async #changedBranch(
    { session, lastStep }: ServedSession,
    changes: Changes,
    reply: FastifyReply,
  ): Promise<Session> {
    lastStep.checkIsOver();
    const branch = session.branch();
    try {
      branch.change(changes, await this.#neuronsToSilence(branch, changes, reply));
      return branch;
    } catch (error) {
      branch.end(error as CodedError);
      throw error;
    }
  }

  /**
   * Computes a step. If the request repeats the current or last one, the answer is the same.
   * @returns the answer as JSON
   * @throws CodedError STEP_OUT_OF_ORDER, SESSION_FULL, INVALID_PARAMETER, RATE_LIMITED; failures of the trial
   */
  async step(
    served: ServedSession,
    request: StepRequest,
    readsDrives: boolean,
    reply: FastifyReply,
  ): Promise<Uint8Array> {
    // If the client leaves, the step goes on, because the client may repeat it.
    whenEnded(reply.request, this.health.beginTask());
    const { session, lastStep } = served;
    const known = lastStep.answerTo(request, readsDrives);
    if (known !== undefined) {
      const answer = await known;
      // Sending it takes time of the thread that serves runs.
      await served.pay(sendingMs(answer.length), reply);
      // The same bytes, but they count once more: the sockets of a client that does not read hold a copy for each.
      return Buffer.from(answer.buffer, answer.byteOffset, answer.length);
    }
    session.checkStep(request);
    lastStep.checkIsOver();
    const answer = await lastStep.remember(
      request,
      readsDrives,
      this.#compute(served, request, readsDrives, reply),
    );
    served.showStep(answer);
    return answer;
  }

  /**
   * Lets a request watch the steps of a session. It costs nothing and does not keep the session open.
   * @param status the state of the session, in JSON
   */
  watch(served: ServedSession, status: string, request: FastifyRequest): SessionEvents {
    const leave = this.sessions.admitWatcher(siteOf(request));
    const events = served.watch(status);
    // A shutdown waits for all requests, so a watcher must not outlast those that it waits for.
    const { ending } = this.health;
    const drain = () => served.endEvents(ending.reason as CodedError);
    ending.addEventListener('abort', drain);
    whenEnded(request, () => {
      leave();
      ending.removeEventListener('abort', drain);
      events.destroy();
    });
    return events;
  }

  /** @returns the session so far as a document, in JSON */
  async document({ session }: ServedSession, reply: FastifyReply): Promise<Uint8Array> {
    const write = () => this.experiments.sessionDocument(reply.request, () => session.document());
    return session.reading(() => this.#charging(session, reply, write));
  }

  /** @throws CodedError SESSION_ENDED, even if only its model is no longer served */
  find(name: string): ServedSession {
    const served = this.sessions.find(name);
    if (served.model !== this.health.model()) this.sessions.end(served);
    return this.sessions.find(name);
  }

  async #compute(
    served: ServedSession,
    request: StepRequest,
    readsDrives: boolean,
    reply: FastifyReply,
  ): Promise<Uint8Array> {
    const { session } = served;
    const owner = siteOf(reply.request);
    const neurons = await this.#neuronsToSilence(session, request, reply);
    const step = session.planStep(request, neurons);
    try {
      // Pays before a worker may get the step.
      await served.pay(step.priceMs, reply);
    } catch (error) {
      session.drop(step);
      throw error;
    }
    let priceMs = 0;
    try {
      const answered = await session.run(step, readsDrives, (writing) =>
        inTurns((part) => this.#writing.turn(owner, 1).then(part), writing, WRITING_MS),
      );
      priceMs = answered.priceMs;
      // All requests for this step share these bytes.
      return Buffer.from(answered.answer.buffer);
    } finally {
      served.refund(step.priceMs - priceMs);
    }
  }

  /** Calls the next turn of writing at once, or leaves more of the event loop to runs if there are any. */
  #afterRuns(next: () => void): void {
    const { state } = this.health;
    const nowMs = performance.now();
    if (state.name === 'ready' && state.model.queue.hasRuns) this.#lastRunMs = nowMs;
    if (nowMs - this.#lastRunMs < RUN_GAP_MS) setTimeout(next, PAUSE_MS);
    else setImmediate(next);
  }

  async #neuronsToSilence(session: Session, changes: Changes, reply: FastifyReply) {
    const silence = session.silenceToPlan(changes);
    if (silence === undefined) return undefined;
    const find = () => this.experiments.silencedNeurons(reply.request, silence);
    return session.reading(() => this.#charging(session, reply, find));
  }

  /** Charges work on the whole history of a session, by the size of its document. */
  #charging<T>(session: Session, reply: FastifyReply, work: () => Promise<T>): Promise<T> {
    return this.budget.paying(accountOf(reply.request), session.documentMs, reply, work);
  }

  /** Admits a session, which shutdown waits for and which ends if its client leaves, and keeps it. */
  async #open(
    request: FastifyRequest,
    model: LoadedModel,
    open: (opening: Opening) => Promise<Session>,
  ): Promise<Session> {
    const leaves = [this.sessions.admit(siteOf(request), model.queue.trialsAtOnce)];
    const leave = () => {
      for (const each of leaves) each();
    };
    const gone = new AbortController();
    const signal = AbortSignal.any([gone.signal, this.health.ending]);
    const endTask = this.health.beginTask();
    const stopListening = whenEnded(request, () => gone.abort(clientGone()));
    try {
      const session = await open({ signal, leaves });
      this.#checkIsWanted(session, model, signal);
      this.sessions.keep(new ServedSession(session, model, this.budget), leave);
      return session;
    } catch (error) {
      leave();
      throw error;
    } finally {
      stopListening();
      endTask();
    }
  }

  #checkIsWanted(session: Session, model: LoadedModel, signal: AbortSignal): void {
    try {
      signal.throwIfAborted();
      if (this.health.model() === model) return;
      const message = 'The model was loaded anew while the session was opened; try again.';
      throw new CodedError('MODEL_LOADING', message, { retryAfterS: 1 });
    } catch (error) {
      session.end(error as CodedError);
      throw error;
    }
  }
}
