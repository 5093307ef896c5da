/**
 * npm run bench:engine: how long the kernel takes for each stimulus and duration, beside the reference engine.
 *
 * All cases are measured in turn, round after round, so that a machine which slows down for a while slows all of
 * them. A row is printed with the digest of its raster: equal digests mean equal results, on any machine.
 */
import { runCommand } from '../dist/cli/command.js';
import { readConnectomeFile } from '../dist/connectome/connectome-file.js';
import { openConnectome } from '../dist/connectome/format.js';
import { KernelEngine } from '../dist/engine/backends/cpu/kernel-engine.js';
import { DEFAULT_EXPERIMENT } from '../dist/answers/v1/experiment.js';
import { FIELDS } from '../dist/answers/v1/fields.js';
import { MAXIMUM_STEPS, STEPS_PER_MS } from '../dist/engine/network.js';
import { rasterDigest } from '../dist/answers/v1/readout.js';
import { ReferenceEngine } from '../dist/engine/reference-engine.js';
import { compileKernel } from '../dist/pool/kernel-file.js';
import { kicksOf, synapticEvents } from './experiments.mjs';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

/** The reference is many times slower, and nobody waits for its third digit. */
const REFERENCE_ROUNDS = 3;

await runCommand({
  name: 'bench:engine',
  summary: 'Times the kernel for each stimulus and duration, beside the reference engine.',
  options: {
    connectome: {
      type: 'string',
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'What is simulated.',
    },
    stimuli: { type: 'string', value: 'LIST', help: 'Comma list of stimuli; all of them by default.' },
    durations: {
      type: 'string',
      value: 'LIST',
      default: FIELDS.duration_ms.allowed.join(','),
      help: 'Comma list of durations in ms.',
    },
    rounds: { type: 'string', value: 'N', default: '30', help: 'How often each case is run.' },
    json: { type: 'boolean', help: 'Print the rows as JSON alone.' },
  },
  async run(options) {
    const connectome = openConnectome(await readConnectomeFile(options.connectome));
    const stimuli = options.stimuli?.split(',') ?? connectome.metadata.stimuli.map(({ id }) => id);
    const durationsMs = options.durations
      .split(',')
      .map((each) => wholeNumber('durations', each, MAXIMUM_STEPS / STEPS_PER_MS));
    const rows = measure(connectome, stimuli, durationsMs, wholeNumber('rounds', options.rounds, 10_000));
    printRows(rows, options.json);
    if (rows.some(({ agree }) => !agree)) {
      process.stderr.write('The kernel and the reference engine differ.\n');
      return 1;
    }
  },
});

function measure(connectome, stimuli, durationsMs, rounds) {
  const kernel = new KernelEngine(compileKernel(), connectome);
  const reference = new ReferenceEngine(connectome);
  const cases = durationsMs.flatMap((durationMs) =>
    stimuli.map((stimulus) => {
      const experiment = { ...DEFAULT_EXPERIMENT, stimulus, durationMs };
      return {
        stimulus,
        durationMs,
        kicks: kicksOf(connectome, experiment),
        steps: durationMs * STEPS_PER_MS,
        kernelMs: [],
        referenceMs: [],
        digests: new Set(),
        raster: undefined,
      };
    }),
  );

  for (let round = -1; round < rounds; round++) {
    for (const each of cases) {
      const [kernelMs, raster] = timed(() => kernel.simulate(each.kicks, each.steps));
      each.raster = raster;
      // Round -1 warms up.
      if (round >= 0) each.kernelMs.push(kernelMs);
      if (round >= 0 && round < REFERENCE_ROUNDS) {
        const [referenceMs, expected] = timed(() => reference.simulate(each.kicks, each.steps));
        each.referenceMs.push(referenceMs);
        each.digests.add(rasterDigest(expected));
      }
    }
  }

  return cases.map((each) => {
    const digest = rasterDigest(each.raster);
    each.digests.add(digest);
    const events = synapticEvents(connectome, each.raster, each.steps);
    const kernelMs = median(each.kernelMs);
    return {
      stimulus: each.stimulus,
      durationMs: each.durationMs,
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
