/**
 * npm run bench:gpu: the same experiments on the GPU, on one CPU worker and on as many workers as the machine has
 * cores, in one process and one sitting, so that the three can be compared. Ends with a digest of all spikes.
 */
import { createHash } from 'node:crypto';
import { availableParallelism, cpus } from 'node:os';
import { performance } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import gpujs from 'gpu.js';
import { runCommand } from '../dist/cli/command.js';
import { readConnectomeFile } from '../dist/connectome/connectome-file.js';
import { openConnectome } from '../dist/connectome/format.js';
import { viewConnectome } from '../dist/connectome/sections.js';
import { KernelEngine } from '../dist/engine/backends/cpu/kernel-engine.js';
import { requestGpuAdapter } from '../dist/engine/backends/gpu/adapter.js';
import { CELLS_PER_FLOAT } from '../dist/engine/backends/gpu/cells.js';
import { GpuEngine } from '../dist/engine/backends/gpu/gpu-engine.js';
import { WINDOW_STEPS } from '../dist/engine/backends/gpu/kernels.js';
import { DEFAULT_EXPERIMENT } from '../dist/answers/v1/experiment.js';
import { MAXIMUM_STEPS, STEPS_PER_MS } from '../dist/engine/network.js';
import { CodedError, describeValue } from '../dist/errors.js';
import { compileKernel } from '../dist/pool/kernel-file.js';
import { eventsOf } from './experiments.mjs';
import { median, printRows, rounded, wholeNumber } from './measure.mjs';

const MOST_EXPERIMENTS = 64;

const COMMAND = {
  name: 'bench:gpu',
  summary: 'Times batches of experiments on the GPU, beside one CPU worker and the whole CPU pool.',
  options: {
    connectome: {
      type: 'string',
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'What is simulated.',
    },
    stimuli: { type: 'string', value: 'LIST', help: 'Comma list of stimuli; all of them by default.' },
    widths: {
      type: 'string',
      value: 'LIST',
      default: '1,8,32,64',
      help: 'Sizes of a batch, ascending powers of two.',
    },
    duration: { type: 'string', value: 'MS', default: '100', help: 'Duration of a run.' },
    seeds: {
      type: 'string',
      value: 'N',
      default: '10',
      help: 'Runs of a stimulus that are compared spike by spike.',
    },
    rounds: { type: 'string', value: 'N', default: '5', help: 'How often each case is run.' },
    json: { type: 'boolean', help: 'Print the result as JSON alone.' },
  },
  run: measure,
};

async function measure(options) {
  const rounds = wholeNumber('rounds', options.rounds, 10_000);
  const seeds = wholeNumber('seeds', options.seeds, 10_000);
  const durationMs = wholeNumber('duration', options.duration, MAXIMUM_STEPS / STEPS_PER_MS);
  const widths = widthsIn(options.widths);
  const steps = durationMs * STEPS_PER_MS;
  const buffer = await readConnectomeFile(options.connectome);
  const connectome = openConnectome(buffer);
  const stimuli = options.stimuli?.split(',') ?? connectome.metadata.stimuli.map(({ id }) => id);
  const trainsOf = (stimulus, count) =>
    Array.from({ length: count }, (_, seed) =>
      eventsOf(connectome, { ...DEFAULT_EXPERIMENT, stimulus, duration_ms: durationMs, seed }),
    );

  const adapter = await requestGpuAdapter();
  // As the service does: what the adapter cannot bind is left out, here with a word.
  const { largestArrayBytes } = adapter;
  const engine = new GpuEngine(connectome, { mode: 'webgpu', widths, largestArrayBytes });
  const cpu = new KernelEngine(compileKernel(), connectome);
  const pool = await CpuPool.start(buffer, availableParallelism());
  const machine = { adapter, cpu: cpus()[0].model, cpuWorkers: pool.size, node: process.version };
  const digest = createHash('sha256');
  const rows = [];
  const checks = [];
  const say = (text) => options.json || console.log(text);
  say(`${adapter.name}${adapter.isSoftware ? ' (software: right, but its times say nothing)' : ''}`);
  say(`${machine.cpu}, ${machine.cpuWorkers} cores, Node ${machine.node}; times in ms`);
  const tooWide = widths.filter((width) => !engine.widths.includes(width));
  if (tooWide.length > 0) {
    say(
      `left out: batches of ${tooWide.join(', ')}, as the adapter binds at most ${largestArrayBytes} bytes`,
    );
  }
  say('');
  try {
    // Each row is shown when it is there: what comes later may fail.
    for (const stimulus of stimuli) {
      for (const width of engine.widths) {
        rows.push(await timesOf(stimulus, trainsOf(stimulus, width)));
        if (!options.json) printNextRow(rows);
      }
      checks.push(await checkOf(stimulus, trainsOf(stimulus, seeds)));
    }
  } finally {
    await pool.stop();
    await engine.destroy();
  }

  const report = { machine, rows, checks, digest: digest.digest('hex').slice(0, 16) };
  if (options.json) {
    console.log(JSON.stringify(report));
  } else {
    console.log();
    printRows(checks, false);
    console.log(`\ndigest of all spikes ${report.digest}`);
  }
  return checks.some(({ mismatches }) => mismatches > 0) ? 1 : 0;

  async function timesOf(stimulus, trains) {
    const batch = trains.length;
    const compileMs = await timed(() => engine.simulateBatch(trains, steps));
    const gpuMs = await medianMs(rounds, () => engine.simulateBatch(trains, steps));
    const readbackMs = await readbackMsOf(connectome.neuronCount * batch, steps, rounds);
    const oneCpuMs = await medianMs(rounds, () =>
      trains.forEach((train) => cpu.simulate(train, { durationSteps: steps })),
    );
    const poolMs = await medianMs(rounds, () => pool.simulate(trains, steps));
    return {
      stimulus,
      batch,
      gpuMsPerRun: rounded(gpuMs / batch, 2),
      gpuMsPerWindow: rounded(gpuMs / Math.ceil(steps / WINDOW_STEPS), 3),
      readbackShare: rounded(readbackMs / gpuMs, 2),
      firstMs: rounded(compileMs, 0),
      oneCpuMsPerRun: rounded(oneCpuMs / batch, 2),
      cpuPoolMsPerRun: rounded(poolMs / batch, 2),
    };
  }

  async function checkOf(stimulus, trains) {
    const runs = await engine.simulateBatch(trains, steps);
    const expected = trains.map((train) => cpu.simulate(train, { durationSteps: steps }));
    expected.forEach((raster) => digest.update(raster.steps).update(raster.neurons));
    const faster = rows.find((row) => row.stimulus === stimulus && row.gpuMsPerRun < row.cpuPoolMsPerRun);
    return {
      stimulus,
      runs: runs.length,
      spikes: expected.reduce((sum, { steps: spikes }) => sum + spikes.length, 0),
      repeats: runs.filter(({ certified }) => !certified).length,
      mismatches: runs.filter(({ certified, raster }, i) => certified && !equal(raster, expected[i])).length,
      fasterThanPoolFromBatch: faster?.batch ?? 'none',
    };
  }
}

/** A worker of the CPU: simulates what it is sent. */
function serve() {
  const engine = new KernelEngine(compileKernel(), viewConnectome(workerData));
  parentPort.on('message', ({ train, steps }) =>
    parentPort.postMessage(engine.simulate(train, { durationSteps: steps })),
  );
  parentPort.postMessage('ready');
}

class CpuPool {
  static async start(buffer, size) {
    const pool = new CpuPool();
    pool.workers = Array.from(
      { length: size },
      () => new Worker(new URL(import.meta.url), { workerData: buffer }),
    );
    await Promise.all(pool.workers.map(answer));
    return pool;
  }

  get size() {
    return this.workers.length;
  }

  async simulate(trains, steps) {
    let next = 0;
    await Promise.all(
      this.workers.map(async (worker) => {
        while (next < trains.length) {
          worker.postMessage({ train: trains[next++], steps });
          await answer(worker);
        }
      }),
    );
  }

  async stop() {
    await Promise.all(this.workers.map((worker) => worker.terminate()));
  }
}

function answer(worker) {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (message) => {
      worker.off('error', reject);
      resolve(message);
    });
  });
}

/** The time of a kernel that does nothing but fill what a batch sends back: that of the readback. */
async function readbackMsOf(cellCount, steps, rounds) {
  const floats = Math.ceil(cellCount / CELLS_PER_FLOAT) * Math.ceil(steps / WINDOW_STEPS);
  const gpu = new gpujs.GPU({ mode: 'webgpu' });
  try {
    const rows = Math.ceil(floats / 4096);
    const fill = gpu.createKernel('function () { return this.thread.x; }', { output: [4096 * rows] });
    await fill();
    return await medianMs(rounds, () => fill());
  } finally {
    await gpu.destroy();
  }
}

/** @throws CodedError USAGE where an engine would take them for what they are not */
function widthsIn(list) {
  const widths = list.split(',').map((each) => wholeNumber('widths', each, MOST_EXPERIMENTS));
  if (widths.some((width, i) => !Number.isInteger(Math.log2(width)) || width <= (widths[i - 1] ?? 0))) {
    throw new CodedError('USAGE', `--widths takes ascending powers of two, not ${describeValue(list)}.`);
  }
  return widths;
}

/** The last of the rows, and above the first one their keys; columns as wide as their keys, or a little wider. */
function printNextRow(rows) {
  const line = (cells, keys) => cells.map((cell, at) => String(cell).padStart(Math.max(9, keys[at].length)));
  const keys = Object.keys(rows[0]);
  if (rows.length === 1) console.log(line(keys, keys).join('  '));
  console.log(line(Object.values(rows.at(-1)), keys).join('  '));
}

function equal(a, b) {
  return (
    Buffer.from(a.steps.buffer).equals(Buffer.from(b.steps.buffer)) &&
    Buffer.from(a.neurons.buffer).equals(Buffer.from(b.neurons.buffer))
  );
}

async function timed(work) {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

async function medianMs(rounds, work) {
  const times = [];
  for (let round = 0; round < rounds; round++) times.push(await timed(work));
  return median(times);
}

if (isMainThread) {
  await runCommand(COMMAND);
} else {
  serve();
}
