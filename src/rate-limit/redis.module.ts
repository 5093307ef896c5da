import { Module } from '@nestjs/common';
import { Environment } from '../config/environment.js';
import { Degradations } from '../health/degradations.js';
import { RedisLink } from './redis-link.js';

/** Provides the link to Redis, or null where no limit would use it. */
@Module({
  providers: [
    {
      provide: RedisLink,
      inject: [Environment, Degradations],
      useFactory: (environment: Environment, degradations: Degradations): RedisLink | null => {
        const { REDIS_URL, RATE_LIMIT, EXPERIMENT_BRAIN_SECONDS_PER_MINUTE } = environment;
        if (REDIS_URL === '' || (RATE_LIMIT === 0 && EXPERIMENT_BRAIN_SECONDS_PER_MINUTE === 0)) return null;
        return new RedisLink({
          url: REDIS_URL,
          onAway: (why) =>
            degradations.begin({
              part: 'rate_limit',
              reason: `Redis is unavailable (${why}); each replica counts runs and brain seconds on its own.`,
            }),
          onBack: () => degradations.end('rate_limit'),
        });
      },
    },
  ],
  exports: [RedisLink],
})
export class RedisModule {}
