import { MessageChannel } from 'node:worker_threads';
import { Watchdog } from './watchdog.js';
import { FairScheduler } from './fair-scheduler.js';

describe('FairScheduler', () => {
  const order: string[] = [];
  let nowMs: number;
  let scheduler: FairScheduler;
  const take = (client: string, ms: number, id = 0) =>
    scheduler.run(client, id, () => {
      nowMs += ms;
      order.push(client);
    });
  beforeEach(() => {
    order.length = 0;
    nowMs = 0;
    scheduler = new FairScheduler(new Watchdog(), undefined, () => nowMs);
  });

  it('serves the client that has used the least, whoever came first', async () => {
    const large = [1, 2, 3].map(() => take('large', 20));
    const small = Array.from({ length: 6 }, () => take('small', 4));
    await Promise.all([...large, ...small]);
    // Five small pieces take as long as one large one.
    expect(order).toEqual(['large', ...Array<string>(5).fill('small'), 'large', 'small', 'large']);
  });

  it('saves up no turns for a client that asked for nothing, and forgives none that it owes', async () => {
    const busy = Array.from({ length: 8 }, () => take('busy', 5));
    await take('other', 20);
    // The busy one has used 5 ms, the other 20. A new client starts at the charge of the one served last.
    const later = [take('other', 1), take('fresh', 1)];
    await Promise.all([...busy, ...later]);
    expect(order).toEqual([
      ...['busy', 'other', 'fresh', 'busy', 'busy', 'busy', 'other'],
      ...Array<string>(4).fill('busy'),
    ]);
  });

  it('reads messages between two pieces, and goes on after one that throws', async () => {
    const { port1, port2 } = new MessageChannel();
    port2.on('message', () => order.push('message'));
    const failed = scheduler.run('a', 0, () => {
      port1.postMessage('');
      throw new Error('It is wrong.');
    });
    const rest = Array.from({ length: 20 }, () => take('a', 1));
    await expect(failed).rejects.toThrow('It is wrong.');
    await Promise.all(rest);
    expect(order.indexOf('message')).toBeLessThan(10);
    port1.close();
  });

  it('tells which work is being computed, and for how long', async () => {
    const watchdog = new Watchdog();
    const elsewhere = new Watchdog(watchdog.memory);
    scheduler = new FairScheduler(watchdog);
    await scheduler.run('a', 7, () => {
      expect(elsewhere.current?.work).toBe(7);
      expect(elsewhere.current!.ms).toBeLessThan(60_000);
      for (const endMs = performance.now() + 5; performance.now() < endMs;);
      expect(elsewhere.current!.ms).toBeGreaterThan(2);
    });
    await new Promise(setImmediate);
    expect(elsewhere.current).toBeUndefined();
  });

  it('counts a turn as too long only if it was seen often, and not if the process was paused', () => {
    const watchdog = new Watchdog();
    const elsewhere = new Watchdog(watchdog.memory);
    let nowMs = 1;
    jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
    const look = (ms: number) => {
      nowMs += ms;
      return elsewhere.isOverdue(2_000, 500);
    };
    try {
      watchdog.begin(1);
      expect([500, 60_000, 500].map(look)).toEqual([false, false, false]);
      watchdog.begin(1);
      expect([500, 500, 500, 500, 500].map(look)).toEqual([false, false, false, false, true]);
      watchdog.end();
      expect([500, 500, 500, 500, 500].map(look)).not.toContain(true);
    } finally {
      jest.restoreAllMocks();
    }
  });
});
