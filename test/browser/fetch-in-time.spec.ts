/** Requests of pages to the service or a site: they end if the connection is silent, and only then. */
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchInTime } from '../../clients/tab/fetch-in-time.js';
import { loadBrain } from '../../clients/tab/load-brain.js';
import { answeredBy } from '../support/answered-by.js';

/** Long enough for a server of the same machine to begin, however busy it is. */
const SHORT_MS = 2_000;
const LONG_MS = 60_000;

it('hands on status, headers and body', async () => {
  await answeredBy(
    (_, response) => response.writeHead(429, { 'retry-after': '3' }).end('{"error":"busy"}'),
    async (url) => {
      const response = await fetchInTime(url, {}, LONG_MS);
      expect([response.status, response.headers.get('retry-after')]).toEqual([429, '3']);
      expect(await response.json()).toEqual({ error: 'busy' });
    },
  );
});

it('fails if no answer comes', async () => {
  await answeredBy(
    () => undefined,
    (url) => expect(fetchInTime(url, {}, SHORT_MS)).rejects.toMatchObject({ name: 'TimeoutError' }),
  );
});

it('fails if an answer that began says no more', async () => {
  await answeredBy(
    (_, response) => void response.write('a line\n'),
    async (url) => {
      const { body } = await fetchInTime(url, {}, SHORT_MS);
      const reader = body!.getReader();
      expect(Buffer.from((await reader.read()).value!).toString()).toBe('a line\n');
      await expect(reader.read()).rejects.toMatchObject({ name: 'TimeoutError' });
    },
  );
});

it('does not count the time in which nobody reads', async () => {
  await answeredBy(
    (_, response) => response.end('whole'),
    async (url) => {
      const response = await fetchInTime(url, {}, SHORT_MS);
      await sleep(1.5 * SHORT_MS);
      expect(await response.text()).toBe('whole');
    },
  );
});

it('ends with its signal, and tells the service if its reader leaves', async () => {
  let leave!: () => void;
  const left = new Promise<void>((resolve) => (leave = resolve));
  await answeredBy(
    (_, response) => response.on('close', leave).write('a line\n'),
    async (url) => {
      const stop = new AbortController();
      const { body } = await fetchInTime(url, { signal: stop.signal }, LONG_MS);
      const reader = body!.getReader();
      await reader.read();
      const next = reader.read();
      stop.abort(new Error('enough'));
      await expect(next).rejects.toThrow('enough');
      await left;
    },
  );
});

it('reports the progress of a brain, and passes on an error of the listener', async () => {
  await answeredBy(
    (_, response) => response.end('a brain'),
    async (url) => {
      const seen: number[] = [];
      const onProgress = ({ loadedBytes }: { readonly loadedBytes: number }) => seen.push(loadedBytes);
      const { bytes } = await loadBrain(`${url}/it.connectome`, { onProgress });
      expect([Buffer.from(bytes).toString(), seen.at(-1)]).toEqual(['a brain', 7]);
      const failing = () => {
        throw new Error('no place to show it');
      };
      await expect(loadBrain(`${url}/it.connectome`, { onProgress: failing })).rejects.toThrow(
        /^no place to show it$/,
      );
    },
  );
});

it('ends the loading of a brain of which nothing comes any more', async () => {
  const { setTimeout: usual } = globalThis;
  const sooner = (end: () => void, ms?: number) => usual(end, ms! >= LONG_MS ? SHORT_MS : ms);
  const timers = jest.spyOn(globalThis, 'setTimeout').mockImplementation(sooner as typeof setTimeout);
  await answeredBy(
    (_, response) => void response.write('a piece'),
    async (url) => {
      const message = `The file ${url}/it.connectome cannot be read: Nothing came for 60 s.`;
      const loading = loadBrain(`${url}/it.connectome`, {});
      await expect(loading).rejects.toMatchObject({ code: 'CONNECTOME_MISSING', message });
    },
  );
  timers.mockRestore();
});
