import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { Logger } from '@nestjs/common';
import { localReadings, NO_LIMITS } from '../../../test/support/open-experiments.js';
import { smallConnectome } from '../../../test/support/small-connectome.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { CodedError } from '../../engine/errors.js';
import { ExperimentThread, ThreadLost } from './experiment-thread.js';
import type { AnswerPiece } from '../../experiments/formats/answer.js';
import type { ThreadWork } from './thread-work.js';

const LIMITS = { ...NO_LIMITS, ids: 100 };
const ORDER = { format: 'json', from: 0, truncate: false } as const;
const DOCUMENT = JSON.stringify({
  inputs: { s: { node_set: 'S_sugar', rate_hz: 100 } },
  reports: { all: { node_set: '@all', type: 'rate' } },
  trials: 3,
});
const named = (name: string) => JSON.stringify({ ...JSON.parse(DOCUMENT), name });
const codeOf = (error: unknown) => (error as CodedError).code;

let thread: ExperimentThread;
beforeAll(async () => {
  Logger.overrideLogger(false);
  const bytes = encodeConnectome(smallConnectome());
  const connectome = new SharedArrayBuffer(bytes.length);
  new Uint8Array(connectome).set(bytes);
  thread = await ExperimentThread.start({
    connectome,
    documents: { ofAll: 5, ofClient: 3 },
    maxTurnMs: 800,
    threadFile: pathToFileURL('test/support/faulty.thread.mjs'),
  });
});
afterAll(() => thread.close());

const plan = async (text: string, client = 'a') => {
  let work: ThreadWork | undefined;
  try {
    work = thread.openDocument(client, text);
    return await work.call('plan', text, ORDER, LIMITS);
  } catch (error) {
    return codeOf(error);
  } finally {
    work?.end();
  }
};

describe('a document that ends the thread', () => {
  it.each(['spin', 'exit'])(
    'fails, with all that the thread had, and is not tried for ever: %s',
    async (name) => {
      const restarts = thread.restarts;
      for (let loss = 1; loss <= 2; loss++) {
        const work = thread.openDocument('b', DOCUMENT);
        await work.call('plan', DOCUMENT, ORDER, LIMITS);
        const { pieces } = await work.answer({ inFlight: 1, runTrial: () => new Promise(() => undefined) });
        const answer = pieces.next().catch((error: unknown) => error);
        expect(await plan(named(name))).toBe('WORKER_LOST');
        expect(await answer).toBeInstanceOf(ThreadLost);
        work.end();
        // A new thread replaces it.
        expect(await plan(DOCUMENT)).toMatchObject({ conditions: 1 });
        expect(thread.restarts).toBe(restarts + loss);
      }
      expect(await plan(named(name))).toBe('TOO_EXPENSIVE');
      expect(await plan(`${named(name)} `)).toBe('WORKER_LOST');
      expect(await plan(DOCUMENT)).toMatchObject({ conditions: 1 });
    },
  );
});

describe('work in the thread', () => {
  it('is bounded while it waits, for a client and for all, and frees its slot', async () => {
    const open = (client: string, count: number) =>
      Array.from({ length: count }, () => thread.openDocument(client, DOCUMENT));
    const works = open('a', 3);
    expect(() => thread.openDocument('a', DOCUMENT)).toThrow(
      '3 documents of this client wait for their turn',
    );
    works.push(...open('b', 1));
    // The last slot is reserved for clients that have none.
    expect(() => thread.openDocument('b', DOCUMENT)).toThrow('4 documents wait for their turn');
    works.push(...open('c', 1));
    expect(() => thread.openDocument('d', DOCUMENT)).toThrow('5 documents wait for their turn');
    // A search is no document.
    expect(await thread.query('c', (work) => work.call('card', { of: 'neuron', index: 0 }))).toHaveProperty(
      'id',
    );
    for (const work of works) {
      work.end();
      work.end();
    }
    for (const work of open('a', 3)) work.end();
  });

  it('ends at once with the reason, however busy the thread is, and so do its trials', async () => {
    const busy = plan(`${named('spin')}\n`, 'z');
    const work = thread.openDocument('a', DOCUMENT);
    const planned = work.call('plan', DOCUMENT, ORDER, LIMITS);
    work.stop(new CodedError('DRAINING', 'It stops.'));
    await expect(planned).rejects.toMatchObject({ code: 'DRAINING' });
    work.end();
    expect(await busy).toBe('WORKER_LOST');

    const running = thread.openDocument('a', DOCUMENT);
    await running.call('plan', DOCUMENT, ORDER, LIMITS);
    const signals: AbortSignal[] = [];
    const { pieces } = await running.answer({
      inFlight: 2,
      runTrial: (_, signal) => {
        signals.push(signal);
        return new Promise(() => undefined);
      },
    });
    const next = pieces.next();
    while (signals.length < 2) await sleep(5);
    running.stop(new CodedError('DRAINING', 'It stops.'));
    await expect(next).rejects.toMatchObject({ code: 'DRAINING' });
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
    running.end();
  });

  it('makes a piece ahead, and no more until somebody reads', async () => {
    const work = thread.openDocument('a', DOCUMENT);
    const sweep = [{ set: 'seed', values: Array.from({ length: 40 }, (_, seed) => seed) }];
    await work.call(
      'plan',
      JSON.stringify({ ...JSON.parse(DOCUMENT), sweep }),
      { ...ORDER, format: 'ndjson' },
      LIMITS,
    );
    let trials = 0;
    const { pieces } = await work.answer({
      inFlight: 1,
      runTrial: async ({ reports }) => {
        trials++;
        const empty = new Uint32Array(0);
        return {
          spikes: 0,
          responding: 0,
          responders: new Uint32Array(0),
          inputEvents: 0,
          synapticEvents: 0,
          reports: reports.map(() => ({
            type: 'rate' as const,
            positions: empty.slice(),
            spikes: empty.slice(),
          })),
        };
      },
    });
    const read: AnswerPiece[] = [];
    for (let piece = 0; piece < 3; piece++) read.push((await pieces.next()).value!);
    await sleep(100);
    // The head and two conditions were read; a third one is ready, and trials of the next may have begun: short ones in
    // two bundles of 16 beside those that keep the workers busy, and as many again that wait for the oldest one.
    expect(trials).toBeLessThanOrEqual(3 * 3 + 2 * (1 + 2 * 16));
    for await (const piece of pieces) read.push(piece);
    expect(trials).toBe(40 * 3);
    expect(read.at(-1)!.conditions).toBe(40);
    expect(work.progress).toMatchObject({ trials: 120, trialsDone: 120 });
    const lines = Buffer.concat(read.map(({ bytes }) => bytes))
      .toString()
      .trimEnd()
      .split('\n');
    expect(lines).toHaveLength(42);
    work.end();
  });
});

describe('work that is over', () => {
  it('asks nothing more of the thread, whoever still asks of it', async () => {
    const work = thread.openDocument('a', DOCUMENT);
    await work.call('plan', DOCUMENT, ORDER, LIMITS);
    work.end();
    await expect(work.answer()).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    const read = thread.openDocument('a', DOCUMENT);
    await read.call('plan', DOCUMENT, { ...ORDER, format: 'ndjson' }, LIMITS);
    const { pieces } = await read.answer({ inFlight: 1, runTrial: () => new Promise(() => undefined) });
    await pieces.next();
    read.end();
    await expect(pieces.next()).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
  });
});

describe('the work of an experiment', () => {
  it('is planned for its price before, and counted while it is done', async () => {
    const read = localReadings(openConnectome(encodeConnectome(smallConnectome()).buffer as ArrayBuffer));
    const work = thread.openDocument('a', DOCUMENT);
    const { brainMs, priceMs } = await work.call('plan', DOCUMENT, ORDER, LIMITS);
    expect([brainMs, priceMs]).toEqual([3000, 3000]);
    const { pieces } = await work.answer({
      inFlight: 2,
      runTrial: async (task) => read(task),
    });
    let text = '';
    for await (const { bytes } of pieces) text += Buffer.from(bytes).toString();
    const { cost } = JSON.parse(text);
    const counted = work.progress.work;
    expect(counted).toMatchObject({ brainMs: 3000, trials: 3, groups: 1, groupNumbers: 3, tableRows: 0 });
    expect(counted.synapticEvents).toBe(cost.synaptic_events);
    expect(counted.inputEvents).toBeCloseTo(cost.input_events, 6);
    work.end();
  });
});

describe('HeapWatch', () => {
  it('ends the work that fills the heap before the heap ends the thread', async () => {
    const code = `
      const { parentPort } = require('node:worker_threads');
      import('./dist/workers/thread/heap-watch.js').then(({ HeapWatch }) => {
        let kept = [];
        let freed = 0;
        const watch = new HeapWatch(() => { kept = []; freed++; });
        for (let at = 0; at < 150; at++) {
          kept.push(Array.from({ length: 40_000 }, (_, i) => ({ at, i })));
          watch.check(at * 6_000);
        }
        parentPort.postMessage(freed);
      });`;
    const worker = new Worker(code, { eval: true, resourceLimits: { maxOldGenerationSizeMb: 160 } });
    const freed = await new Promise((resolve, reject) =>
      worker.once('message', resolve).once('error', reject),
    );
    await worker.terminate();
    expect(freed).toBeGreaterThan(1);
  });
});
