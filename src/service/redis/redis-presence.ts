/** Tracks whether a Redis is available, and reports when this changes. */
import type { RedisOptions } from 'ioredis';

const CONNECT_WITHIN_MS = 2_000;
/** Interval of attempts to reach an unavailable Redis. */
const RETRY_MS = 500;

/** Options of connections that reconnect by themselves. */
export const RECONNECTING: RedisOptions = {
  connectTimeout: CONNECT_WITHIN_MS,
  retryStrategy: () => RETRY_MS,
  // After a failover this Redis is no longer the master; only a new connection finds the new one.
  reconnectOnError: ({ message }) => message.includes('READONLY'),
};

/**
 * Options of connections whose commands fail at once if Redis is unavailable: they neither wait nor are sent later.
 */
export const FAILING_AT_ONCE: RedisOptions = {
  ...RECONNECTING,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

export interface PresenceListener {
  /**
   * Called if Redis is unreachable or refuses commands, or if the reason changes.
   * @param reason may be published: it contains no user and no key
   */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

export class RedisPresence {
  #reason: string | undefined;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;

  /**
   * @param probe resolves if Redis is available; repeated while it is not
   * @param watchEveryMs interval of probes while Redis is available; by default only failed commands show a failure
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

  /** Call this with every error of a command or of the connection. */
  leave(error: Error): void {
    if (this.#isClosed) return;
    const { isAway } = this;
    const code = codeOf(error);
    // An error without a code only says that a command was not sent, so it does not replace the reason for that.
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

/** Returns a message of Redis without the arguments of the command: they are keys, and keys name clients. */
function publishable(message: string): string {
  return message.replace(/[,;:]? *with args .*$/su, '');
}

/** Returns the code of an error, such as OOM. The rest of its message may name users. */
export function codeOf(error: Error): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? /^(?!ERR )[A-Z]+(?= )/.exec(message)?.[0];
}
