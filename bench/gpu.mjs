/**
 * npm run bench:gpu runs the same trials on the GPU, on one CPU worker, and on one worker for each core. Each takes
 * protocols and returns spikes. The GPU runs in a separate process with all its threads, as in the service. Spikes are
 * compared first; nothing is measured if they differ.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { basename } from 'node:path';
import { performance } from 'node:perf_hooks';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { gunzipSync } from 'node:zlib';
import { runCommand } from '../dist/tools/cli/command.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { viewConnectome } from '../dist/engine/connectome/sections.js';
import { KernelEngine } from '../dist/engine/simulation/cpu/kernel-engine.js';
import { requestGpuAdapter } from '../dist/engine/simulation/gpu/adapter.js';
import { goldenReader } from '../dist/tools/golden/golden.js';
import { compiledDrawing } from '../dist/engine/stimulus/compiled-drawing.js';
import { v1Protocol } from '../dist/engine/stimulus/protocol.js';
import { DEFAULT_EXPERIMENT, protocolOf } from '../dist/experiments/presets/experiment.js';
import { FIELDS } from '../dist/experiments/presets/fields.js';
import { STEPS_PER_MS } from '../dist/engine/simulation/network.js';
import { copyOf } from '../dist/engine/simulation/simulation.js';
import { CodedError, describeValue } from '../dist/engine/errors.js';
import { GpuHost } from '../dist/workers/gpu/gpu-host.js';
import { BATCHES_IN_FLIGHT } from '../dist/workers/gpu/gpu-stage.js';
import { compileDrawingKernel, compileKernel } from '../dist/workers/pool/kernel-file.js';
import { median, printRows, rounded, wholeNumber } from './measure.mjs';

const MAX_BATCH = 128;
/** Long enough to compile kernels, and to measure a slow adapter. */
const BATCH_TIMEOUT_MS = 3_600_000;

const COMMAND = {
  name: 'bench:gpu',
  summary: 'Times batches of experiments on the GPU, beside one CPU worker and the whole CPU pool.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to simulate.',
    },
    stimuli: {
      value: 'LIST',
      default: 'sugar,loom,food',
      help: 'Comma list of stimuli, or "all".',
    },
    golden: {
      value: 'FILE',
      help: 'Golden run of Brian 2, such as odour-1000ms.csv.gz: compared, and measured with other trains of its mean rate.',
    },
    widths: {
      value: 'LIST',
      default: '1,8,32,64,128',
      help: 'Sizes of a batch, ascending powers of two.',
    },
    duration: { value: 'MS', default: '100', help: 'Duration of a trial with a stimulus.' },
    seeds: {
      value: 'N',
      default: '10',
      help: 'Trials of a case that are compared spike by spike.',
    },
    rounds: { value: 'N', default: '5', help: 'How often each case is run.' },
    json: { help: 'Print the result as JSON, and nothing else.' },
  },
  run: measure,
};

async function measure(options) {
  const rounds = wholeNumber('rounds', options.rounds, 10_000);
  const seeds = wholeNumber('seeds', options.seeds, 10_000);
  const durationMs = wholeNumber('duration', options.duration, Math.max(...FIELDS.duration_ms.enum));
  const widths = widthsIn(options.widths);
  const buffer = await readConnectomeFile(options.connectome);
  const connectome = openConnectome(buffer);
  const stimuli =
    options.stimuli === 'all'
      ? connectome.metadata.stimuli.map(({ id }) => id)
      : options.stimuli.split(',').filter(Boolean);
  const cases = stimuli.map((stimulus) => stimulusCase(connectome, stimulus, durationMs));
  if (options.golden !== undefined) cases.push(goldenCase(connectome, options.golden));

  const adapter = await requestGpuAdapter();
  const [host, opened] = await GpuHost.open({
    connectomeFile: options.connectome,
    digest: connectome.digest,
    allowSoftware: true,
    widths,
  });
  const onGpu = (protocols) => host.simulate(protocols, BATCH_TIMEOUT_MS);
  const onCpu = simulatorOf(connectome);
  const pool = await CpuPool.start(buffer, availableParallelism());
  const machine = { adapter, cpu: cpus()[0].model, cpuWorkers: pool.size, node: process.version };
  const digest = createHash('sha256');
  const say = (text) => options.json || console.log(text);
  say(`${adapter.name}${adapter.isSoftware ? ' (software: right, but its times say nothing)' : ''}`);
  say(`${machine.cpu}, ${machine.cpuWorkers} cores, Node ${machine.node}`);
  const tooWide = widths.filter((width) => !opened.widths.includes(width));
  if (tooWide.length > 0) {
    say(
      `left out: batches of ${tooWide.join(', ')}, as the adapter binds at most ${adapter.largestArrayBytes} bytes`,
    );
  }
  say('');
  const checks = [];
  const rows = [];
  try {
    for (const each of cases) checks.push(await checkOf(each));
    if (!options.json) printRows(checks, false);
    if (checks.every(({ mismatches }) => mismatches === 0)) {
      say('\nruns a second');
      // Each row is shown at once, since a later case may fail.
      for (const each of cases) {
        for (const width of opened.widths) {
          rows.push(await speedOf(each, width));
          if (!options.json) printNextRow(rows);
        }
      }
    }
  } finally {
    await pool.stop();
    await host.close();
  }

  const report = { machine, checks, rows, digest: digest.digest('hex').slice(0, 16) };
  say(options.json ? '' : `\ndigest of all spikes ${report.digest}`);
  if (options.json) console.log(JSON.stringify(report));
  return checks.some(({ mismatches }) => mismatches > 0) ? 1 : 0;

  async function checkOf({ name, trials, golden }) {
    const compared = [...(golden ? [golden.protocol] : []), ...trials(seeds)];
    const found = await onGpu(compared);
    const expected = compared.map((protocol) => copyOf(onCpu(protocol)));
    expected.forEach((raster) => digest.update(raster.steps).update(raster.neurons));
    // If there are spikes of Brian 2, compare with them and not with the CPU engine.
    if (golden) expected[0] = { ...expected[0], ...golden.spikes };
    return {
      case: name,
      runs: found.length,
      spikes: expected.reduce((sum, { steps }) => sum + steps.length, 0),
      // Trials without a certificate, which the CPU would simulate again.
      repeats: found.filter((trial) => trial === undefined).length,
      mismatches: found.filter((trial, i) => trial !== undefined && !equal(trial, expected[i])).length,
    };
  }

  async function speedOf({ name, trials }, batch) {
    const simulated = trials(batch);
    const first = await timed(() => onGpu(simulated));
    const gpuMs = await streamMs(rounds, () => onGpu(simulated));
    const oneCpuMs = await medianMs(rounds, () => simulated.forEach(onCpu));
    const poolMs = await medianMs(rounds, () => pool.simulate(simulated));
    const perSecond = (ms) => rounded((1000 * batch) / ms, 1);
    return {
      case: name,
      batch,
      gpu: perSecond(gpuMs),
      oneCore: perSecond(oneCpuMs),
      allCores: perSecond(poolMs),
      'gpu / allCores': rounded(poolMs / gpuMs, 2),
      firstMs: rounded(first, 0),
    };
  }
}

/** Runs of version 1, one for each seed. */
function stimulusCase(connectome, stimulus, durationMs) {
  const trial = (seed) =>
    protocolOf(connectome, { ...DEFAULT_EXPERIMENT, stimulus, duration_ms: durationMs, seed });
  return { name: stimulus, trials: (count) => Array.from({ length: count }, (_, seed) => trial(seed)) };
}

/** A run of Brian 2, and trials like it: its stimulated and silenced neurons, Poisson trains of its mean rate. */
function goldenCase(connectome, file) {
  const csv = gunzipSync(readFileSync(file)).toString();
  const { events, spikes, durationSteps, silenced } = goldenReader(connectome)(csv, file);
  const { stimulated, steps } = events;
  const nominalRateHz = (1000 * STEPS_PER_MS * steps.length) / (stimulated.length * durationSteps);
  const trial = (seed) => ({
    ...v1Protocol(stimulated, { nominalRateHz, intensity: 1, seed }, durationSteps),
    silenced,
  });
  return {
    name: basename(file, '.csv.gz'),
    trials: (count) => Array.from({ length: count }, (_, seed) => trial(seed)),
    golden: { protocol: { inputs: givenInputs(events), silenced, durationSteps }, spikes },
  };
}

/** Inputs with the very events of a run. A neuron gets the second of two events in one step from a second input. */
function givenInputs({ stimulated, steps, neurons }) {
  const none = () => new Map(Array.from(stimulated, (neuron) => [neuron, []]));
  const inputs = [none()];
  for (let at = 0; at < steps.length; at++) {
    let same = 0;
    while (steps[at - same - 1] === steps[at] && neurons[at - same - 1] === neurons[at]) same++;
    inputs[same] ??= none();
    inputs[same].get(neurons[at]).push(steps[at]);
  }
  return inputs.map((stepsOf) => ({
    neurons: stimulated,
    train: {
      kind: 'spikes',
      steps: Array.from(stimulated, (neuron) => Uint32Array.from(stepsOf.get(neuron))),
    },
  }));
}

/** @returns a function that draws and simulates a protocol on the CPU */
function simulatorOf(connectome) {
  const engine = new KernelEngine(compileKernel(), connectome);
  const draw = compiledDrawing(compileDrawingKernel());
  return (protocol) =>
    engine.simulate(
      draw(protocol, (i) => connectome.neuronId(i)),
      protocol,
    );
}

/** A CPU worker: simulates the protocols that it receives. */
function serve() {
  const simulate = simulatorOf(viewConnectome(workerData));
  parentPort.on('message', (protocol) => parentPort.postMessage(copyOf(simulate(protocol))));
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

  async simulate(protocols) {
    let next = 0;
    await Promise.all(
      this.workers.map(async (worker) => {
        while (next < protocols.length) {
          worker.postMessage(protocols[next++]);
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

/** @throws CodedError USAGE unless they are ascending powers of two, which the engine relies on */
function widthsIn(list) {
  const widths = list.split(',').map((each) => wholeNumber('widths', each, MAX_BATCH));
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
    a.steps.length === b.steps.length &&
    a.steps.every((step, spike) => step === b.steps[spike]) &&
    a.neurons.every((neuron, spike) => neuron === b.neurons[spike])
  );
}

async function timed(work) {
  const startedMs = performance.now();
  await work();
  return performance.now() - startedMs;
}

/**
 * @param rounds number of timed batches; there may be more, because batches in flight may end together
 * @param simulate one batch; called before anything is timed as often as batches may be in flight, so that all is
 *   compiled that they need
 * @returns the time of a batch in ms, while others are in flight, as they are under load
 */
async function streamMs(rounds, simulate) {
  const inFlight = (work) => Promise.all(Array.from({ length: BATCHES_IN_FLIGHT }, work));
  await inFlight(simulate);
  const endsMs = [];
  const timed = Math.ceil(rounds / BATCHES_IN_FLIGHT) * BATCHES_IN_FLIGHT;
  let left = timed + 1;
  const oneAfterTheOther = async () => {
    while (left-- > 0) {
      await simulate();
      endsMs.push(performance.now());
    }
  };
  await inFlight(oneAfterTheOther);
  return (endsMs.at(-1) - endsMs[0]) / timed;
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
