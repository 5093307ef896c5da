import { Injectable, Logger } from '@nestjs/common';

/** A part that works less well than it should while the service as a whole goes on. */
export interface Degradation {
  /** From a closed list: it is a label of the metrics. */
  readonly part: 'workers' | 'rate_limit' | 'gpu';
  /** For people, in one sentence. */
  readonly reason: string;
}

/** Who works less well than it should, told once in the log when it begins and once when it ends. */
@Injectable()
export class Degradations {
  readonly #log = new Logger(Degradations.name);
  readonly #reasons = new Map<Degradation['part'], string>();

  list(): Degradation[] {
    return [...this.#reasons].map(([part, reason]) => ({ part, reason }));
  }

  begin({ part, reason }: Degradation): void {
    if (!this.#reasons.has(part)) this.#log.warn(`Degraded: ${reason}`);
    this.#reasons.set(part, reason);
  }

  end(part: Degradation['part']): void {
    if (this.#reasons.delete(part)) this.#log.log(`No longer degraded: ${part.replace('_', ' ')}.`);
  }
}
