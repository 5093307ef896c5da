import type { Redis } from 'ioredis';

/** The reason why a cluster cannot be used. */
export const IS_CLUSTER = 'it is a Redis Cluster, where scripts cannot change several keys at once';

/** @throws Error if a Redis is a node of a cluster; one that does not tell counts as none */
export async function refuseCluster(redis: Pick<Redis, 'info'>): Promise<void> {
  const facts = await redis.info('server').catch(() => '');
  if (!/^redis_mode:cluster\r?$/m.test(facts)) return;
  // RedisPresence replaces its reason only by an error with a code.
  throw Object.assign(new Error(IS_CLUSTER), { code: IS_CLUSTER });
}
