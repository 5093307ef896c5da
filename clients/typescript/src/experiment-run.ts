import type { components, paths } from './api-v2.js';
import { timeoutError } from './requests.js';
import { ServiceError } from './service-error.js';

type Schemas = components['schemas'];

/** An experiment as it is asked for. Every member is optional. */
export type ExperimentDocument = NonNullable<
  paths['/api/v2/experiments']['post']['requestBody']
>['content']['application/json'];
/** The whole answer. */
export type ExperimentAnswer = Schemas['ExperimentAnswer'];
/** The first line: the complete document and the neurons of its selectors. */
export type ExperimentHead = Schemas['ExperimentHead'];
/** A condition that is done. */
export type Condition = Schemas['Condition'];
/** How far the experiment is; comes at least every 5 s. */
export type ExperimentProgress = Schemas['ExperimentProgress'];
/** The last line: cost, warnings, what to cite. */
export type ExperimentTotals = Schemas['ExperimentTotals'];
/** Told apart by a member that only one of them has: `id`, `index`, `progress`, `cost`. */
export type ExperimentLine = ExperimentHead | Condition | ExperimentProgress | ExperimentTotals;

/** The connection broke, or nothing came in time, after the answer had begun. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';

  /** @param from the first condition that did not come: run with this `from`, the experiment goes on there */
  constructor(
    readonly from: number,
    options?: ErrorOptions,
  ) {
    super(`The connection broke before the experiment ended; from: ${from} continues it.`, options);
  }
}

/**
 * An experiment that runs while somebody asks for its lines. It is sent when the first one is asked for; whoever stops
 * asking, or aborts the signal, ends it. Each iteration sends it again.
 */
export class ExperimentRun implements AsyncIterable<ExperimentLine> {
  readonly #open: () => Promise<Response>;
  readonly #from: number;
  readonly #timeoutMs: number;
  readonly #signal: AbortSignal | undefined;

  /** @param open sends the request; its answer is NDJSON */
  constructor(
    open: () => Promise<Response>,
    { from, timeoutMs, signal }: { from: number; timeoutMs: number; signal?: AbortSignal | undefined },
  ) {
    this.#open = open;
    this.#from = from;
    this.#timeoutMs = timeoutMs;
    this.#signal = signal;
  }

  /**
   * The lines as they come: the head, conditions in order with progress between them, the totals.
   * @throws ServiceError where the service refuses or the experiment fails; InterruptedError
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<ExperimentLine, void, void> {
    const response = await this.#open();
    let from = this.#from;
    let isWhole = false;
    try {
      for await (const text of linesOf(response, this.#timeoutMs)) {
        const line = JSON.parse(text) as ExperimentLine | Schemas['ErrorResponse'];
        if ('error' in line) throw new ServiceError(undefined, line.error, line);
        if ('index' in line) from = line.index + 1;
        isWhole = 'cost' in line;
        yield line;
      }
    } catch (error) {
      if (error instanceof ServiceError || this.#signal?.aborted) throw error;
      throw new InterruptedError(from, { cause: error });
    }
    if (!isWhole) throw new InterruptedError(from);
  }

  /** All lines in one, as the format JSON has it. */
  async answer(onProgress?: (progress: ExperimentProgress['progress']) => void): Promise<ExperimentAnswer> {
    const conditions: Condition[] = [];
    let ends = {};
    for await (const line of this) {
      if ('index' in line) conditions.push(line);
      else if ('progress' in line) onProgress?.(line.progress);
      else ends = 'id' in line ? { ...line, conditions } : { ...ends, ...line };
    }
    return ends as ExperimentAnswer;
  }
}

/** Lines of text, without the ends of lines. What is left behind the last one is cut off and no line. */
async function* linesOf({ body }: Response, timeoutMs: number): AsyncGenerator<string, void, void> {
  const reader = body!.getReader();
  const decoder = new TextDecoder();
  let waiting = '';
  try {
    for (;;) {
      const { done, value } = await within(timeoutMs, reader.read());
      if (done) return;
      const lines = (waiting + decoder.decode(value, { stream: true })).split('\n');
      waiting = lines.pop()!;
      yield* lines;
    }
  } finally {
    // Closes the connection where more would come. One that broke has been closed.
    reader.cancel().catch(() => undefined);
  }
}

/** Time counts while something is asked for: whoever is slow to ask is not late. */
async function within<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(timeoutError(timeoutMs)), timeoutMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
