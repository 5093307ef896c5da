/** A queue with both classes of jobs in front of real workers: runs of version 1 go first, then trials of version 2. */
import { DEFAULT_EXPERIMENT } from '../../src/experiments/presets/experiment.js';
import { trialOf, TrialReader } from '../../src/experiments/run/readout.js';
import type { EventTask } from '../../src/experiments/kinds/reports/event-table.js';
import { sharedArray } from '../../src/experiments/kinds/shared-array.js';
import {
  trialTask as trialOfCondition,
  type TrialResult,
  type TrialTask,
} from '../../src/experiments/plan/trial.js';
import { readConnectomeFile } from '../../src/workers/pool/connectome-file.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import type { CodedError } from '../../src/engine/errors.js';
import { drawInputEvents } from '../../src/engine/stimulus/input-events.js';
import { PhiloxSequence } from '../../src/engine/stimulus/philox.js';
import { ExperimentPool } from '../../src/workers/pool/experiment-pool.js';
import { ExperimentQueue, type QueueOptions } from '../../src/workers/queue/experiment-queue.js';
import type { QueueWorker } from '../../src/workers/queue/worker-slot.js';
import type { V1RunTask, V2TrialTask } from '../../src/workers/pool/task.js';
import { startTrialPool } from '../../src/tools/cli/trial-pool.js';
import { EXIT_SEED, FaultyWorkers, SPIN_SEED, withRun } from '../support/faulty-workers.js';
import { answerOf, localTrials, planOf } from '../support/open-experiments.js';
import { smallConnectomeFile } from '../support/small-connectome.js';
import { untilIdle } from '../support/idle-queue.js';

const workers = new FaultyWorkers();
let buffer: SharedArrayBuffer;
let connectome: Connectome;
let expectedResult: (task: TrialTask) => TrialResult;
let pool: ExperimentPool | undefined;

beforeAll(async () => {
  buffer = (await readConnectomeFile(smallConnectomeFile())) as SharedArrayBuffer;
  connectome = openConnectome(buffer);
  expectedResult = trialOf(new TrialReader(connectome, drawInputEvents), new ReferenceEngine(connectome));
});
afterAll(() => workers.remove());
afterEach(async () => {
  workers.release();
  await pool?.close();
  pool = undefined;
});

const stimulated = sharedArray(Array.from({ length: 12 }, (_, i) => i));
const everyNeuron = () => sharedArray(Array.from({ length: connectome.neuronCount }, (_, i) => i));

/** @param seed of the trial's train; some are faults */
function trialTask(seed: number): TrialTask {
  const durationSteps = 500;
  const window = { startStep: 0, endStep: durationSteps };
  const train = { kind: 'poisson', name: 'in', rateHz: 200, seed, trial: 0, ...window } as const;
  return {
    protocol: { inputs: [{ neurons: stimulated, train }], silenced: sharedArray([]), durationSteps },
    reports: [
      { type: 'rate', neurons: everyNeuron(), ...window },
      { type: 'spikes', neurons: everyNeuron(), ...window, maxRows: 1000 } as EventTask,
    ],
    countsAll: true,
  };
}

const runTask = (seed: number): V1RunTask => ({
  kind: 'v1-run',
  experiment: { ...DEFAULT_EXPERIMENT, stimulus: 'loom', seed },
  view: 'drive',
  gzip: false,
});

async function open(workerCount: number, options: Partial<QueueOptions> = {}) {
  const members = (pool = await ExperimentPool.start({
    workers: workerCount,
    workerData: { connectome: buffer },
    workerFile: workers.file,
    onStrayError: () => undefined,
    onChange: () => undefined,
  })).members;
  /** Tasks computed to the end, such as `run 7` or `trial 3`, each with its worker. */
  const computed: [name: string, worker: number][] = [];
  const watched = members.map((member, i): QueueWorker => {
    const run = async (task: V1RunTask | V2TrialTask) => {
      const result = await (member.run as (task: V1RunTask | V2TrialTask) => Promise<unknown>).call(
        member,
        task,
      );
      computed.push([nameOf(task), i]);
      return result;
    };
    return withRun(member, run as QueueWorker['run']);
  });
  const queue = new ExperimentQueue(watched, { limit: 64, runTimeoutMs: 30_000, ...options });
  const run = (seed: number) =>
    queue.submit(runTask(seed), `owner of ${seed}`).result.then(() => 'computed', codeOf);
  const background = (seed: number, owner = 'job') =>
    queue.runTrial(trialTask(seed), { owner, isBackground: true }).catch(codeOf);
  const trial = (seed: number, owner = 'laboratory', signal?: AbortSignal) =>
    queue.runTrial(trialTask(seed), { owner, ...(signal && { signal }) }).catch(codeOf);
  return { queue, run, trial, background, computed, names: () => computed.map(([name]) => name) };
}

const codeOf = (error: unknown) => (error as CodedError).code ?? error;

function nameOf(task: V1RunTask | V2TrialTask): string {
  if (task.kind === 'v1-run') return `run ${task.experiment.seed}`;
  const { train } = task.trial.protocol.inputs[0]!;
  return `trial ${train.kind === 'poisson' ? train.seed : ''}`;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((next) => setTimeout(next, 2));
}

const seeds = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

describe('trials', () => {
  it('are read as by the reference engine in this thread, in arrays of their own', async () => {
    const { trial } = await open(1);
    const results = await Promise.all(seeds(5).map((seed) => trial(seed)));
    expect(results).toEqual(seeds(5).map((seed) => expectedResult(trialTask(seed))));
    expect((results[0] as TrialResult).spikes).toBeGreaterThan(20);
  });

  it('wait for the runs that wait, and a run waits for one trial', async () => {
    const { queue, run, trial, names } = await open(1);
    workers.hold('v2-trial');
    const trials = seeds(6).map((seed) => trial(seed));
    expect(queue.trials).toEqual({ waiting: 4, running: 1 });
    const runs = seeds(3).map((seed) => run(seed));
    // The trial that was queued ahead waits again.
    expect(queue.trials).toEqual({ waiting: 5, running: 1 });
    expect([queue.running, queue.waiting]).toEqual([0, 3]);
    await until(() => queue.isComputing);
    workers.release();
    await Promise.all([...trials, ...runs]);
    const order = names().filter((name) => name !== 'trial 0');
    expect(names()[0]).toBe('trial 0');
    expect(order).toEqual(['run 0', 'run 1', 'run 2', ...seeds(5, 1).map((seed) => `trial ${seed}`)]);
  });

  it('of background work wait for all others, and each of these waits for one of them', async () => {
    const { queue, run, trial, background, names } = await open(1);
    workers.hold('v2-trial');
    const behind = seeds(5).map((seed) => background(seed));
    expect(queue.hasRoomForBackground).toBe(true);
    const urgent = seeds(3, 10).map((seed) => trial(seed));
    // One is computed; the one that was queued ahead waits again.
    expect(queue.trials).toEqual({ waiting: 7, running: 1 });
    expect(queue.hasRoomForBackground).toBe(false);
    const first = run(1);
    await until(() => queue.isComputing);
    workers.release();
    await Promise.all([...behind, ...urgent, first]);
    expect(names()).toEqual([
      'trial 0',
      'run 1',
      ...seeds(3, 10).map((seed) => `trial ${seed}`),
      ...seeds(4, 1).map((seed) => `trial ${seed}`),
    ]);
  });

  it('say how long their worker took', async () => {
    const { queue } = await open(1);
    const took: number[] = [];
    const options = { owner: 'job', isBackground: true, onComputed: (ms: number) => void took.push(ms) };
    await Promise.all(seeds(3).map((seed) => queue.runTrial(trialTask(seed), options)));
    expect(took).toHaveLength(3);
    for (const ms of took) expect(ms).toBeGreaterThan(0);
  });

  it('leave one of several workers to runs, even while that worker has nothing to do', async () => {
    const { queue, run, trial, computed } = await open(3);
    workers.hold('v2-trial');
    const trials = seeds(10).map((seed) => trial(seed));
    expect(queue.trials).toEqual({ waiting: 6, running: 2 });
    expect(queue.trialsInFlight).toBe(4);
    for (const seed of seeds(5)) expect(await run(seed)).toBe('computed');
    expect(computed.map(([name]) => name)).toEqual(seeds(5).map((seed) => `run ${seed}`));
    workers.release();
    await Promise.all(trials);
    const [ofRuns, ofTrials] = ['run', 'trial'].map(
      (kind) => new Set(computed.flatMap(([name, worker]) => (name.startsWith(kind) ? [worker] : []))),
    );
    expect(ofRuns!.size).toBe(1);
    expect(ofTrials!.size).toBe(2);
    expect([...ofTrials!].some((worker) => ofRuns!.has(worker))).toBe(false);
  });

  it('use every worker if there are no runs', async () => {
    const { queue, trial, computed } = await open(2, { keepsWorkerForRuns: false });
    workers.hold('v2-trial');
    const trials = seeds(8).map((seed) => trial(seed));
    expect(queue.trials).toEqual({ waiting: 4, running: 2 });
    workers.release();
    await Promise.all(trials);
    expect(new Set(computed.map(([, worker]) => worker)).size).toBe(2);
  });

  it('do not count in the limit of runs', async () => {
    const { queue, run, trial } = await open(1, { limit: 2 });
    workers.hold('v2-trial');
    const trials = seeds(20).map((seed) => trial(seed, 'somebody'));
    const runs = [run(1), run(2)];
    expect(queue.waiting).toBe(2);
    expect(() => queue.submit(runTask(3), 'another')).toThrow('2 runs are waiting');
    workers.release();
    expect(await Promise.all(runs)).toEqual(['computed', 'computed']);
    await Promise.all(trials);
  });

  it('of a client that comes wait for the one that is computed; then whoever took less of the worker goes next', async () => {
    const { trial, names } = await open(1);
    workers.hold('v2-trial');
    const greedy = seeds(20).map((seed) => trial(seed, 'greedy'));
    const modest = seeds(3, 100).map((seed) => trial(seed, 'modest'));
    // The first takes longer than those three together.
    await new Promise((resolve) => setTimeout(resolve, 500));
    workers.release();
    await Promise.all([...greedy, ...modest]);
    const order = names();
    expect(order.slice(0, 5)).toEqual([
      'trial 0',
      ...seeds(3, 100).map((seed) => `trial ${seed}`),
      'trial 1',
    ]);
  });

  it('are cancelled by the hundred: those that wait, the one ahead and the one that computes', async () => {
    const { queue, trial, names } = await open(1);
    workers.hold('v2-trial');
    const [cancelled, kept] = [new AbortController(), new AbortController()];
    const gone = seeds(500).map((seed) => trial(seed, 'a', cancelled.signal));
    const others = seeds(3, 1000).map((seed) => trial(seed, 'b', kept.signal));
    await until(() => queue.isComputing);
    // The worker begins the trial within this time, which cannot be observed.
    await new Promise((next) => setTimeout(next, 200));
    cancelled.abort('gone');
    expect(await Promise.all(gone)).toEqual(new Array(500).fill('gone'));
    expect(await trial(7, 'a', cancelled.signal)).toBe('gone');
    workers.release();
    expect(await Promise.all(others)).toEqual(seeds(3, 1000).map((seed) => expectedResult(trialTask(seed))));
    await untilIdle(queue);
    // The first had begun, and nobody waits for it.
    expect(names()).toEqual(['trial 0', ...seeds(3, 1000).map((seed) => `trial ${seed}`)]);
    expect(queue.trials).toEqual({ waiting: 0, running: 0 });
  });

  it('are computed again if their worker died over another task', async () => {
    const { trial, run } = await open(1);
    const trials = [0, EXIT_SEED, 1, 2].map((seed) => trial(seed));
    const [first, culprit, ...behind] = await Promise.all(trials);
    expect(culprit).toBe('WORKER_LOST');
    expect([first, ...behind]).toEqual(seeds(3).map((seed) => expectedResult(trialTask(seed))));
    // Once again before it was given up.
    expect(pool!.restarts).toBe(2);
    const [lost, after] = [run(EXIT_SEED), trial(3)];
    expect(await lost).toBe('WORKER_LOST');
    expect(await after).toEqual(expectedResult(trialTask(3)));
  });

  it('that do not end are found, and cost nobody else an answer', async () => {
    const { trial } = await open(1, { trialTimeoutMs: 1_000 });
    const [endless, behind] = [trial(SPIN_SEED), trial(1)];
    expect(await endless).toBe('DEADLINE_PASSED');
    expect(await behind).toEqual(expectedResult(trialTask(1)));
    expect(pool!.restarts).toBe(1);
  });

  it('are refused by a pool that is closed, wherever they are', async () => {
    const { queue, trial } = await open(1);
    workers.hold('v2-trial');
    const trials = seeds(10).map((seed) => trial(seed));
    await until(() => queue.isComputing);
    await pool!.close();
    expect(await Promise.all(trials)).toEqual(new Array(10).fill('WORKER_LOST'));
    await untilIdle(queue);
  });

  it('and runs are answered once, however both come, clients go and workers die', async () => {
    const seed = 7;
    const random = new PhiloxSequence(seed, 0, 0);
    const { queue, run, trial } = await open(2, { limit: 1_000 });
    const outcomes: Promise<unknown>[] = [];
    const expected: unknown[] = [];
    for (let i = 0; i < 400; i++) {
      // Far apart: a run that loses its worker over others four times fails, as it should.
      const isCulprit = i % 80 === 40;
      const of = isCulprit ? EXIT_SEED : i;
      if (random.nextBelow(2) === 0) {
        outcomes.push(run(of));
        expected.push(isCulprit ? 'WORKER_LOST' : 'computed');
      } else if (random.nextBelow(4) === 0) {
        const leaving = new AbortController();
        outcomes.push(trial(of, `owner ${i % 3}`, leaving.signal));
        leaving.abort('gone');
        expected.push('gone');
      } else {
        outcomes.push(trial(of, `owner ${i % 3}`));
        expected.push(isCulprit ? 'WORKER_LOST' : expectedResult(trialTask(of)).spikes);
      }
      if (random.nextBelow(4) === 0) await new Promise((next) => setTimeout(next, random.nextBelow(4)));
    }
    await untilIdle(queue);
    const received = (await Promise.all(outcomes)).map((outcome) =>
      typeof outcome === 'string' ? outcome : (outcome as TrialResult).spikes,
    );
    expect({ seed, outcomes: received }).toEqual({ seed, outcomes: expected });
    expect([queue.running, queue.waiting, queue.trials]).toEqual([0, 0, { waiting: 0, running: 0 }]);
  });
});

/** A sweep with every type of report, whose baseline decides the next conditions. */
const SCREEN = {
  inputs: { sugar: { node_set: 'S_sugar', rate_hz: 60 } },
  duration_ms: 60,
  trials: 3,
  reports: {
    all: { node_set: '*', group_by: ['side'] },
    motor: { node_set: 'C_motor', type: 'histogram', group_by: ['neuron'] },
    rows: { node_set: 'C_*', type: 'spikes' },
    events: { node_set: 'S_sugar', type: 'inputs' },
  },
  sweep: [{ each: { responders_of: 'baseline', top: 4 }, group_by: ['type'], as: 'silence' }],
};

describe('startTrialPool', () => {
  it('gives a whole experiment the answer that it has in one thread', async () => {
    const plan = planOf(connectome, SCREEN);
    const trials = await startTrialPool(buffer, 3);
    try {
      const answer = await answerOf(
        plan,
        (task, trial, signal) => trials.runTrial(trialOfCondition(task, trial), signal),
        { inFlight: trials.inFlight },
      );
      expect(answer.conditions.length).toBeGreaterThan(2);
      expect(answer).toEqual(await answerOf(plan, localTrials(connectome)));
    } finally {
      await trials.close();
    }
  });

  it('computes on all its workers, and ends while they compute', async () => {
    const trials = await startTrialPool(buffer, 2, workers.file);
    try {
      expect(trials.inFlight).toBe(4);
      const results = await Promise.all(seeds(9).map((seed) => trials.runTrial(trialTask(seed))));
      expect(results).toEqual(seeds(9).map((seed) => expectedResult(trialTask(seed))));
      workers.hold('v2-trial');
      const interrupt = new AbortController();
      const held = seeds(4).map((seed) => trials.runTrial(trialTask(seed), interrupt.signal).catch(codeOf));
      interrupt.abort('interrupted');
      expect(await Promise.all(held)).toEqual(new Array(4).fill('interrupted'));
    } finally {
      await trials.close();
    }
    expect(await trials.runTrial(trialTask(0)).catch(codeOf)).toBe('WORKER_LOST');
  });
});
