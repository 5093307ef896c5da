/** Whether a Redis answers: what every connection to one needs to say when it goes and when it is back. */
import type { RedisOptions } from 'ioredis';

const CONNECT_WITHIN_MS = 2_000;
/** How often an unavailable Redis is retried. */
const RETRY_MS = 500;

/** Of connections that come back by themselves. */
export const RECONNECTING: RedisOptions = {
  connectTimeout: CONNECT_WITHIN_MS,
  retryStrategy: () => RETRY_MS,
  // This was the master until a failover; only a new connection finds the new one.
  reconnectOnError: ({ message }) => message.includes('READONLY'),
};

/** Of connections whose commands fail at once where Redis is away: they neither wait nor are sent later. */
export const FAILING_AT_ONCE: RedisOptions = {
  ...RECONNECTING,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
};

export interface PresenceListener {
  /**
   * Redis is unreachable or refuses commands.
   * @param reason may be published: it names no user and no key
   */
  readonly onAway: (reason: string) => void;
  readonly onBack: () => void;
}

export class RedisPresence {
  #isAway = false;
  #isClosed = false;
  #retryTimer: NodeJS.Timeout | undefined;

  /** @param probe resolves once Redis is back; asked again and again while it is away */
  constructor(
    private readonly probe: () => Promise<unknown>,
    private readonly listener: PresenceListener,
  ) {}

  get isAway(): boolean {
    return this.#isAway;
  }

  /** To be called with every failure of a command or of the connection. */
  leave(error: Error): void {
    if (this.#isAway || this.#isClosed) return;
    this.#isAway = true;
    const { code = codeOf(error.message) } = error as NodeJS.ErrnoException;
    this.listener.onAway(code);
    this.#probeLater();
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retryTimer);
  }

  #probeLater(): void {
    this.#retryTimer = setTimeout(() => void this.#probe(), RETRY_MS).unref();
  }

  async #probe(): Promise<void> {
    try {
      await this.probe();
    } catch {
      if (!this.#isClosed) this.#probeLater();
      return;
    }
    this.#isAway = false;
    this.listener.onBack();
  }
}

/** The first word of a Redis error; the rest may name users. */
function codeOf(message: string): string {
  return /^(?!ERR )[A-Z]+(?= )/.exec(message)?.[0] ?? message;
}
