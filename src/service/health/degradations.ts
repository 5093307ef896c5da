import { Injectable, Logger } from '@nestjs/common';

/**
 * Parts of the service that may work with restrictions while the rest continues normally: a fixed list, because they are
 * labels of the metrics.
 */
type Part = 'workers' | 'rate_limit' | 'gpu' | 'jobs' | 'jobs_eviction' | 'jobs_commands';

/** The degraded parts. The log has one line at the beginning of each degradation and one at its end. */
@Injectable()
export class Degradations {
  readonly #log = new Logger(Degradations.name);
  readonly #reasons = new Map<Part, string>();

  list(): { readonly part: Part; readonly reason: string }[] {
    return [...this.#reasons].map(([part, reason]) => ({ part, reason }));
  }

  /** @param reason one sentence for operators; undefined if the part works without restrictions */
  set(part: Part, reason?: string): void {
    if (reason !== undefined) {
      if (!this.#reasons.has(part)) this.#log.warn(`Degraded: ${reason}`);
      this.#reasons.set(part, reason);
    } else if (this.#reasons.delete(part)) {
      this.#log.log(`No longer degraded: ${part.replace('_', ' ')}.`);
    }
  }
}
