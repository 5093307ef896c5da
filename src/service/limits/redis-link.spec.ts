import { RedisServer } from '../../../test/support/daemons.js';
import { MutingProxy } from '../../../test/support/muting-proxy.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { RedisLink } from './redis-link.js';

describeWith(['redis'], 'the connection to the Redis of limits', () => {
  let server: RedisServer;
  let proxy: MutingProxy;
  let link: RedisLink;
  const told: string[] = [];

  beforeAll(async () => {
    server = await RedisServer.start();
    proxy = await MutingProxy.start(server.port);
    link = new RedisLink(proxy.url, {
      onAway: () => told.push('away'),
      onBack: () => told.push('back'),
    });
  });
  afterAll(async () => {
    link.onApplicationShutdown();
    proxy.close();
    await server.kill();
  });

  it('is replaced if it falls silent without an end', async () => {
    const spend = link.script<number[]>('spend-runs');
    const count = () => spend('nes:runs:a', 1_000_000, 60_000);
    link.addProbe(count);
    const ask = () => link.withFallback<number[] | string>(count, () => 'local');
    // A command before the connection is there fails at once.
    await until(async () => (await ask()) !== 'local');
    told.length = 0;
    proxy.mute();
    expect(await ask()).toBe('local');
    await until(() => told.includes('back'));
    expect(await ask()).toEqual([1, expect.any(Number), expect.any(Number), expect.any(Number)]);
  });
});
