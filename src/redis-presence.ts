/** Tells whether a Redis does what it is there for: what every connection says when it goes and when it is back. */
import type { RedisOptions } from 'ioredis';

const CONNECT_WITHIN_MS = 2_000;
/** How often an unavailable Redis is retried. */
const RETRY_MS = 500;

/** Options of connections that come back by themselves. */
export const RECONNECTING: RedisOptions = {
  connectTimeout: CONNECT_WITHIN_MS,
  retryStrategy: () => RETRY_MS,
  // This was the master until a failover; only a new connection finds the new one.
  reconnectOnError: ({ message }) => message.includes('READONLY'),
};

/** Options of connections whose commands fail at once where Redis is away: they neither wait nor are sent later. */
export const FAILING_AT_ONCE: RedisOptions = {
  ...RECONNECTING,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

export interface PresenceListener {
  /**
   * Redis is unreachable or refuses commands, or does so for another reason than before.
   * @param reason may be published: it names no user and no key
   */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

export class RedisPresence {
  #reason: string | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param probe resolves where Redis is there; asked again and again while it is away
   * @param watchEveryMs how often it is asked while Redis is there; by default only failures of commands tell
   */
  constructor(
    private readonly probe: () => Promise<unknown>,
    private readonly listener: PresenceListener,
    private readonly watchEveryMs?: number,
  ) {
    this.#probeAfter(watchEveryMs);
  }

  get isAway(): boolean {
    return this.#reason !== undefined;
  }

  /** To be called with every failure of a command or of the connection. */
  leave(error: Error): void {
    if (this.#isClosed) return;
    const { isAway } = this;
    const code = codeOf(error);
    // An error without a code only says that a command could not be sent: it does not replace the reason for that.
    if (isAway && (code === undefined || code === this.#reason)) return;
    this.#reason = code ?? publishable(error.message);
    this.listener.onAway(this.#reason);
    if (!isAway) this.#probeAfter(RETRY_MS);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #probeAfter(ms: number | undefined): void {
    clearTimeout(this.#timer);
    if (ms !== undefined && !this.#isClosed) this.#timer = setTimeout(() => void this.#probe(), ms).unref();
  }

  async #probe(): Promise<void> {
    try {
      await this.probe();
    } catch (error) {
      this.leave(error as Error);
      this.#probeAfter(RETRY_MS);
      return;
    }
    const { isAway } = this;
    this.#reason = undefined;
    if (isAway && !this.#isClosed) this.listener.onBack();
    this.#probeAfter(this.watchEveryMs);
  }
}

/** A message of Redis without the arguments of the command, which are keys, and keys name clients. */
function publishable(message: string): string {
  return message.replace(/[,;:]? *with args .*$/su, '');
}

/** The code of an error of the connection or of Redis, such as OOM; the rest of its message may name users. */
export function codeOf(error: Error): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? /^(?!ERR )[A-Z]+(?= )/.exec(message)?.[0];
}
