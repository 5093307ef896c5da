/** All sessions of a service: who may have how many, and how long they are kept. */
import { Subject } from 'rxjs';
import { CodedError, queueFull } from '../errors.js';
import { ClientShares, placesFor } from '../scheduling/client-shares.js';
import type { Session } from './session.js';

/** Others end theirs, or forget them. */
const RETRY_AFTER_S = 10;

export interface SessionBounds {
  readonly sessionsPerClient: number;
  readonly sessionsPerWorker: number;
  readonly sessionIdleMs: number;
}

/** A step that was answered. */
export interface StepReport {
  readonly durationMs: number;
  /** From its arrival to its answer. */
  readonly tookMs: number;
}

interface Kept {
  readonly session: Session;
  readonly idle: NodeJS.Timeout;
  readonly onEnd: () => void;
}

export class Sessions {
  /** Steps that were answered, for the metrics; the controller reports them. */
  readonly steps = new Subject<StepReport>();
  readonly #kept = new Map<string, Kept>();
  readonly #shares = new ClientShares();

  constructor(private readonly bounds: SessionBounds) {}

  get count(): number {
    return this.#kept.size;
  }

  /**
   * @param workers that compute sessions
   * @returns what gives the place back; may be called more than once
   * @throws CodedError QUEUE_FULL
   */
  admit(client: string, workers: number): () => void {
    const { sessionsPerClient, sessionsPerWorker } = this.bounds;
    const ofClient = this.#shares.of(client);
    if (ofClient >= sessionsPerClient) {
      throw queueFull(`${sessionsPerClient} sessions of this client are open`, RETRY_AFTER_S);
    }
    if (this.#shares.ofAll >= placesFor(ofClient, sessionsPerWorker * workers)) {
      throw queueFull(`${this.#shares.ofAll} sessions are open`, RETRY_AFTER_S);
    }
    return this.#shares.take(client, 1);
  }

  /** @param onEnd called once when it has ended, however that was: it gives back the place that admit took */
  keep(session: Session, onEnd: () => void): void {
    const idle = setTimeout(() => {
      if (session.isUnderWay) idle.refresh();
      else this.end(session);
    }, this.bounds.sessionIdleMs).unref();
    this.#kept.set(session.name, { session, idle, onEnd });
  }

  /** @throws CodedError SESSION_ENDED */
  find(name: string): Session {
    const kept = this.#kept.get(name);
    if (kept === undefined) throw ended();
    return kept.session;
  }

  /** It was asked for a step. */
  touch({ name }: Session): void {
    this.#kept.get(name)?.idle.refresh();
  }

  end(session: Session): void {
    const kept = this.#kept.get(session.name);
    if (kept === undefined) return;
    this.#kept.delete(session.name);
    clearTimeout(kept.idle);
    session.end(ended());
    kept.onEnd();
  }
}

function ended(): CodedError {
  return new CodedError(
    'SESSION_ENDED',
    'There is no such session: it has ended, or another replica has it. To go on, send its document to POST ' +
      '/api/v2/sessions: with its duration_ms the new session begins where that one was.',
  );
}
