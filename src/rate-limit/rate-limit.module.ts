import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ThrottlerModule, type ThrottlerModuleOptions } from '@nestjs/throttler';
import { Environment } from '../config/environment.js';
import { BrainBudget } from './brain-budget.js';
import { RedisLink } from './redis-link.js';
import { RedisSpending } from './redis-spending.js';
import { RedisWindow } from './redis-window.js';
import { RedisModule } from './redis.module.js';
import { MAXIMUM_CLIENTS, SlidingLog, type SlidingWindow } from './sliding-window.js';
import { SlidingWindowStorage } from './sliding-window-storage.js';
import { SpendingLog, type SpendingWindow } from './spending-window.js';

const RATE_WINDOW_MS = 60_000;
const LOCAL = { maximumClients: MAXIMUM_CLIENTS, nowMs: () => performance.now() };

/** In place of those that the environment asks for, for tests. */
export interface Windows {
  readonly runs?: SlidingWindow;
  readonly brainTime?: SpendingWindow;
}

/** Sets up @nestjs/throttler, with which RunLimitGuard counts runs, and the budget of open experiments. */
@Global()
@Module({})
export class RateLimitModule {
  static of({ runs, brainTime }: Windows = {}): DynamicModule {
    return {
      module: RateLimitModule,
      imports: [
        RedisModule,
        ThrottlerModule.forRootAsync({
          imports: [RedisModule],
          inject: [Environment, RedisLink],
          useFactory: (environment: Environment, link: RedisLink | null): ThrottlerModuleOptions => ({
            throttlers: [{ limit: environment.RATE_LIMIT, ttl: RATE_WINDOW_MS, blockDuration: 0 }],
            skipIf: () => environment.RATE_LIMIT === 0,
            storage: new SlidingWindowStorage(runs ?? runWindow(environment, link)),
          }),
        }),
      ],
      providers: [
        {
          provide: BrainBudget,
          inject: [Environment, RedisLink],
          useFactory: (environment: Environment, link: RedisLink | null) =>
            new BrainBudget(environment, brainTime ?? brainTimeWindow(environment, link)),
        },
      ],
      exports: [BrainBudget],
    };
  }
}

function runWindow({ RATE_LIMIT }: Environment, link: RedisLink | null): SlidingWindow {
  const limits = { limit: RATE_LIMIT, windowMs: RATE_WINDOW_MS };
  const local = new SlidingLog({ ...limits, ...LOCAL });
  return link === null || RATE_LIMIT === 0 ? local : new RedisWindow({ ...limits, link, local });
}

function brainTimeWindow(environment: Environment, link: RedisLink | null): SpendingWindow {
  const limit = environment.EXPERIMENT_BRAIN_SECONDS_PER_MINUTE * 1000;
  const limits = { limit, windowMs: RATE_WINDOW_MS };
  const local = new SpendingLog({ ...limits, ...LOCAL });
  return link === null || limit === 0 ? local : new RedisSpending({ ...limits, link, local });
}
