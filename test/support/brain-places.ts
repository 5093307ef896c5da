/** Places that compute a brain, all used in the same way: a service, this program, and a page of Chromium. */
import { resolve } from 'node:path';
import type { JSHandle, Page } from 'playwright-core';
import { type Brain, connect } from '../../clients/typescript/src/client.js';

export interface OpenOptions {
  readonly workers?: number;
  /** Aborts the opening after so many ms. */
  readonly abortAfterMs?: number;
}

export interface OpenedBrain {
  /** @param deed refers to nothing outside itself, see brain-deeds.ts */
  use<A, R>(deed: (brain: Brain, argument: A) => Promise<R>, argument: A): Promise<R>;
  close(): Promise<void>;
}

export interface Place {
  readonly name: string;
  /** Rejects with an error that has the code of the failure. */
  open(source?: string, options?: OpenOptions): Promise<OpenedBrain>;
}

type OpenBrain = (
  source: string,
  options: { readonly workers?: number; readonly signal?: AbortSignal },
) => Promise<Brain>;

const opened = (brain: Brain): OpenedBrain => ({
  use: (deed, argument) => deed(brain, argument),
  close: () => Promise.resolve(brain.close()),
});

/** Its sources are addresses of services. */
export const SERVICE: Place = {
  name: 'connect(url)',
  open: (source) => Promise.resolve(opened(connect(source!))),
};

/** The built brain.js in this program; its sources are files. */
export const NODE: Place = {
  name: 'openBrain(file) in Node',
  open: async (source, { workers = 1, abortAfterMs } = {}) => {
    const { openBrain } = (await import(resolve('dist/pages/tab/brain.js'))) as {
      readonly openBrain: OpenBrain;
    };
    const signal = abortAfterMs === undefined ? {} : { signal: abortedAfter(abortAfterMs) };
    return opened(await openBrain(source!, { workers, ...signal }));
  },
};

function abortedAfter(ms: number): AbortSignal {
  const stop = new AbortController();
  setTimeout(() => stop.abort(Object.assign(new Error('enough'), { code: 'ABORTED' })), ms);
  return stop.signal;
}

/**
 * The brain.js of a site in a page of it; its sources are paths of the site, and its own brain.
 * @param page of the site
 */
export function chromiumPlace(page: () => Page): Place {
  return {
    name: 'openBrain() in Chromium',
    open: async (source, { workers = 1, abortAfterMs } = {}) => {
      const options = `{ workers: ${workers}, signal: ${abortAfterMs === undefined ? 'undefined' : 'stop.signal'} }`;
      const args = source === undefined ? options : `${JSON.stringify(source)}, ${options}`;
      const result: JSHandle = await page().evaluateHandle(`(async () => {
        const stop = new AbortController();
        const { openBrain } = await import(new URL('brain.js', document.baseURI));
        ${abortAfterMs === undefined ? '' : `setTimeout(() => stop.abort(Object.assign(new Error('enough'), { code: 'ABORTED' })), ${abortAfterMs});`}
        return openBrain(${args}).then(
          (brain) => ({ brain }),
          (error) => ({ failure: { name: error.name, code: error.code, message: error.message } }),
        );
      })()`);
      const failure = (await result.evaluate((found) => (found as { failure?: object }).failure)) as
        | { readonly code: string; readonly message: string }
        | undefined;
      if (failure !== undefined) throw Object.assign(new Error(failure.message), failure);
      const brain = (await result.getProperty('brain')) as JSHandle<Brain>;
      return {
        use: (deed, argument) =>
          brain.evaluate(deed as (brain: Brain, argument: unknown) => Promise<never>, argument),
        close: () => brain.evaluate((each) => each.close()),
      };
    },
  };
}
