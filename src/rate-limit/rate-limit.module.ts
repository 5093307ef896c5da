import { type DynamicModule, Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { Environment } from '../config/environment.js';
import { Degradations } from '../health/degradations.js';
import { RedisWindow } from './redis-window.js';
import { MAXIMUM_CLIENTS, SlidingLog, type SlidingWindow } from './sliding-window.js';
import { SlidingWindowStorage } from './sliding-window-storage.js';

const RATE_WINDOW_MS = 60_000;

/** Sets up @nestjs/throttler; RunLimitGuard is what counts. */
@Module({})
export class RateLimitModule {
  /** @param window in place of the one that the environment asks for, for tests */
  static of(window?: SlidingWindow): DynamicModule {
    return {
      module: RateLimitModule,
      imports: [
        ThrottlerModule.forRootAsync({
          inject: [Environment, Degradations],
          useFactory: (environment: Environment, degradations: Degradations): ThrottlerModuleOptions => ({
            throttlers: [{ limit: environment.RATE_LIMIT, ttl: RATE_WINDOW_MS, blockDuration: 0 }],
            skipIf: () => environment.RATE_LIMIT === 0,
            storage: new SlidingWindowStorage(window ?? windowOf(environment, degradations)),
          }),
        }),
      ],
    };
  }
}

function windowOf({ RATE_LIMIT, REDIS_URL }: Environment, degradations: Degradations): SlidingWindow {
  const limits = { limit: RATE_LIMIT, windowMs: RATE_WINDOW_MS };
  const local = new SlidingLog({
    ...limits,
    maximumClients: MAXIMUM_CLIENTS,
    nowMs: () => performance.now(),
  });
  if (REDIS_URL === '' || RATE_LIMIT === 0) return local;
  return new RedisWindow({
    ...limits,
    url: REDIS_URL,
    local,
    onAway: (why) =>
      degradations.begin({
        part: 'rate_limit',
        reason: `Redis is unavailable (${why}); each replica counts runs on its own.`,
      }),
    onBack: () => degradations.end('rate_limit'),
  });
}
