/** A Redis Cluster, which the service cannot use. */
import { RedisServer } from '../support/daemons.js';
import { freePort } from '../support/free-port.js';
import { describeWith } from '../support/requirements.js';
import { startProcess } from '../support/service-process.js';

describeWith(['redis'], 'a Redis Cluster', () => {
  let cluster: RedisServer;
  beforeAll(async () => (cluster = await RedisServer.startCluster()));
  afterAll(() => cluster.kill());

  it.each(['REDIS_URL', 'REDIS_JOBS_URL'])('is refused as %s', async (name) => {
    const service = await startProcess({ [name]: cluster.url, RATE_LIMIT: '9' });
    expect(await service.exited()).toBe(2);
    expect(service.output()).toBe(
      `${name} must name a single Redis or the master of replicas, got ${cluster.url}: ` +
        'it is a Redis Cluster, where scripts cannot change several keys at once.\n',
    );
  });

  it('degrades a service that reaches it later', async () => {
    await cluster.kill();
    const service = await startProcess({
      REDIS_URL: cluster.url,
      REDIS_JOBS_URL: cluster.url,
      RATE_LIMIT: '9',
    });
    try {
      await service.untilReady();
      await cluster.start();
      await service.untilReadyz(({ body }) => {
        const degraded = body['degraded'] as { part: string; reason: string }[];
        const parts = degraded.filter(({ reason }) => reason.includes('it is a Redis Cluster'));
        return (
          parts
            .map(({ part }) => part)
            .sort()
            .join() === 'jobs,rate_limit'
        );
      });
    } finally {
      await service.stop();
    }
  });

  it('may be absent', async () => {
    const service = await startProcess({
      REDIS_URL: `redis://127.0.0.1:${await freePort()}`,
      RATE_LIMIT: '9',
    });
    await service.untilReady();
    expect(await service.stop()).toBe(0);
  });
});
