import { DEFAULT_EXPERIMENT } from '../../experiments/presets/experiment.js';
import type { TrialProgress, TrialResult, TrialTask } from '../../experiments/plan/trial.js';
import { CodedError } from '../../engine/errors.js';
import { v1Protocol, type PoissonTrain, type Protocol } from '../../engine/stimulus/protocol.js';
import { ExperimentQueue } from './experiment-queue.js';
import type { BatchStage } from '../gpu/gpu-stage.js';
import type { QueueWorker } from './worker-slot.js';
import { beginTask, type V1RunResult, type V1RunTask, type V2TrialTask } from '../pool/task.js';
import { untilIdle } from '../../../test/support/idle-queue.js';

const LIMIT = 16;
const WIDEST = 4;

const PROTOCOL = v1Protocol(new Uint32Array(0), { nominalRateHz: 1, intensity: 1, seed: 1 }, 500);
const RUN_PROTOCOL = { ...PROTOCOL };
const TRIAL = { steps: new Uint16Array(0), neurons: new Uint32Array(0), deliveredEvents: 0 };
const RESULT = {
  body: { bytes: new Uint8Array(0), headBytes: 0 },
  timings: { simulateMs: 0, serialiseMs: 0 },
} as V1RunResult;

const taskOf = (seed: number): V1RunTask => ({
  kind: 'v1-run',
  experiment: { ...DEFAULT_EXPERIMENT, seed },
  view: 'full',
  gzip: false,
});
const MEMBRANE = {
  ...{ type: 'membrane', neurons: Uint32Array.of(0), everySteps: 10, maxRows: 1 },
  ...{ startStep: 0, endStep: 500 },
};
const settled = () => new Promise((resolve) => setTimeout(resolve));

let end: (() => Promise<void>) | undefined;
afterEach(() => end?.());

/** A stage that is always faster than the worker. */
function slowWorkerBehindFastStage() {
  const batches: number[] = [];
  let isBusy = false;
  const stage: BatchStage = {
    isReady: true,
    get room() {
      return isBusy ? 0 : WIDEST;
    },
    get isBusy() {
      return isBusy;
    },
    tasksAhead: 2 * WIDEST,
    simulate: async (jobs) => {
      batches.push(jobs.length);
      isBusy = true;
      await settled();
      isBusy = false;
      return jobs.map(() => TRIAL);
    },
  };
  return { ...slowWorkerBehind(stage), batches };
}

/** One worker, which ends a run only when it is told to. */
function slowWorkerBehind(stage: BatchStage) {
  const begun: { readonly task: V1RunTask; end(): void }[] = [];
  // Like a worker it begins a run once the one before it has ended.
  let last: Promise<unknown> = Promise.resolve();
  const worker: QueueWorker = {
    state: 'ready',
    run: ((task: V1RunTask) => {
      const result = last.then(() => {
        if (!beginTask(task.flag!)) throw new CodedError('RUN_CANCELLED', 'It was withdrawn.');
        return new Promise<V1RunResult>((resolve) => begun.push({ task, end: () => resolve(RESULT) }));
      });
      last = result.catch(() => undefined);
      return result;
    }) as QueueWorker['run'],
    restart: () => undefined,
    whenChanged: () => undefined,
  };
  const queue = new ExperimentQueue([worker], {
    limit: LIMIT,
    runTimeoutMs: 60_000,
    batches: { stage, protocolOf: () => RUN_PROTOCOL },
  });
  end = async () => {
    for (const run of begun) {
      run.end();
      await settled();
      await settled();
    }
    await untilIdle(queue);
  };
  return { queue, begun };
}

describe('ExperimentQueue before a stage that is faster than the workers', () => {
  it('is full when as many wait as may, wherever they wait', async () => {
    const { queue, begun } = slowWorkerBehindFastStage();
    const results: Promise<unknown>[] = [];
    const offer = async (owner: string) => {
      results.push(queue.submit(taskOf(results.length), owner).result);
      await settled();
      await settled();
    };
    for (let i = 0; i < LIMIT + 1; i++) await offer(`client ${i}`);
    expect([queue.running, queue.waiting]).toEqual([1, LIMIT]);
    await expect(offer('one more')).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await end!();
    await Promise.all(results);
    expect(begun).toHaveLength(results.length);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  it('leaves one client half of the line, wherever its runs wait', async () => {
    const { queue } = slowWorkerBehindFastStage();
    for (let seed = 0; seed < LIMIT / 2 + 1; seed++) {
      queue.submit(taskOf(seed), 'greedy');
      await settled();
    }
    expect(() => queue.submit(taskOf(99), 'greedy')).toThrow('runs of this client are waiting');
    queue.submit(taskOf(99), 'modest');
  });

  it('leaves to the worker a trial that records membranes, and takes the others', async () => {
    const { queue, begun, batches } = slowWorkerBehindFastStage();
    const trialOf = (reports: TrialTask['reports']) => ({ protocol: PROTOCOL, reports, countsAll: false });
    const trials = [[MEMBRANE], [], [MEMBRANE]].map((reports) =>
      queue.runTrial(trialOf(reports), { owner: 'a client' }),
    );
    for (const at of trials.keys()) {
      await settled();
      await settled();
      begun[at]!.end();
    }
    await Promise.all(trials);
    expect(batches).toEqual([1]);
    const tasks = begun.map(({ task }) => task as unknown as V2TrialTask);
    expect(
      tasks.map(({ trial, simulated }) => [trial.reports.length, simulated !== undefined]).sort(),
    ).toEqual([
      [0, true],
      [1, false],
      [1, false],
    ]);
  });

  describe('and many trials that workers have yet to end', () => {
    const trialsOf = (
      queue: ExperimentQueue,
      count: number,
      reports: TrialTask['reports'],
      isBackground: boolean,
    ) =>
      Array.from({ length: count }, () =>
        queue.runTrial({ protocol: PROTOCOL, reports, countsAll: false }, { owner: 'many', isBackground }),
      );
    const turns = async () => {
      for (let turn = 0; turn < LIMIT; turn++) await settled();
    };

    it.each([
      ['that only workers compute', [MEMBRANE], false],
      ['that are less urgent', [], true],
    ] as const)('takes a trial of another client: %s', async (_, reports, isBackground) => {
      const { queue, batches } = slowWorkerBehindFastStage();
      const trials = trialsOf(queue, 3 * WIDEST, reports as unknown as TrialTask['reports'], isBackground);
      await turns();
      const before = batches.length;
      const task = { protocol: PROTOCOL, reports: [], countsAll: false };
      trials.push(queue.runTrial(task, { owner: 'another' }));
      await turns();
      expect(batches.slice(before)[0]).toBeGreaterThan(0);
      await end!();
      await Promise.all(trials);
    });

    it('takes no further ones of the same urgency while more are back than wait', async () => {
      const { queue, batches } = slowWorkerBehindFastStage();
      const trials = trialsOf(queue, 2 * WIDEST - 2, [], false);
      await turns();
      const before = batches.length;
      trials.push(...trialsOf(queue, 1, [], false));
      await turns();
      expect(batches).toHaveLength(before);
      await end!();
      await Promise.all(trials);
    });
  });

  it('prepares no more than two batches ahead', async () => {
    const { queue, batches } = slowWorkerBehindFastStage();
    for (let seed = 0; seed < LIMIT; seed++) queue.submit(taskOf(seed), `client ${seed}`);
    for (let i = 0; i < LIMIT; i++) await settled();
    const taken = batches.reduce((sum, batch) => sum + batch, 0);
    expect(taken).toBeLessThanOrEqual(2 * WIDEST + 1);
  });

  it('withdraws a run that was simulated ahead, and writes no answer for it', async () => {
    const { queue, begun } = slowWorkerBehindFastStage();
    queue.submit(taskOf(1), 'a');
    await settled();
    const taken = queue.submit(taskOf(2), 'b');
    await settled();
    await settled();
    queue.submit(taskOf(3), 'c');
    await settled();
    await settled();
    expect(taken.cancel()).toBe(true);
    await expect(taken.result).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    expect(taken.cancel()).toBe(false);
    begun[0]!.end();
    await settled();
    expect(begun.map(({ task }) => task.experiment.seed)).toEqual([1, 3]);
    expect(begun[1]!.task.simulated).toBe(TRIAL);
  });

  it('drops a run that is withdrawn while it is simulated ahead', async () => {
    const { queue, begun } = slowWorkerBehindFastStage();
    queue.submit(taskOf(1), 'a');
    const taken = queue.submit(taskOf(2), 'b');
    expect(taken.cancel()).toBe(true);
    await expect(taken.result).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
    await settled();
    await settled();
    expect(begun.map(({ task }) => task.experiment.seed)).toEqual([1]);
  });
});

describe('ExperimentQueue before a stage that computes another batch', () => {
  function behindBusyStage() {
    const batches: unknown[][] = [];
    const stage = {
      isReady: true,
      room: WIDEST,
      isBusy: true,
      tasksAhead: 3 * WIDEST,
      simulate: async (jobs: readonly Protocol[]) => {
        batches.push(jobs.map((job) => (job === RUN_PROTOCOL ? 'run' : 'trial')));
        return jobs.map(() => undefined);
      },
    };
    const { queue } = slowWorkerBehind(stage);
    const endBatch = () => {
      stage.isBusy = false;
      queue.dispatch();
    };
    const runTrials = (count: number, reports: TrialTask['reports'] = []) =>
      Array.from({ length: count }, () =>
        queue.runTrial({ protocol: PROTOCOL, reports, countsAll: false }, { owner: 'trials' }),
      );
    return { queue, endBatch, batches, runTrials };
  }

  it('gives it another one only if it is full', async () => {
    const { queue, batches, runTrials } = behindBusyStage();
    const trials = runTrials(WIDEST - 1);
    await settled();
    expect(batches).toEqual([]);
    trials.push(...runTrials(1));
    await settled();
    expect(batches).toEqual([new Array(WIDEST).fill('trial')]);
    await Promise.all([end!(), untilIdle(queue), ...trials]);
  });

  it('gives it no trial that records membranes', async () => {
    const { queue, endBatch, batches, runTrials } = behindBusyStage();
    const trials = [...runTrials(WIDEST, [MEMBRANE]), ...runTrials(WIDEST - 1)];
    await settled();
    expect(batches).toEqual([]);
    endBatch();
    await Promise.all([end!(), untilIdle(queue), ...trials]);
  });

  it('does not let trials overtake the runs that are next', async () => {
    const { queue, endBatch, batches, runTrials } = behindBusyStage();
    for (const seed of [3, 4]) queue.submit(taskOf(seed), 'client');
    const trials = runTrials(WIDEST);
    await settled();
    expect(batches).toEqual([]);
    endBatch();
    expect(batches[0]).toEqual(['run', 'run']);
    await settled();
    await Promise.all([end!(), untilIdle(queue), ...trials]);
  });
});

describe('ExperimentQueue with trials that no GPU computes', () => {
  const edits: Partial<Protocol>[] = [
    { constants: { delaySteps: 1 } },
    { overrides: [] },
    { silencedWindows: [] },
  ];

  it('gives them to the workers, and only the others to the GPU', async () => {
    const offered: Protocol[] = [];
    const simulate = async (jobs: readonly Protocol[]) => {
      offered.push(...jobs);
      return jobs.map(() => undefined);
    };
    const stage = { isReady: true, room: WIDEST, isBusy: false, tasksAhead: WIDEST };
    const { queue, begun } = slowWorkerBehind({ ...stage, simulate });
    const protocols = edits.flatMap((edit) => [{ ...PROTOCOL, ...edit }, PROTOCOL]);
    const trials = protocols.map((protocol) =>
      queue.runTrial({ protocol, reports: [], countsAll: false }, { owner: 'trials' }),
    );
    for (let turn = 0; turn < 100; turn++) {
      await settled();
      for (const each of begun) each.end();
    }
    await Promise.all(trials);
    expect(begun).toHaveLength(protocols.length);
    expect(offered).toEqual(new Array(edits.length).fill(PROTOCOL));
  });
});

describe('a worker that is ended because a trial takes too long', () => {
  const TIMEOUT_MS = 20;
  const TASK: TrialTask = { protocol: PROTOCOL, reports: [], countsAll: false };
  const RESULT_OF_TRIAL: TrialResult = {
    ...{ spikes: 0, responding: 0, inputEvents: 0, synapticEvents: 0, reports: [] },
  };

  /** A worker that begins and ends tasks only when it is told to. */
  function heldWorker(onRestart: () => void) {
    const tasks: { begin(): void; answer(): void; lose(): void }[] = [];
    let change = () => undefined as void;
    const worker = {
      state: 'ready' as QueueWorker['state'],
      run: ((task: V2TrialTask) =>
        new Promise((resolve, reject) => {
          tasks.push({
            begin: () => beginTask(task.flag!),
            answer: () => resolve(RESULT_OF_TRIAL as never),
            lose: () => reject(new CodedError('WORKER_LOST', 'It ended.')),
          });
        })) as QueueWorker['run'],
      restart: onRestart,
      whenChanged: (listener: () => void) => (change = listener),
    };
    const queue = new ExperimentQueue([worker], {
      ...{ limit: LIMIT, runTimeoutMs: 60_000, trialTimeoutMs: TIMEOUT_MS },
    });
    const become = (state: QueueWorker['state']) => {
      worker.state = state;
      change();
    };
    return { queue, tasks, become };
  }
  /** Waits ten times as long as needed. */
  async function soon(condition: () => boolean): Promise<void> {
    for (let turn = 0; turn < 100 && !condition(); turn++) {
      await new Promise((resolve) => setTimeout(resolve, TIMEOUT_MS));
    }
  }

  it('limits the time of a task that waited for its successor', async () => {
    let restarts = 0;
    const { queue, tasks, become } = heldWorker(() => restarts++);
    const hung = [0, 1].map(() => queue.runTrial(TASK, { owner: 'a' }));
    const failed = Promise.allSettled(hung);
    tasks[0]!.begin();
    await soon(() => restarts === 1);
    become('starting');
    // The second one had not reached the worker, because a probe came before it.
    tasks[0]!.lose();
    await settled();
    become('ready');
    tasks[1]!.begin();
    await soon(() => restarts === 2);
    expect(restarts).toBe(2);
    tasks[1]!.lose();
    expect(await failed).toMatchObject([
      { reason: { code: 'DEADLINE_PASSED' } },
      { reason: { code: 'DEADLINE_PASSED' } },
    ]);
  });

  it('charges nothing for a task that it answers at the last moment', async () => {
    let restarts = 0;
    const computedMs: number[] = [];
    const { queue, tasks } = heldWorker(() => restarts++);
    const trials = [0, 1].map(() =>
      queue.runTrial(TASK, { owner: 'a', onComputed: (ms) => computedMs.push(ms) }),
    );
    tasks[0]!.begin();
    await soon(() => restarts === 1);
    for (const task of tasks) task.answer();
    await Promise.all(trials);
    expect(computedMs[0]).toBeGreaterThan(0);
    expect(computedMs[1]).toBe(0);
    await untilIdle(queue);
  });
});

describe('two workers, one of them reserved for runs', () => {
  const READING: TrialResult = { spikes: 0, responding: 0, inputEvents: 0, synapticEvents: 0, reports: [] };

  /** Workers that end a trial when they are told to, and say which event budget it had. */
  function heldWorkers(options: { readonly keepsWorkerForRuns?: boolean } = {}) {
    const begun: {
      readonly worker: number;
      readonly name: string;
      readonly budget?: number | undefined;
      readonly progress?: TrialProgress | undefined;
      end(result?: object): void;
      lose(): void;
    }[] = [];
    const workers = [0, 1].map((worker): QueueWorker => {
      let last: Promise<unknown> = Promise.resolve();
      return {
        state: 'ready',
        run: ((task: V1RunTask | V2TrialTask) => {
          const result = last.then(() => {
            if (!beginTask(task.flag!)) throw new CodedError('RUN_CANCELLED', 'It was withdrawn.');
            return new Promise((resolve, reject) => {
              if (task.kind === 'v1-run') {
                const end = () => resolve(RESULT);
                begun.push({ worker, name: `run ${task.experiment.seed}`, end, lose: reject });
                return;
              }
              const { inputs, eventBudget } = task.trial.protocol;
              const { name } = inputs[0]!.train as PoissonTrain;
              const end = (more = {}) => resolve({ ...READING, ...more });
              const lose = () => reject(new CodedError('WORKER_LOST', 'It ended.'));
              begun.push({ worker, name, budget: eventBudget, progress: task.progress, end, lose });
            });
          });
          last = result.catch(() => undefined);
          return result;
        }) as QueueWorker['run'],
        restart: () => undefined,
        whenChanged: () => undefined,
      };
    });
    const queue = new ExperimentQueue(workers, { limit: LIMIT, runTimeoutMs: 60_000, ...options });
    const trial = (name: string, neurons: number, more: Partial<Protocol> = {}) => {
      const task = trialOf(name, neurons);
      return queue.runTrial({ ...task, protocol: { ...task.protocol, ...more } }, { owner: name[0]! });
    };
    return { queue, begun, trial, names: () => begun.map(({ name, worker }) => `${name} on ${worker}`) };
  }
  function trialOf(name: string, neurons: number): TrialTask {
    const train = {
      kind: 'poisson',
      name,
      rateHz: 10,
      seed: 0,
      trial: 0,
      startStep: 0,
      endStep: 10,
    } as const;
    const inputs = [{ neurons: new Uint32Array(neurons), train }];
    const protocol = { inputs, silenced: new Uint32Array(0), durationSteps: 10, eventBudget: 5e7 };
    return { protocol, reports: [], countsAll: false };
  }
  const HEAVY = 1_000_000;

  it('a light trial does not wait for a heavy one of another client, one of the same client does', async () => {
    const { queue, begun, trial, names } = heldWorkers();
    const all = [trial('a1', HEAVY), trial('a2', 10), trial('b1', 10), trial('b2', 10), trial('c1', HEAVY)];
    await settled();
    expect(names()).toEqual(['a1 on 1', 'b1 on 0']);
    expect(begun.map(({ budget }) => budget)).toEqual([5e7, 750_000]);
    begun[1]!.end();
    await settled();
    expect(names().slice(2)).toEqual(['b2 on 0']);
    begun[2]!.end();
    await settled();
    // The trial of c waits, as it is heavy, though no worker computes for c; that of a waits, as one computes for a.
    expect(begun).toHaveLength(3);
    for (const at of [0, 3, 4]) {
      begun[at]!.end();
      await settled();
      await settled();
    }
    const last = begun.find(({ name }) => name === 'c1')!;
    expect([last.worker, last.budget]).toEqual([1, 5e7]);
    await Promise.all(all);
    await untilIdle(queue);
  });

  it('a step with many rows waits for a worker of trials, another step does not', async () => {
    const { queue, begun, trial, names } = heldWorkers();
    const heavy = trial('a1', HEAVY);
    await settled();
    const state = { previousNumber: undefined, stateBefore: undefined, memoryAfter: undefined };
    const step = { startStep: 0, endStep: 10, number: 1, synapticEvents: 0, readsDrives: false, ...state };
    const stepOf = (name: string, tableRows: number) =>
      queue.runStep({ ...trialOf(name, 10), expected: { tableRows } }, step, { owner: name[0]! });
    const steps = [stepOf('b1', 10_000), stepOf('c1', 100)];
    await settled();
    expect(names()).toEqual(['a1 on 1', 'c1 on 0']);
    begun[0]!.end();
    await settled();
    expect(names().slice(2)).toEqual(['b1 on 1']);
    for (const at of [1, 2]) begun[at]!.end();
    await Promise.all([heavy, ...steps]);
    await untilIdle(queue);
  });

  it('a trial that exceeds the small budget is computed anew in its turn, and never tried again', async () => {
    const { queue, begun, trial, names } = heldWorkers();
    const [, tried] = [trial('a1', HEAVY), trial('b1', 10)];
    await settled();
    begun[1]!.end({ stoppedAtStep: 3, synapticEvents: 750_001 });
    await settled();
    expect(names()).toEqual(['a1 on 1', 'b1 on 0']);
    begun[0]!.end();
    await settled();
    await settled();
    expect([names()[2]!.slice(0, 2), begun[2]!.budget]).toEqual(['b1', 5e7]);
    begun[2]!.end({ spikes: 7 });
    expect(await tried).toEqual({ ...READING, spikes: 7 });
    await untilIdle(queue);
  });

  it('a long trial whose worker is lost goes on from its last part, elsewhere or there', async () => {
    const { queue, begun, trial } = heldWorkers();
    const long = trial('a1', 10, { durationSteps: 100_000 });
    await settled();
    const parts = [10_000, 20_000].map((step) => ({ step, trialResult: READING }));
    begun[0]!.end(parts[0]);
    await settled();
    begun[1]!.end(parts[1]);
    await settled();
    begun[2]!.lose();
    await settled();
    expect(begun.map(({ progress }) => progress?.step)).toEqual([undefined, 10_000, 20_000, 20_000]);
    begun[3]!.end({ spikes: 3 });
    expect(await long).toEqual({ ...READING, spikes: 3 });
    await untilIdle(queue);
  });

  it('runs go before light trials', async () => {
    const { queue, begun, trial, names } = heldWorkers();
    void trial('a1', HEAVY);
    await settled();
    const runs = [queue.submit(taskOf(1), 'c').result];
    const light = [trial('b1', 10), trial('b2', 10)];
    await settled();
    expect(names()).toEqual(['a1 on 1', 'run 1 on 0']);
    begun[1]!.end();
    await settled();
    expect(names().slice(2)).toEqual(['b1 on 0']);
    runs.push(queue.submit(taskOf(2), 'c').result);
    begun[2]!.end();
    await settled();
    expect(names().slice(3)).toEqual(['run 2 on 0']);
    begun[3]!.end();
    await settled();
    expect(names().slice(4)).toEqual(['b2 on 0']);
    for (const at of [4, 0]) begun[at]!.end();
    await Promise.all([...runs, ...light]);
    await untilIdle(queue);
  });

  describe('and trials of rewired networks', () => {
    /** Trials of one client on networks that are named by a letter: `x` and the letter, then a number. */
    function rewired(client: string, { trial }: ReturnType<typeof heldWorkers>) {
      return (...names: string[]) =>
        names.map((name) => {
          const wiring = { shuffle: 'weights', seed: name.charCodeAt(0) } as const;
          // Heavy by its estimate, but short in fact.
          return trial(`${client}${name}`, 5000, { wiring });
        });
    }
    const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

    /** Ends begun tasks in their order, until none is left. */
    async function endAll({ begun, queue }: ReturnType<typeof heldWorkers>): Promise<void> {
      for (let at = 0; at < begun.length; at++) {
        begun[at]!.end();
        await settled();
        await settled();
      }
      await untilIdle(queue);
    }

    it('gives all trials of one network to one worker', async () => {
      const held = heldWorkers({ keepsWorkerForRuns: false });
      const all = rewired('x', held)('A1', 'B1', 'A2', 'A3', 'B2', 'A4', 'B3', 'B4', 'C1', 'C2');
      await settled();
      await endAll(held);
      await Promise.all(all);
      const workers = (network: string) =>
        new Set(held.begun.filter(({ name }) => name[1] === network).map(({ worker }) => worker));
      expect(['A', 'B', 'C'].map((network) => workers(network).size)).toEqual([1, 1, 1]);
      expect(workers('A')).not.toEqual(workers('B'));
    });

    it('lets a worker without a network help at once, and another one when it has been idle', async () => {
      const held = heldWorkers({ keepsWorkerForRuns: false });
      const { begun, names } = held;
      const all = rewired('x', held)('A1', 'A2', 'A3', 'A4', 'A5');
      await settled();
      // The first worker has prefetched A2.
      expect(names().sort()).toEqual(['xA1 on 1', 'xA3 on 0']);
      await endAll(held);
      await Promise.all(all);
      const before = begun.length;
      // Now one worker has B, the other one is idle, but not for long.
      const more = rewired('x', held)('B1', 'B2', 'B3', 'B4', 'B5');
      await settled();
      const ofB = () => begun.slice(before).map(({ name }) => name);
      expect(ofB()).toEqual(['xB1']);
      await later(60);
      begun.at(-1)!.end();
      await settled();
      await settled();
      expect(ofB().sort()).toEqual(['xB1', 'xB2', 'xB4']);
      await endAll(held);
      await Promise.all(more);
    });

    it('gives a network that one client had prepared to another client, at once', async () => {
      const held = heldWorkers();
      const all = [...rewired('x', held)('A1'), ...rewired('y', held)('A1')];
      await settled();
      await endAll(held);
      all.push(...rewired('z', held)('A1'));
      await settled();
      await endAll(held);
      await Promise.all(all);
      expect(held.begun.map(({ name }) => name)).toEqual(['xA1', 'yA1', 'zA1']);
    });

    it('goes on with a network for a while, whose turn ever it is, and then lets another client in', async () => {
      const held = heldWorkers();
      const { begun } = held;
      const all = [...rewired('x', held)('A1', 'A2', 'A3', 'A4'), ...rewired('y', held)('B1', 'B2')];
      await settled();
      const order = () => begun.map(({ name }) => name);
      begun[0]!.end();
      await settled();
      await settled();
      expect(order()).toEqual(['xA1', 'xA2']);
      await later(260);
      begun[1]!.end();
      await settled();
      await settled();
      // A task that was prefetched meanwhile comes first.
      const next = order().slice(2);
      expect(next.length).toBe(1);
      await endAll(held);
      await Promise.all(all);
      expect(order().indexOf('yB1')).toBeLessThan(order().indexOf('xA4'));
    });
  });
});
