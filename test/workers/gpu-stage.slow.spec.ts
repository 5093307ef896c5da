/**
 * The GPU beside the workers, with a real host process, real workers and a real line, and a thread in the host that
 * only pretends to hold a GPU: so every fault can be had, on every machine.
 */
import { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { readConnectomeFile } from '../../src/workers/pool/connectome-file.js';
import type { Connectome } from '../../src/engine/connectome/connectome.js';
import { openConnectome } from '../../src/engine/connectome/format.js';
import { DEFAULT_EXPERIMENT, protocolOf } from '../../src/experiments/presets/experiment.js';
import { trialOf, TrialReader } from '../../src/experiments/run/readout.js';
import type { EventTask } from '../../src/experiments/kinds/reports/event-table.js';
import { sharedArray } from '../../src/experiments/kinds/shared-array.js';
import type { TrialResult, TrialTask } from '../../src/experiments/plan/trial.js';
import { ReferenceEngine } from '../../src/engine/simulation/reference-engine.js';
import { drawInputEvents } from '../../src/engine/stimulus/input-events.js';
import { CodedError, ERRORS } from '../../src/engine/errors.js';
import { ExperimentPool } from '../../src/workers/pool/experiment-pool.js';
import { ExperimentQueue } from '../../src/workers/queue/experiment-queue.js';
import { GpuHost } from '../../src/workers/gpu/gpu-host.js';
import { GpuStage, type GpuStageOptions, type GpuState } from '../../src/workers/gpu/gpu-stage.js';
import type { V1RunTask } from '../../src/workers/pool/task.js';
import { WORKER_FILE } from '../../src/workers/pool/worker-file.js';
import { smallConnectomeFile } from '../support/small-connectome.js';
import { untilIdle } from '../support/idle-queue.js';

const MAX_RUN_STEPS = 2000;
const UNCERTIFIED_SEED = 1_001;
const CRASH_SEED = 1_002;
const HANG_SEED = 1_003;
const DEVICE_LOST_SEED = 1_004;
const NO_ROOM_SEED = 1_005;
const ZEROS_SEED = 1_006;
const UNPREPARED_SEED = 1_007;
const UNREAD_SEED = 1_008;
const GPU_LIKE_WORKER = pathToFileURL(resolve('test/support/gpu-like.worker.mjs')).href;
const BATCH_TIMEOUT_MS = 1_000;

const connectomeFile = smallConnectomeFile();
let pool: ExperimentPool;
let connectome: Connectome;
let digest: string;
let expectedResult: (task: TrialTask) => TrialResult;

beforeAll(async () => {
  const buffer = await readConnectomeFile(connectomeFile);
  connectome = openConnectome(buffer);
  digest = connectome.digest;
  expectedResult = trialOf(new TrialReader(connectome, drawInputEvents), new ReferenceEngine(connectome));
  pool = await ExperimentPool.start({
    workers: 1,
    workerData: { connectome: buffer },
    workerFile: WORKER_FILE,
    onStrayError: () => {},
    onChange: () => {},
  });
});
afterAll(() => pool.close());

interface Setup {
  readonly stage: GpuStage;
  readonly queue: ExperimentQueue;
  readonly states: GpuState[];
  until(name: GpuState['name']): Promise<GpuState>;
}

const opened: GpuStage[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((stage) => stage.close()));
});

function open(overrides: Partial<GpuStageOptions> = {}): Setup {
  const states: GpuState[] = [];
  const stage = new GpuStage({
    opening: { connectomeFile, digest, allowSoftware: true, workerFile: GPU_LIKE_WORKER },
    batchTimeoutMs: BATCH_TIMEOUT_MS,
    askAdapter: async () => 'a pretended GPU',
    onChange: (state) => {
      states.push(state);
      queue.dispatch();
    },
    ...overrides,
  });
  const queue = new ExperimentQueue(pool.members, {
    limit: 64,
    runTimeoutMs: 30_000,
    batches: {
      stage,
      protocolOf: ({ experiment }) => protocolOf(connectome, experiment),
    },
  });
  opened.push(stage);
  stage.start();
  const until = async (name: GpuState['name']) => {
    for (let ms = 0; stage.state.name !== name; ms += 10) {
      if (ms > 30_000) throw new Error(`it is ${JSON.stringify(stage.state)}, not ${name}`);
      await new Promise((done) => setTimeout(done, 10));
    }
    return stage.state;
  };
  return { stage, queue, states, until };
}

/** @returns threads of the host that sleep before each batch */
function slowBy(ms: number): string {
  const worker = join(mkdtempSync(join(tmpdir(), 'gpu-stage-')), 'slow.worker.mjs');
  writeFileSync(
    worker,
    `import { simulate as really } from '${GPU_LIKE_WORKER}';
     export { open, prepare, read } from '${GPU_LIKE_WORKER}';
     const cell = new Int32Array(new SharedArrayBuffer(4));
     export const simulate = (tables) => {
       Atomics.wait(cell, 0, 0, ${ms});
       return really(tables);
     };`,
  );
  return pathToFileURL(worker).href;
}

/** @returns threads of the host that answer a full batch only when there are two of them, the second one first */
function onlyInPairs(): string {
  const worker = join(mkdtempSync(join(tmpdir(), 'gpu-stage-')), 'pairs.worker.mjs');
  writeFileSync(
    worker,
    `import { simulate as really } from '${GPU_LIKE_WORKER}';
     export { open, prepare, read } from '${GPU_LIKE_WORKER}';
     let release;
     export const simulate = async (tables) => {
       if (tables.shape.width === 4) {
         if (release === undefined) await new Promise((resolve) => (release = resolve));
         else release = release();
       }
       return really(tables);
     };`,
  );
  return pathToFileURL(worker).href;
}

/** @param seed of the trial's train; some are faults. Its arrays lie in shared memory, as those of the service. */
function trialTask(seed: number): TrialTask {
  const window = { startStep: 0, endStep: 500 };
  const train = { kind: 'poisson', name: 'in', rateHz: 200, seed, trial: 0, ...window } as const;
  const neurons = sharedArray(Array.from({ length: connectome.neuronCount }, (_, i) => i));
  return {
    protocol: {
      inputs: [{ neurons: neurons.subarray(0, 12), train }],
      silenced: sharedArray([3, 20]),
      durationSteps: 500,
    },
    reports: [{ type: 'spikes', neurons, ...window, maxRows: 10_000 } as EventTask],
    countsAll: true,
  };
}

const runTask = (seed: number): V1RunTask => ({
  kind: 'v1-run',
  experiment: { ...DEFAULT_EXPERIMENT, stimulus: 'loom', seed },
  view: 'full',
  gzip: false,
});

/** Runs them all at once and checks every body against the CPU's; returns the backends. */
async function run(queue: ExperimentQueue, seeds: readonly number[]): Promise<string[]> {
  const runs = seeds.map((seed) => queue.submit(runTask(seed), 'somebody').result);
  const results = await Promise.all(runs);
  for (const [i, seed] of seeds.entries()) {
    const { body } = await pool.run(runTask(seed));
    expect(Buffer.from(results[i]!.body.bytes).equals(Buffer.from(body.bytes))).toBe(true);
  }
  return results.map(({ backend }) => backend);
}

describe('GpuStage', () => {
  it('simulates waiting trials in batches, and the answers are those of the CPU byte for byte', async () => {
    const { queue, stage, until } = open();
    expect(await until('ready')).toMatchObject({ adapter: 'a pretended GPU' });
    expect(await run(queue, [1, 2, 3, 4, 5, 6, 7])).toEqual(new Array(7).fill('gpu'));
    expect(stage.runs).toEqual({ certified: 7, repeated: 0, lost: 0 });
    await untilIdle(queue);
    expect([queue.running, queue.waiting]).toEqual([0, 0]);
  });

  it('leaves a run without a certificate to the CPU', async () => {
    const { queue, stage, until } = open();
    await until('ready');
    // The first is a batch by itself, since nothing else waits yet; the others follow as one batch.
    expect(await run(queue, [1, UNCERTIFIED_SEED, 3])).toEqual(['gpu', 'cpu', 'gpu']);
    expect(stage.runs).toEqual({ certified: 2, repeated: 1, lost: 0 });
  });

  it.each([
    ['crashes', CRASH_SEED, /ended \(SIGSEGV\)/],
    ['hangs', HANG_SEED, /did not answer within 1000 ms/],
    ['loses its device', DEVICE_LOST_SEED, /device was lost/],
  ])('a host that %s costs no run, is told, and comes back', async (_, seed, reason) => {
    const { queue, stage, states, until } = open();
    await until('ready');
    expect(await run(queue, [1, seed, 3, 4])).toEqual(['gpu', 'cpu', 'cpu', 'cpu']);
    expect(stage.runs.lost).toBe(3);
    expect(states.find(({ name }) => name === 'lost')).toMatchObject({
      reason: expect.stringMatching(reason) as string,
    });
    await until('ready');
    expect(await run(queue, [5])).toEqual(['gpu']);
  });

  it.each([
    ['returns zeros', ZEROS_SEED, /refused a batch/],
    ['loses the thread that prepares', UNPREPARED_SEED, /A thread of the GPU process ended/],
    ['loses the thread that reads', UNREAD_SEED, /A thread of the GPU process ended/],
  ])('a host that %s costs no run and is told', async (_, seed, reason) => {
    const { queue, stage, until } = open();
    await until('ready');
    expect(await run(queue, [1, seed, 3, 4])).toEqual(['gpu', 'cpu', 'cpu', 'cpu']);
    expect(stage.runs.lost).toBe(3);
    expect(await until('lost')).toMatchObject({ reason: expect.stringMatching(reason) as string });
  });

  it('a host that cannot be ended costs no run either', async () => {
    const { queue, stage, until } = open();
    const state = await until('ready');
    // A process that waits inside a driver does not end by a signal either.
    const kill = jest.spyOn(ChildProcess.prototype, 'kill').mockReturnValue(true);
    try {
      expect(await run(queue, [1, HANG_SEED])).toEqual(['gpu', 'cpu']);
      expect(stage.state.name).toBe('lost');
      expect([queue.running, queue.waiting]).toEqual([0, 0]);
    } finally {
      kill.mockRestore();
    }
    process.kill(state.name === 'ready' ? state.processId : 0, 'SIGKILL');
  });

  it('a host that is killed between runs comes back as another process', async () => {
    const { queue, until } = open();
    const before = await until('ready');
    const processId = before.name === 'ready' ? before.processId : 0;
    process.kill(processId, 'SIGKILL');
    await until('lost');
    expect(await run(queue, [1])).toEqual(['cpu']);
    const after = await until('ready');
    expect(after.name === 'ready' && after.processId !== processId).toBe(true);
    expect(await run(queue, [2])).toEqual(['gpu']);
  });

  it('tries again when the kernels do not compile', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gpu-stage-'));
    const refuse = join(folder, 'refuse');
    writeFileSync(refuse, '');
    const worker = join(folder, 'refusing-once.worker.mjs');
    writeFileSync(
      worker,
      `import { existsSync, unlinkSync } from 'node:fs';
       import { open as really } from '${GPU_LIKE_WORKER}';
       export { prepare, read, simulate } from '${GPU_LIKE_WORKER}';
       const failure = { code: 'GPU_FAILED', message: 'The shader does not compile.' };
       export const open = () => {
         if (!existsSync('${refuse}')) return really();
         unlinkSync('${refuse}');
         return { ok: false, failure };
       };`,
    );
    const workerFile = pathToFileURL(worker).href;
    const { states, until } = open({
      opening: { connectomeFile, digest, allowSoftware: true, workerFile },
    });
    await until('ready');
    expect(existsSync(refuse)).toBe(false);
    expect(states.map(({ name }) => name)).toEqual(['starting', 'lost', 'ready']);
    expect(states[1]).toMatchObject({ reason: 'The shader does not compile.' });
  });

  it('refuses a connectome file that is no longer the one that is served', async () => {
    const opening = {
      connectomeFile,
      digest: '0'.repeat(64),
      allowSoftware: true,
      workerFile: GPU_LIKE_WORKER,
    };
    expect(await open({ opening }).until('lost')).toMatchObject({
      reason: ERRORS.CONNECTOME_INVALID.meaning,
      error: expect.objectContaining({
        message: expect.stringContaining('The connectome file has changed') as string,
      }) as Error,
    });
  });

  describe('with trials of open experiments', () => {
    it('reads the results of the reference engine, however they are simulated', async () => {
      const { queue, stage, until } = open();
      await until('ready');
      expect(queue.trialsInFlight).toBe(2 + 5 * 4);
      const tasks = [1, 2, UNCERTIFIED_SEED, 4, 5, 6].map((seed) => trialTask(seed));
      const stopped = { ...trialTask(7), protocol: { ...trialTask(7).protocol, eventBudget: 200 } };
      const results = await Promise.all(
        [...tasks, stopped].map((task) => queue.runTrial(task, { owner: 'somebody' })),
      );
      expect(results).toEqual([...tasks, stopped].map((task) => expectedResult(task)));
      expect(results.at(-1)!.stoppedAtStep).toBeLessThan(499);
      expect(stage.runs).toEqual({ certified: 6, repeated: 1, lost: 0 });
      await untilIdle(queue);
      expect(queue.trials).toEqual({ waiting: 0, running: 0 });
    });

    it('has several batches at once', async () => {
      const simulate = jest.spyOn(GpuHost.prototype, 'simulate');
      const opening = { connectomeFile, digest, allowSoftware: true, workerFile: onlyInPairs() };
      const { queue, stage, until } = open({ opening });
      await until('ready');
      const tasks = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((seed) => trialTask(seed));
      const results = await Promise.all(tasks.map((task) => queue.runTrial(task, { owner: 'somebody' })));
      expect(results).toEqual(tasks.map((task) => expectedResult(task)));
      // The first is a batch by itself, since nothing else waits yet.
      expect(simulate.mock.calls.map(([{ length }]) => length)).toEqual([1, 4, 4]);
      simulate.mockRestore();
      expect(stage.runs).toEqual({ certified: 9, repeated: 0, lost: 0 });
    });

    it('gives a batch its time anew when one before it is answered, and the time of the longest', async () => {
      const simulate = jest.spyOn(GpuHost.prototype, 'simulate');
      // Two batches, one after the other, take longer than one may.
      const opening = { connectomeFile, digest, allowSoftware: true, workerFile: slowBy(1_500) };
      const batchTimeoutMs = 2_700;
      const { stage, until } = open({ opening, batchTimeoutMs });
      await until('ready');
      const { protocol } = trialTask(1);
      const long = { ...protocol, durationSteps: 2 * MAX_RUN_STEPS };
      const batches = [protocol, protocol, long].map((each) => stage.simulate([each]));
      expect((await Promise.all(batches)).flat()).not.toContain(undefined);
      expect(simulate.mock.calls.map(([, timeoutMs]) => timeoutMs / batchTimeoutMs)).toEqual([1, 1, 2]);
      simulate.mockRestore();
      expect(stage.runs).toEqual({ certified: 3, repeated: 0, lost: 0 });
    });

    it('computes all batches on the CPU that a crash has taken', async () => {
      const opening = { connectomeFile, digest, allowSoftware: true, workerFile: onlyInPairs() };
      const { queue, stage, until } = open({ opening });
      await until('ready');
      const tasks = [1, 2, 3, 4, 5, 6, CRASH_SEED, 8, 9].map((seed) => trialTask(seed));
      const results = await Promise.all(tasks.map((task) => queue.runTrial(task, { owner: 'somebody' })));
      expect(results).toEqual(tasks.map((task) => expectedResult(task)));
      expect(stage.runs.certified).toBeLessThan(2);
      expect(stage.runs.lost).toBeGreaterThan(7);
    });

    it('simulates trials one after another if there is no room side by side', async () => {
      const { stage, until } = open();
      await until('ready');
      const tasks = [1, NO_ROOM_SEED, 3, 4].map((seed) => trialTask(seed));
      const trials = await stage.simulate(tasks.map(({ protocol }) => protocol));
      const reference = new ReferenceEngine(connectome);
      expect(trials).toEqual(
        tasks.map(({ protocol }) => {
          const events = drawInputEvents(protocol, (i) => connectome.neuronId(i));
          return reference.simulate(events, protocol);
        }),
      );
    });

    it('returns spikes in shared memory, which workers are sent without a copy', async () => {
      const { stage, until } = open();
      await until('ready');
      const { protocol } = trialTask(1);
      const [trial] = await stage.simulate([protocol]);
      expect(trial!.steps.length).toBeGreaterThan(0);
      expect([trial!.steps.buffer, trial!.neurons.buffer].every(types.isSharedArrayBuffer)).toBe(true);
    });

    it('computes on the CPU trials that a crash has taken, and drops cancelled ones of a batch', async () => {
      const { queue, stage, until } = open();
      await until('ready');
      const leaving = new AbortController();
      const lost = [1, CRASH_SEED, 3].map((seed) => queue.runTrial(trialTask(seed), { owner: 'a' }));
      const left = queue.runTrial(trialTask(4), { owner: 'b', signal: leaving.signal });
      leaving.abort(new CodedError('RUN_CANCELLED', 'The client has left.'));
      await expect(left).rejects.toMatchObject({ code: 'RUN_CANCELLED' });
      expect(await Promise.all(lost)).toEqual(
        [1, CRASH_SEED, 3].map((seed) => expectedResult(trialTask(seed))),
      );
      expect(stage.runs.lost).toBeGreaterThan(0);
      await until('ready');
    });

    it('lets runs go first', async () => {
      const { queue, stage, until } = open();
      await until('ready');
      const order: string[] = [];
      // More than are in flight when the runs come.
      const trials = Array.from({ length: 25 }, (_, seed) =>
        queue.runTrial(trialTask(seed), { owner: 'a' }).then(() => order.push('trial')),
      );
      const runs = [1, 2].map((seed) =>
        queue.submit(runTask(seed), 'b').result.then(() => order.push('run')),
      );
      await Promise.all([...trials, ...runs]);
      expect(order.lastIndexOf('run')).toBeLessThan(20);
      expect(stage.runs.certified).toBe(27);
    });
  });

  it('waits for an adapter that is away', async () => {
    let isAway = false;
    const askAdapter = async () => {
      if (isAway) throw new CodedError('GPU_UNAVAILABLE', 'Vulkan has no adapter on this machine.');
      return 'a pretended GPU';
    };
    const { states, until } = open({ askAdapter });
    const ready = await until('ready');
    isAway = true;
    process.kill(ready.name === 'ready' ? ready.processId : 0, 'SIGKILL');
    await until('lost');
    while (states.length < 4) await new Promise((done) => setTimeout(done, 10));
    isAway = false;
    await until('ready');
    expect(states.map(({ name }) => name)).toEqual(['starting', 'ready', 'lost', 'lost', 'ready']);
  });

  it('ends with its host, also while that starts', async () => {
    const ready = open();
    const state = await ready.until('ready');
    await ready.stage.close();
    const processId = state.name === 'ready' ? state.processId : 0;
    expect(() => process.kill(processId, 0)).toThrow('ESRCH');
    await open().stage.close();
  });
});
