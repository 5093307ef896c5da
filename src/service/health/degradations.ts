import { Injectable, Logger } from '@nestjs/common';

/** A part of the service that works with restrictions while the rest continues normally. */
export interface Degradation {
  /** From a fixed list, because it is a label of the metrics. */
  readonly part: 'workers' | 'rate_limit' | 'gpu' | 'jobs' | 'jobs_eviction' | 'jobs_commands';
  /** One sentence for operators. */
  readonly reason: string;
}

/** The degraded parts. The log has one line at the beginning of each degradation and one at its end. */
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
