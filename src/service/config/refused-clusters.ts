import { Redis } from 'ioredis';
import { CodedError } from '../../engine/errors.js';
import { withTimeout } from '../../workers/pool/with-timeout.js';
import type { Environment } from './environment.js';
import { IS_CLUSTER, refuseCluster } from '../redis/cluster.js';
import { withoutPassword } from '../redis/redis-url.js';

/** Wait for a Redis at the start. One that answers later is asked again then. */
const ANSWER_WITHIN_MS = 2_000;

/** @throws CodedError CONFIG_INVALID if the Redis of limits or of jobs is a cluster; neither need answer yet */
export async function refuseClusters(
  environment: Pick<Environment, 'REDIS_URL' | 'REDIS_JOBS_URL'>,
): Promise<void> {
  const names = ['REDIS_URL', 'REDIS_JOBS_URL'] as const;
  await Promise.all(names.map((name) => refuseIfCluster(name, environment[name])));
}

async function refuseIfCluster(name: string, url: string): Promise<void> {
  if (url === '') return;
  const redis = new Redis(url, {
    lazyConnect: true,
    connectTimeout: ANSWER_WITHIN_MS,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  });
  redis.on('error', () => undefined);
  try {
    // A command connects by itself, and fails if there is no connection.
    await withTimeout(ANSWER_WITHIN_MS, refuseCluster(redis), () => undefined);
  } catch (cause) {
    throw new CodedError(
      'CONFIG_INVALID',
      `${name} must name a single Redis or the master of replicas, got ${withoutPassword(url)}: ${IS_CLUSTER}.`,
      { cause },
    );
  } finally {
    redis.disconnect();
  }
}
