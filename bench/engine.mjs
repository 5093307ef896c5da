/**
 * npm run bench:engine measures the kernel for each stimulus and duration, and for golden runs, beside the
 * reference engine.
 *
 * The cases take turns in each round, so that a temporary slowdown of the machine affects all of
 * them. A row is printed with the digest of its raster: equal digests mean equal results, on any machine.
 */
import { basename } from 'node:path';
import { runCommand } from '../dist/tools/cli/command.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { KernelEngine } from '../dist/engine/simulation/cpu/kernel-engine.js';
import { DEFAULT_EXPERIMENT } from '../dist/experiments/presets/experiment.js';
import { FIELDS } from '../dist/experiments/presets/fields.js';
import { goldenReader } from '../dist/tools/golden/golden.js';
import { STEPS_PER_MS } from '../dist/engine/simulation/network.js';
import { copyOf } from '../dist/engine/simulation/simulation.js';
import { rasterDigest } from '../dist/experiments/presets/readout.js';
import { ReferenceEngine } from '../dist/engine/simulation/reference-engine.js';
import { MAX_WHOLE_TRIAL_STEPS } from '../dist/engine/stimulus/protocol.js';
import { readGoldenFile } from '../dist/tools/cli/golden.js';
import { compileKernel } from '../dist/workers/pool/kernel-file.js';
import { eventsOf } from './experiments.mjs';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

/** Fewer rounds than for the other engines: the reference is many times slower, and its third digit does not matter. */
const REFERENCE_ROUNDS = 3;

await runCommand({
  name: 'bench:engine',
  summary:
    'Times the kernel for each stimulus and duration, and for golden runs, beside the reference engine.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to simulate.',
    },
    stimuli: { value: 'LIST', help: 'Comma list of stimuli; all of them by default.' },
    durations: {
      value: 'LIST',
      default: [...FIELDS.duration_ms.enum, 1000].join(','),
      help: 'Comma list of durations in ms.',
    },
    rounds: { value: 'N', default: '30', help: 'How often each case is run.' },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  positionals: {
    usage: '[GOLDEN.csv.gz...]',
    help: 'Golden runs on this connectome that are timed as well.',
  },
  async run(options, files) {
    const connectome = openConnectome(await readConnectomeFile(options.connectome));
    const stimuli = options.stimuli?.split(',') ?? connectome.metadata.stimuli.map(({ id }) => id);
    const durationsMs = options.durations
      .split(',')
      .map((each) => wholeNumber('durations', each, MAX_WHOLE_TRIAL_STEPS / STEPS_PER_MS));
    const trials = [...stimulusCases(connectome, stimuli, durationsMs), ...goldenCases(connectome, files)];
    const rows = measure(connectome, trials, wholeNumber('rounds', options.rounds, 10_000));
    printRows(rows, options.json);
    if (rows.some(({ agree }) => !agree)) {
      process.stderr.write('The kernel and the reference engine differ.\n');
      return 1;
    }
  },
});

function stimulusCases(connectome, stimuli, durationsMs) {
  return durationsMs.flatMap((durationMs) =>
    stimuli.map((stimulus) => ({
      name: stimulus,
      durationSteps: durationMs * STEPS_PER_MS,
      inputEvents: eventsOf(connectome, { ...DEFAULT_EXPERIMENT, stimulus, duration_ms: durationMs }),
    })),
  );
}

function goldenCases(connectome, files) {
  const read = goldenReader(connectome);
  return files.map((file) => {
    const golden = read(readGoldenFile(file), file);
    return { ...golden, name: basename(file).split('.csv')[0], inputEvents: golden.events };
  });
}

function measure(connectome, trials, rounds) {
  const kernel = new KernelEngine(compileKernel(), connectome);
  const reference = new ReferenceEngine(connectome);
  const cases = trials.map((trial) => ({ ...trial, kernelMs: [], referenceMs: [], digests: new Set() }));

  for (let round = -1; round < rounds; round++) {
    for (const each of cases) {
      const [kernelMs, raster] = timed(() => kernel.simulate(each.inputEvents, each));
      each.raster = copyOf(raster);
      // Round -1 warms up.
      if (round >= 0) each.kernelMs.push(kernelMs);
      if (round >= 0 && round < REFERENCE_ROUNDS) {
        const [referenceMs, expected] = timed(() => reference.simulate(each.inputEvents, each));
        each.referenceMs.push(referenceMs);
        each.digests.add(rasterDigest(expected));
      }
    }
  }

  return cases.map((each) => {
    const digest = rasterDigest(each.raster);
    each.digests.add(digest);
    const events = each.raster.deliveredEvents;
    const kernelMs = median(each.kernelMs);
    return {
      trial: each.name,
      durationMs: each.durationSteps / STEPS_PER_MS,
      spikes: each.raster.steps.length,
      events,
      kernelMs: rounded(kernelMs, 3),
      fastestMs: rounded(Math.min(...each.kernelMs), 3),
      nsPerEvent: rounded((kernelMs * 1e6) / events, 2),
      referenceMs: rounded(median(each.referenceMs), 1),
      digest: digest.slice(0, 16),
      agree: each.digests.size === 1,
    };
  });
}
