/** Contract of both queues of chunks. */
import { Logger } from '@nestjs/common';
import { Redis } from 'ioredis';
import { RedisServer } from '../../../test/support/daemons.js';
import { describeWith } from '../../../test/support/requirements.js';
import { until } from '../../../test/support/service-process.js';
import { CodedError } from '../../engine/errors.js';
import { BullChunkQueue } from './bull-chunk-queue.js';
import type { ChunkQueue, ChunkWork } from './chunk-queue.js';
import type { Chunk } from './job.js';
import { MemoryChunkQueue } from './memory-chunk-queue.js';

const chunk = (job: string, from: number): Chunk => ({
  job,
  model: 'model',
  phase: 0,
  from,
  to: from + 1,
  before: 0,
});
const chunks = (job: string, count: number) => Array.from({ length: count }, (_, at) => chunk(job, at));

function contract(open: () => Promise<ChunkQueue>): void {
  let queue: ChunkQueue;
  let hasRoom: boolean;
  let computed: Chunk[];
  let fails: (chunk: Chunk) => boolean;
  let givenUp: Chunk[];
  let tries: number;
  const work: ChunkWork = {
    model: 'model',
    atOnce: 1,
    hasRoom: () => hasRoom,
    compute: async (each) => {
      tries++;
      if (fails(each)) throw new Error('It is to be tried again.');
      computed.push(each);
    },
    giveUp: async (each) => void givenUp.push(each),
  };
  beforeEach(async () => {
    queue = await open();
    [hasRoom, computed, fails, givenUp, tries] = [true, [], () => false, [], 0];
  });
  afterEach(() => queue.close());
  const computedOf = (job: string) => computed.filter((each) => each.job === job).map(({ from }) => from);

  it('hands out every chunk once, however often it was added, and tells how many wait', async () => {
    await queue.add(chunks('a', 5));
    await queue.add(chunks('a', 5));
    expect([await queue.waiting('model'), await queue.waiting('another')]).toEqual([5, 0]);
    queue.start(work);
    await until(() => computed.length === 5);
    expect(computedOf('a')).toEqual([0, 1, 2, 3, 4]);
    await until(async () => (await queue.waiting('model')) === 0);
    expect(tries).toBe(5);
  });

  it('begins with the job of which least has begun', async () => {
    await queue.add(chunks('a', 4));
    await queue.add(chunks('b', 2));
    queue.start(work);
    await until(() => computed.length === 6);
    // Each job has one chunk among the first two, and the rest of the longer one comes last.
    expect(new Set(computed.slice(0, 2).map(({ job }) => job))).toEqual(new Set(['a', 'b']));
    expect(computed.slice(4).map(({ job }) => job)).toEqual(['a', 'a']);
  });

  it('removes waiting chunks of a job, and none of another', async () => {
    await queue.add(chunks('a', 30));
    await queue.add(chunks('b', 3));
    queue.remove('a', 'model');
    await until(async () => (await queue.waiting('model')) === 3);
    queue.start(work);
    await until(() => computedOf('b').length === 3);
    expect(computedOf('a')).toEqual([]);
  });

  it('hands out nothing while there is no room', async () => {
    hasRoom = false;
    queue.start(work);
    await queue.add(chunks('a', 2));
    await new Promise((next) => setTimeout(next, 300));
    expect(computed).toEqual([]);
    hasRoom = true;
    await until(() => computed.length === 2);
  });

  it('tries a chunk again', async () => {
    fails = ({ from }) => from === 0 && tries < 2;
    await queue.add(chunks('a', 1));
    queue.start(work);
    await until(() => computed.length === 1);
    expect([tries, givenUp]).toEqual([2, []]);
  });
}

describe('MemoryChunkQueue', () => contract(async () => new MemoryChunkQueue()));

describe('MemoryChunkQueue after failures', () => {
  let queue: MemoryChunkQueue;
  let model: string | undefined;
  /** Number of times that the queue looked for a model. */
  let looks: number;
  let tries: number;
  let compute: () => void;
  let giveUp: jest.Mock<Promise<void>>;
  const fail = () => {
    throw new Error('It is to be tried again.');
  };
  beforeEach(() => {
    queue = new MemoryChunkQueue(10);
    [model, looks, tries, compute, giveUp] = ['model', 0, 0, fail, jest.fn(async () => undefined)];
    queue.start({
      get model() {
        looks++;
        return model;
      },
      atOnce: 1,
      hasRoom: () => model !== undefined,
      compute: async () => {
        tries++;
        compute();
      },
      giveUp,
    });
  });
  afterEach(() => queue.close());

  it('gives a job up after five tries', async () => {
    await queue.add(chunks('a', 1));
    await until(() => giveUp.mock.calls.length > 0);
    expect(tries).toBe(5);
  });

  it('tries nothing while there is no model, and goes on when there is one', async () => {
    compute = () => {
      model = undefined;
      fail();
    };
    await queue.add(chunks('a', 1));
    await until(() => looks > 5 || tries > 1);
    expect(tries).toBe(1);
    [model, compute] = ['model', () => undefined];
    await until(() => tries > 1);
    await queue.close();
    expect(tries).toBe(2);
    expect(giveUp).not.toHaveBeenCalled();
  });

  it.each([1, 5])(
    'drops the chunks of a job if another model was loaded in try %d, and gives up no job',
    async (last) => {
      compute = () => {
        if (tries === last) model = 'another';
        fail();
      };
      await queue.add(chunks('a', 20));
      await until(async () => (await queue.waiting('model')) === 0);
      await queue.close();
      expect(tries).toBe(last);
      expect(giveUp).not.toHaveBeenCalled();
    },
  );

  it('leaves a job to the next start if its last try fails during a shutdown', async () => {
    compute = () => {
      if (tries === 5) model = undefined;
      fail();
    };
    await queue.add(chunks('a', 1));
    await until(() => tries === 5);
    await queue.close();
    expect(giveUp).not.toHaveBeenCalled();
  });

  it('closes even if the store refuses to end a job meanwhile', async () => {
    Logger.overrideLogger(false);
    let refuse: (error: Error) => void;
    giveUp.mockReturnValue(new Promise((_, reject) => (refuse = reject)));
    await queue.add(chunks('a', 1));
    await until(() => giveUp.mock.calls.length > 0);
    const closed = queue.close();
    refuse!(new CodedError('JOBS_UNAVAILABLE', 'Jobs are refused.'));
    await closed;
  });
});

describeWith(['redis'], 'BullChunkQueue', () => {
  let server: RedisServer;
  let redis: Redis;
  const connect = () => new Redis(server.url, { maxRetriesPerRequest: null });
  beforeAll(async () => {
    server = await RedisServer.startForJobs();
    redis = connect();
  });
  afterAll(async () => {
    redis.disconnect();
    await server.kill();
  });
  contract(async () => {
    await redis.flushall();
    return new BullChunkQueue(redis, connect, 60_000);
  });
});
