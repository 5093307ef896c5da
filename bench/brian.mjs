/**
 * npm run bench:brian simulates the same wiring and input events with Brian 2 and with the kernel, in turn.
 *
 * Brian 2 runs in a separate Python process (brian2_runs.py), which gets the wiring and the input events through
 * files and then simulates on demand. Its time is that of the simulation loop: importing, building 2.3 million
 * synapses and compiling are excluded. A row counts the spikes that only one of them has.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../dist/tools/cli/command.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { KernelEngine } from '../dist/engine/simulation/cpu/kernel-engine.js';
import { DEFAULT_EXPERIMENT } from '../dist/experiments/presets/experiment.js';
import { compareSpikes } from '../dist/tools/golden/golden.js';
import { NETWORK, STEPS_PER_MS } from '../dist/engine/simulation/network.js';
import { copyOf } from '../dist/engine/simulation/simulation.js';
import { rasterDigest } from '../dist/experiments/presets/readout.js';
import { CodedError } from '../dist/engine/errors.js';
import { MAX_WHOLE_TRIAL_STEPS } from '../dist/engine/stimulus/protocol.js';
import { compileKernel } from '../dist/workers/pool/kernel-file.js';
import { eventsOf } from './experiments.mjs';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

/** The kernel takes a hundredth of the time, so it can be measured more often in every round. */
const KERNEL_RUNS_A_ROUND = 20;

await runCommand({
  name: 'bench:brian',
  summary: 'Runs the same wiring and input events through Brian 2 and through the kernel.',
  options: {
    connectome: { value: 'FILE', required: true, help: 'The connectome to simulate.' },
    stimuli: { value: 'LIST', default: 'sugar,loom,food', help: 'Comma list of stimuli.' },
    duration: {
      value: 'MS',
      default: String(DEFAULT_EXPERIMENT.duration_ms),
      help: 'Duration of a run.',
    },
    rounds: { value: 'N', default: '5', help: 'How often Brian 2 runs each stimulus.' },
    python: { value: 'FILE', help: 'A Python that has Brian 2; looked for by default.' },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  async run(options) {
    const durationMs = wholeNumber('duration', options.duration, MAX_WHOLE_TRIAL_STEPS / STEPS_PER_MS);
    const rounds = wholeNumber('rounds', options.rounds, 1000);
    const python = pythonWithBrian(options.python);
    const connectome = openConnectome(await readConnectomeFile(options.connectome));
    const cases = options.stimuli.split(',').map((stimulus) => ({
      stimulus,
      inputEvents: eventsOf(connectome, { ...DEFAULT_EXPERIMENT, stimulus, duration_ms: durationMs }),
      brianMs: [],
      kernelMs: [],
      raster: undefined,
      brian: undefined,
    }));
    const steps = durationMs * STEPS_PER_MS;
    const directory = mkdtempSync(join(tmpdir(), 'brian-'));
    try {
      writeInputs(directory, connectome, cases, steps);
      await measure(directory, python, connectome, cases, steps, rounds);
    } finally {
      rmSync(directory, { recursive: true });
    }
    const rows = cases.map((each) => rowOf(each));
    printRows(rows, options.json);
    return rows.some(({ missing, extra }) => missing + extra > 0) ? 1 : 0;
  },
});

function rowOf({ stimulus, brianMs, kernelMs, brian, raster }) {
  const { spikes, missing, extra } = compareSpikes(brian, raster);
  const engineMs = median(kernelMs);
  return {
    stimulus,
    spikes,
    brianMs: rounded(median(brianMs), 1),
    engineMs: rounded(engineMs, 3),
    ratio: rounded(median(brianMs) / engineMs, 1),
    fastestRatio: rounded(Math.min(...brianMs) / Math.min(...kernelMs), 1),
    nsPerEvent: rounded((engineMs * 1e6) / raster.deliveredEvents, 2),
    missing,
    extra,
    digest: rasterDigest(raster).slice(0, 16),
  };
}

function writeInputs(directory, connectome, cases, steps) {
  const { neuronCount, rowStart, targets, synapseCounts, signs } = connectome;
  const pre = new Uint32Array(targets.length);
  const signedCounts = new Int16Array(targets.length);
  for (let i = 0; i < neuronCount; i++) {
    for (let c = rowStart[i]; c < rowStart[i + 1]; c++) {
      pre[c] = i;
      signedCounts[c] = signs[i] * synapseCounts[c];
    }
  }
  write(directory, 'pre.u32', pre);
  write(directory, 'post.u32', Uint32Array.from(targets));
  write(directory, 'signed_counts.i16', signedCounts);
  for (const { stimulus, inputEvents } of cases) {
    write(directory, `${stimulus}.stimulated.u32`, inputEvents.stimulated);
    write(directory, `${stimulus}.event_steps.u16`, inputEvents.steps);
    write(directory, `${stimulus}.event_neurons.u32`, inputEvents.neurons);
  }
  const network = Object.fromEntries(Object.entries(NETWORK).map(([name, { value }]) => [name, value]));
  const inputs = { neuronCount, steps, network, stimuli: cases.map(({ stimulus }) => stimulus) };
  writeFileSync(join(directory, 'inputs.json'), JSON.stringify(inputs));
}

async function measure(directory, python, connectome, cases, steps, rounds) {
  const kernel = new KernelEngine(compileKernel(), connectome);
  const brian = spawn(python, [fileURLToPath(new URL('brian2_runs.py', import.meta.url)), directory], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(brian, 'exit');
  const answers = createInterface({ input: brian.stdout })[Symbol.asyncIterator]();
  try {
    for (let round = -1; round < rounds; round++) {
      for (const each of cases) {
        brian.stdin.write(`${each.stimulus}\n`);
        const { value: answer, done } = await answers.next();
        if (done) throw new Error('Brian 2 ended before it answered; its output stands above');
        const brianMs = Number(answer);
        for (let run = 0; run < KERNEL_RUNS_A_ROUND; run++) {
          const [ms, raster] = timed(() => kernel.simulate(each.inputEvents, { durationSteps: steps }));
          if (round >= 0) each.kernelMs.push(ms);
          if (run === KERNEL_RUNS_A_ROUND - 1) each.raster = copyOf(raster);
        }
        // Round -1 compiles and warms up, on both sides.
        if (round >= 0) each.brianMs.push(brianMs);
      }
    }
  } finally {
    brian.stdin.end();
    await ended;
  }
  for (const each of cases) {
    each.brian = {
      steps: read(directory, `${each.stimulus}.spike_steps.u16`, Uint16Array),
      neurons: read(directory, `${each.stimulus}.spike_neurons.u32`, Uint32Array),
    };
  }
}

function write(directory, name, array) {
  writeFileSync(join(directory, name), new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
}

function read(directory, name, TypedArray) {
  return new TypedArray(new Uint8Array(readFileSync(join(directory, name))).buffer);
}

function pythonWithBrian(chosen) {
  const candidates = chosen === undefined ? ['python3', '/usr/bin/python3'] : [chosen];
  for (const candidate of candidates) {
    try {
      execFileSync(candidate, ['-c', 'import brian2'], { stdio: 'ignore' });
      return candidate;
    } catch {
      // The next one may have it.
    }
  }
  throw new CodedError('USAGE', `None of ${candidates.join(', ')} has Brian 2 (Debian: python3-brian).`);
}
