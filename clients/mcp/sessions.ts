/** The sessions that an agent has opened. They end with the connection, because nobody else knows their names. */
import type { Brain, BrainSession, ExperimentDocument, StepAnswer } from '#client';
import { CodedError, describeValue } from '../../src/engine/errors.js';

/** Longest wait for a service to end a session. */
const END_WITHIN_MS = 5_000;

type Step = Parameters<BrainSession['step']>[0];
/** A step of an agent begins where the session is, unless it says otherwise. */
export type AskedStep = Omit<Step, 't_ms'> & Partial<Pick<Step, 't_ms'>>;

/** A session and the time that it has reached. */
export type SessionTime = Pick<BrainSession['state'], 'session' | 't_ms'>;

interface Open {
  readonly session: BrainSession;
  tMs: number;
  /** Resolves after the last step that was asked for. A session computes one at a time. */
  idle: Promise<unknown>;
}

export class OpenSessions {
  readonly #byName = new Map<string, Open>();
  readonly #opening = new Set<Promise<BrainSession>>();

  constructor(private readonly brain: Brain) {}

  /** The signal does not abort the request, else a service would have a session that nobody ends. */
  async open(document: ExperimentDocument, signal: AbortSignal): Promise<BrainSession['state']> {
    const opening = this.brain.session(document);
    this.#opening.add(opening);
    try {
      const session = await opening;
      const { state } = session;
      this.#byName.set(state.session, { session, tMs: state.t_ms, idle: Promise.resolve() });
      if (signal.aborted) await this.end(state.session);
      return state;
    } finally {
      this.#opening.delete(opening);
    }
  }

  /** The signal aborts a step only before it begins. Later the time that the session has reached would be unknown. */
  async step(name: string, step: AskedStep, signal: AbortSignal): Promise<StepAnswer> {
    const open = this.#find(name);
    const answer = open.idle.then(() => {
      signal.throwIfAborted();
      return open.session.step({ t_ms: open.tMs, ...step }).catch((error) => this.#forgetLost(name, error));
    });
    open.idle = answer.then(
      ({ t_ms: reached }) => (open.tMs = reached),
      () => undefined,
    );
    return answer;
  }

  async end(name: string): Promise<SessionTime> {
    // A step that is under way would fail.
    await this.#find(name).idle;
    const open = this.#find(name);
    this.#byName.delete(name);
    await endSoon(open).catch((error) => this.#forgetLost(name, error));
    return { session: name, t_ms: open.tMs };
  }

  /** Ends all sessions, as far as the service still answers. Nobody waits for their steps any more. */
  async endAll(): Promise<void> {
    await Promise.allSettled(this.#opening);
    await Promise.allSettled([...this.#byName.values()].map(endSoon));
  }

  /** @throws the error, or CodedError with advice if the service has lost the session */
  #forgetLost(name: string, error: Error & { readonly code?: string }): never {
    if (error.code !== 'SESSION_ENDED') throw error;
    this.#byName.delete(name);
    throw new CodedError(
      'SESSION_ENDED',
      `The service has ended session ${describeValue(name)}: no step came for a while, or the service restarted. ` +
        'Call open_session with the same document and repeat the steps, which gives the same spikes.',
      { path: '/session' },
    );
  }

  #find(name: string): Open {
    const open = this.#byName.get(name);
    if (open !== undefined) return open;
    const names = [...this.#byName.keys()];
    const known = names.length === 0 ? 'none is open' : `open: ${names.join(', ')}`;
    throw new CodedError('SESSION_ENDED', `There is no session ${describeValue(name)} here; ${known}.`, {
      path: '/session',
      suggestions: names,
    });
  }
}

function endSoon({ session }: Open): Promise<void> {
  return session.end({ signal: AbortSignal.timeout(END_WITHIN_MS) });
}
