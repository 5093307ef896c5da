/** A queue in front of real workers, each with one run ahead: the fate of that run after any event before it. */
import { DEFAULT_EXPERIMENT } from '../../src/experiments/presets/experiment.js';
import { readConnectomeFile } from '../../src/workers/pool/connectome-file.js';
import { PhiloxSequence } from '../../src/engine/stimulus/philox.js';
import type { CodedError } from '../../src/engine/errors.js';
import { ExperimentPool } from '../../src/workers/pool/experiment-pool.js';
import { ExperimentQueue } from '../../src/workers/queue/experiment-queue.js';
import type { QueueWorker } from '../../src/workers/queue/worker-slot.js';
import type { PoolWorker } from '../../src/workers/pool/pool-worker.js';
import type { ResultOf, V1RunTask } from '../../src/workers/pool/task.js';
import { EXIT_SEED, FaultyWorkers, SPIN_SEED, withRun } from '../support/faulty-workers.js';
import { smallConnectomeFile } from '../support/small-connectome.js';
import { untilIdle } from '../support/idle-queue.js';

const RUN_TIMEOUT_MS = 1_500;
const workers = new FaultyWorkers();
const hold = () => workers.hold('v1-run');
const release = () => workers.release();

const task = (seed: number): V1RunTask => ({
  kind: 'v1-run',
  experiment: { ...DEFAULT_EXPERIMENT, stimulus: 'loom', seed },
  view: 'full',
  gzip: false,
});

let pool: ExperimentPool;
afterAll(() => workers.remove());
afterEach(async () => {
  release();
  await pool.close();
});

type RunTask = (task: V1RunTask) => Promise<ResultOf['v1-run']>;

/** @param withFaults replaces a member's run() */
async function open(
  workerCount: number,
  limit = 64,
  withFaults: (member: PoolWorker) => RunTask = (member) => (run) => member.run(run),
) {
  pool = await ExperimentPool.start({
    workers: workerCount,
    workerData: { connectome: await readConnectomeFile(smallConnectomeFile()) },
    workerFile: workers.file,
    onStrayError: () => undefined,
    onChange: () => undefined,
  });
  /** Answers of the workers, each with the seed that they were handed. */
  const answered: [seed: number, outcome: string][] = [];
  const watched = pool.members.map((member): QueueWorker => {
    const compute = withFaults(member);
    const run = async (run: V1RunTask) => {
      const outcome = (text: string) => answered.push([run.experiment.seed, text]);
      try {
        const result = await compute(run);
        outcome('computed');
        return result;
      } catch (error) {
        outcome((error as CodedError).code);
        throw error;
      }
    };
    return withRun(member, run as QueueWorker['run']);
  });
  const queue = new ExperimentQueue(watched, { limit, runTimeoutMs: RUN_TIMEOUT_MS });
  /** Seeds in the order in which their runs were answered, in whatever way. */
  const settled: number[] = [];
  const submit = (seed: number, owner = `owner of ${seed}`) => {
    const run = queue.submit(task(seed), owner);
    const outcome = run.result.then(
      ({ body }) => Buffer.from(body.bytes),
      (error: CodedError) => error.code,
    );
    void outcome.then(() => settled.push(seed));
    return { outcome, cancel: () => run.cancel() };
  };
  return { queue, submit, settled, answered };
}

async function expectBody(outcome: Promise<Buffer | string>, seed: number): Promise<void> {
  const { body } = await pool.run(task(seed));
  expect(await outcome).toEqual(Buffer.from(body.bytes));
}

const untilBegun = async (queue: ExperimentQueue) => {
  while (queue.running === 0) await new Promise((next) => setTimeout(next, 5));
};

it('answers in order of arrival, with the bytes of a single run', async () => {
  const { queue, submit, settled } = await open(1);
  const seeds = Array.from({ length: 12 }, (_, seed) => seed);
  const runs = seeds.map((seed) => submit(seed));
  expect([queue.running, queue.waiting]).toEqual([1, 11]);
  await untilIdle(queue);
  await Promise.all(runs.map(({ outcome }) => outcome));
  expect(settled).toEqual(seeds);
  for (const seed of seeds) await expectBody(runs[seed]!.outcome, seed);
});

it('withdraws the run ahead, which its worker then skips, and not one that has begun', async () => {
  const { queue, submit, answered } = await open(1);
  hold();
  const first = submit(0);
  const ahead = submit(1);
  const last = submit(2);
  expect(ahead.cancel()).toBe(true);
  expect(ahead.cancel()).toBe(false);
  expect(await ahead.outcome).toBe('RUN_CANCELLED');
  expect([queue.running, queue.waiting]).toEqual([1, 1]);
  // The worker begins the run within this time, which cannot be observed.
  await new Promise((next) => setTimeout(next, 200));
  expect(first.cancel()).toBe(false);
  release();
  await expectBody(first.outcome, 0);
  await expectBody(last.outcome, 2);
  expect(answered).toEqual([
    [0, 'computed'],
    [1, 'RUN_CANCELLED'],
    [2, 'computed'],
  ]);
});

it('counts the run ahead as waiting, in the limit of all and in that of its client', async () => {
  const { queue, submit } = await open(1, 4);
  hold();
  const runs = [submit(0, 'greedy'), submit(1, 'greedy'), submit(2, 'greedy')];
  expect(() => submit(3, 'greedy')).toThrow('2 runs of this client are waiting');
  runs.push(submit(3, 'modest'), submit(4, 'modest'));
  expect(() => submit(5, 'another')).toThrow('4 runs are waiting');
  release();
  await Promise.all(runs.map(({ outcome }) => outcome));
  expect([queue.running, queue.waiting]).toEqual([0, 0]);
  submit(6, 'greedy');
  submit(7, 'greedy');
});

it('a worker that dies takes its own run with it and no other', async () => {
  const { submit, settled } = await open(1);
  const culprit = submit(EXIT_SEED);
  const others = [1, 2, 3].map((seed) => submit(seed));
  expect(await culprit.outcome).toBe('WORKER_LOST');
  await Promise.all(others.map(({ outcome }) => outcome));
  expect(settled).toEqual([EXIT_SEED, 1, 2, 3]);
  for (const [i, { outcome }] of others.entries()) await expectBody(outcome, i + 1);
  expect(pool.restarts).toBe(1);
});

it('run after run that ends its worker does not take the runs between them', async () => {
  const { queue, submit } = await open(1);
  const runs = [EXIT_SEED, 1, EXIT_SEED, 2, EXIT_SEED, EXIT_SEED, 3].map(
    (seed) => [seed, submit(seed)] as const,
  );
  await untilIdle(queue);
  for (const [seed, { outcome }] of runs) {
    if (seed === EXIT_SEED) expect(await outcome).toBe('WORKER_LOST');
    else await expectBody(outcome, seed);
  }
  expect(pool.restarts).toBe(4);
});

/** Seed of a run before which its worker gets, the first few times, another one over which it ends. */
const VICTIM_SEED = 77;

it.each([
  { deaths: 3, outcome: 'answers' },
  { deaths: 4, outcome: 'gives up' },
])('$outcome a run whose worker ends $deaths times over other runs', async ({ deaths }) => {
  let handed = 0;
  const { submit } = await open(1, 64, (member) => async (run) => {
    if (run.experiment.seed === VICTIM_SEED && handed++ < deaths) {
      // The last worker may not have been noticed to have ended: only a new one surely gets both.
      do await new Promise((next) => setTimeout(next, 50));
      while (member.state !== 'ready' || pool.restarts < handed - 1);
      member.run(task(EXIT_SEED)).catch(() => undefined);
    }
    return member.run(run);
  });
  const victim = submit(VICTIM_SEED);
  const behind = submit(1);
  if (deaths < 4) await expectBody(victim.outcome, VICTIM_SEED);
  else expect(await victim.outcome).toBe('WORKER_LOST');
  await expectBody(behind.outcome, 1);
  expect([handed, pool.restarts]).toEqual([4, deaths]);
});

it('a run that computes too long is ended, and the next one is answered', async () => {
  const { submit, answered } = await open(1);
  const endless = submit(SPIN_SEED);
  const behind = submit(1);
  expect(await endless.outcome).toBe('DEADLINE_PASSED');
  await expectBody(behind.outcome, 1);
  expect(answered.at(-1)).toEqual([1, 'computed']);
  expect(pool.restarts).toBe(1);
});

it('if another worker is free, nothing waits for a run that takes long', async () => {
  const { submit, settled } = await open(2);
  const endless = submit(SPIN_SEED);
  const others = [1, 2, 3, 4].map((seed) => submit(seed));
  await Promise.all(others.map(({ outcome }) => outcome));
  expect(settled).not.toContain(SPIN_SEED);
  expect(await endless.outcome).toBe('DEADLINE_PASSED');
  for (const [i, { outcome }] of others.entries()) await expectBody(outcome, i + 1);
});

it('a closed pool refuses tasks that compute, are ahead, or wait', async () => {
  const { queue, submit } = await open(1);
  hold();
  const runs = [0, 1, 2, 3].map((seed) => submit(seed));
  await untilBegun(queue);
  await pool.close();
  expect(await Promise.all(runs.map(({ outcome }) => outcome))).toEqual(new Array(4).fill('WORKER_LOST'));
  await untilIdle(queue);
});

it('every run is answered once, however runs, clients that go and workers that die follow one another', async () => {
  const seed = 7;
  const random = new PhiloxSequence(seed, 0, 0);
  const { queue, submit } = await open(2, 1_000);
  const outcomes: Promise<Buffer | string>[] = [];
  const expected: (string | undefined)[] = [];
  for (let i = 0; i < 400; i++) {
    // Far apart: a run that loses its worker over others four times fails, as it should.
    const isCulprit = i % 80 === 40;
    const run = submit(isCulprit ? EXIT_SEED : i);
    outcomes.push(run.outcome);
    const isGone = random.nextBelow(3) === 0 && run.cancel();
    expected.push(isGone ? 'RUN_CANCELLED' : isCulprit ? 'WORKER_LOST' : undefined);
    if (random.nextBelow(4) === 0) await new Promise((next) => setTimeout(next, random.nextBelow(4)));
  }
  await untilIdle(queue);
  const received = await Promise.all(outcomes);
  const named = received.map((outcome) => (typeof outcome === 'string' ? outcome : undefined));
  expect({ seed, outcomes: named }).toEqual({ seed, outcomes: expected });
  expect([queue.running, queue.waiting]).toEqual([0, 0]);
});
