/** All sessions of the service: their limits, their expiry and their payments. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Subject } from 'rxjs';
import { CodedError, errorBody, queueFull } from '../../engine/errors.js';
import { finite } from '../../engine/finite.js';
import type { Session } from '../../experiments/sessions/session.js';
import { LastStep } from '../../experiments/sessions/step.js';
import { ClientShares } from '../../workers/queue/client-shares.js';
import { serverSentEvent, SessionEvents } from './session-events.js';
import { SessionMemory } from './session-memory.js';
import type { LoadedModel } from '../health/model-health.js';
import type { BrainBudget, Charge } from '../limits/brain-budget.js';
import { clientOf } from '../limits/client-address.js';
import type { Limits } from '../limits/limits.js';

/** Other clients end their sessions or let them expire. */
const RETRY_AFTER_S = 10;
/** Steps are paid in advance in units of this length, so a shared store is not asked for each step. */
const PREPAID_MS = 1_000;

interface StoredSession {
  readonly served: ServedSession;
  readonly idle: NodeJS.Timeout;
  readonly leave: () => void;
}

export class Sessions {
  /** Answered steps, for metrics, with the time from the arrival of the request to the answer. */
  readonly steps = new Subject<{ readonly durationMs: number; readonly tookMs: number }>();
  readonly memory: SessionMemory;
  readonly #sessions = new Map<string, StoredSession>();
  readonly #shares = new ClientShares();
  readonly #watchers = new ClientShares();

  constructor(private readonly bounds: Limits) {
    this.memory = new SessionMemory(bounds);
  }

  get count(): number {
    return this.#sessions.size;
  }

  /**
   * @param workers number of workers that compute sessions
   * @returns a function that ends the admission; further calls do nothing
   * @throws CodedError QUEUE_FULL
   */
  admit(client: string, workers: number): () => void {
    const { sessionsPerClient, sessionsPerWorker } = this.bounds;
    const bounds = { ofClient: sessionsPerClient, ofAll: sessionsPerWorker * workers };
    return this.#shares.admit(client, 1, bounds, (open, whose) =>
      queueFull(`${open} sessions${whose} are open`, RETRY_AFTER_S),
    );
  }

  /**
   * @returns a function that ends the admission; further calls do nothing
   * @throws CodedError QUEUE_FULL
   */
  admitWatcher(client: string): () => void {
    const bounds = { ofClient: this.bounds.watchersPerClient, ofAll: this.bounds.watchers };
    return this.#watchers.admit(client, 1, bounds, (watching, whose) =>
      queueFull(`${watching} requests${whose} watch sessions`, RETRY_AFTER_S),
    );
  }

  /** @param leave called once when the session has ended for any reason; it gives its memory and admission back */
  keep(served: ServedSession, leave: () => void): void {
    const idle = setTimeout(() => {
      if (served.lastStep.isUnderWay) idle.refresh();
      else this.end(served);
    }, this.bounds.sessionIdleMs).unref();
    this.#sessions.set(served.session.name, { served, idle, leave });
  }

  /** @throws CodedError SESSION_ENDED */
  find(name: string): ServedSession {
    const stored = this.#sessions.get(name);
    if (stored === undefined) throw ended();
    return stored.served;
  }

  /** Restarts the idle timer, because a step was requested. */
  touch({ session }: ServedSession): void {
    this.#sessions.get(session.name)?.idle.refresh();
  }

  endAll(): void {
    for (const { served } of [...this.#sessions.values()]) this.end(served);
  }

  end(served: ServedSession): void {
    const { session } = served;
    const stored = this.#sessions.get(session.name);
    if (stored === undefined) return;
    this.#sessions.delete(session.name);
    clearTimeout(stored.idle);
    session.end(ended());
    served.endEvents(ended());
    stored.leave();
    void served.settle();
  }
}

/**
 * Returns the account of a client's sessions. It is separate from that of experiments, so an experiment cannot stop a
 * session for a minute.
 */
export function accountOf(request: FastifyRequest): string {
  return `sessions of ${clientOf(request)}`;
}

/** A session with its model, its payments and the step that its client asked for last. */
export class ServedSession {
  readonly lastStep = new LastStep();
  readonly #events = new Subject<Buffer>();
  /** Brain time that is paid and not used yet. */
  #creditMs = 0;
  /** The last payment, with the time that it paid for. */
  #payment: { readonly charge: Charge; readonly brainMs: number } | undefined;

  constructor(
    readonly session: Session,
    readonly model: LoadedModel,
    private readonly budget: BrainBudget,
  ) {}

  /**
   * Pays from the credit, and charges the client if it is too small.
   * @throws CodedError if the client's budget is used up
   */
  async pay(brainMs: number, reply: FastifyReply): Promise<void> {
    if (this.#creditMs < finite(brainMs)) {
      const paidMs = Math.ceil(Math.max(PREPAID_MS, brainMs - this.#creditMs));
      const charge = await this.budget.charge(accountOf(reply.request), paidMs, reply);
      this.#creditMs += paidMs;
      this.#payment = { charge, brainMs: paidMs };
    }
    this.#creditMs -= brainMs;
  }

  /**
   * Sends the state of the session, then each step as its client gets it.
   * @param status the state, in JSON
   */
  watch(status: string): SessionEvents {
    return new SessionEvents(serverSentEvent('session', status), this.#events);
  }

  /** @param answer the answer to a step, in JSON */
  showStep(answer: Uint8Array): void {
    // Encoded once for all watchers.
    if (this.#events.observed) this.#events.next(serverSentEvent('step', answer));
  }

  /** Tells watchers why nothing more comes. */
  endEvents(reason: CodedError): void {
    this.#events.next(serverSentEvent('end', JSON.stringify(errorBody(reason))));
    this.#events.complete();
  }

  refund(brainMs: number): void {
    this.#creditMs += finite(brainMs);
  }

  /** Refunds an unused payment, or charges unpaid use. Call this once, when the session has ended. */
  async settle(): Promise<void> {
    if (this.#payment === undefined) return;
    const { charge, brainMs } = this.#payment;
    await charge.settle(Math.max(0, brainMs - this.#creditMs));
  }
}

function ended(): CodedError {
  return new CodedError(
    'SESSION_ENDED',
    'There is no such session: it has ended, or another replica has it. To go on, send its document to POST ' +
      '/api/v2/sessions: with its duration_ms the new session begins where that one was.',
  );
}
