/**
 * npm run bench:rewiring measures the time in which a worker prepares a rewired network, and the time of an experiment
 * with controls on all cores.
 *
 * Preparing is everything between two trials: the draw, and the connections of the kernel. Ways to rewire come in turn,
 * so that a machine which slows down slows all of them.
 */
import { availableParallelism } from 'node:os';
import { runCommand } from '../dist/tools/cli/command.js';
import { localExperiment } from '../dist/tools/cli/experiment/local-experiment.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { KernelEngine } from '../dist/engine/simulation/cpu/kernel-engine.js';
import { RewirableEngine } from '../dist/engine/simulation/rewiring/rewirable-engine.js';
import { compileKernel, compileRewiringKernel } from '../dist/workers/pool/kernel-file.js';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

/** Ways to rewire, by their names. */
const WAYS = {
  'weights shuffled': { shuffle: 'weights' },
  'targets shuffled': { shuffle: 'targets' },
  'targets shuffled within super-classes': { shuffle: 'targets_within_super_class' },
  jittered: { jitter: 0.25 },
  'targets shuffled, jittered': { shuffle: 'targets', jitter: 0.25 },
};
const NO_EVENTS = { stimulated: new Uint32Array(0), steps: new Uint16Array(0), neurons: new Uint32Array(0) };

await runCommand({
  name: 'bench:rewiring',
  summary: 'Times the preparation of rewired networks, and an experiment with controls.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to rewire.',
    },
    rounds: { value: 'N', default: '15', help: 'How often each way is measured.' },
    controls: { value: 'N', default: '100', help: 'Controls of the experiment; 0 for none.' },
    workers: { value: 'N', default: String(availableParallelism()), help: 'Its threads.' },
  },
  async run(options) {
    const bytes = await readConnectomeFile(options.connectome);
    const connectome = openConnectome(bytes);
    printRows(preparations(connectome, wholeNumber('rounds', options.rounds, 1000)), false);
    if (options.controls === '0') return;
    const count = wholeNumber('controls', options.controls, 1000);
    const workers = wholeNumber('workers', options.workers, 256);
    const rows = [];
    for (const shuffle of ['weights', 'targets']) {
      rows.push(await experiment({ connectome, bytes }, { shuffle, count }, workers));
    }
    console.log();
    printRows(rows, false);
  },
});

function preparations(connectome, rounds) {
  const simulation = compileKernel();
  const modules = () => ({ simulation, rewiring: compileRewiringKernel() });
  const own = new KernelEngine(simulation, connectome);
  const engine = new RewirableEngine(own, connectome, modules);
  const prepare = (wiring) => timed(() => engine.simulate(NO_EVENTS, { durationSteps: 1, wiring }))[0];
  const before = process.memoryUsage().rss;
  const firstMs = prepare({ shuffle: 'targets', seed: 0 });
  const megabytes = (process.memoryUsage().rss - before) / 2 ** 20;
  const times = Object.fromEntries(Object.keys(WAYS).map((name) => [name, []]));
  for (let seed = 1; seed <= rounds; seed++) {
    for (const [name, way] of Object.entries(WAYS)) {
      // The second of two, as among controls.
      prepare({ ...way, seed: rounds + seed });
      times[name].push(prepare({ ...way, seed }));
    }
  }
  console.log(
    `${connectome.connectionCount} connections; the first network: ${rounded(firstMs, 0)} ms, ${rounded(megabytes, 0)} MB\n`,
  );
  return Object.entries(times).map(([name, each]) => ({
    network: name,
    'median (ms)': rounded(median(each), 1),
    'least (ms)': rounded(Math.min(...each), 1),
  }));
}

/** Sugar neurons at 100 Hz, 30 trials of 1 s, MN9 by side, as in Shiu et al. 2024. */
async function experiment(model, controls, workers) {
  const document = {
    inputs: { sugar: { node_set: '@sugar', rate_hz: 100 } },
    reports: { mn9: { node_set: '@MN9', group_by: ['side'] } },
    trials: 30,
    controls,
  };
  const begin = performance.now();
  const before = process.cpuUsage();
  const found = [];
  const source = localExperiment(model, document, 0, workers);
  for await (const event of source.events({ onProgress: () => undefined })) {
    if (event.kind === 'condition') found.push(...event.condition.reports.mn9);
  }
  const { user, system } = process.cpuUsage(before);
  const active = found[0].control.values.filter((_, at) =>
    found.some(({ control }) => control.values[at] > 0),
  );
  return {
    controls: `${controls.count}, ${controls.shuffle}`,
    'time (s)': rounded((performance.now() - begin) / 1000, 1),
    'processor time (s)': rounded((user + system) / 1e6, 1),
    'MN9 (Hz)': found.map(({ rate_hz: rate }) => rate.mean).join(', '),
    'active controls': active.length,
    p: found.map(({ control }) => rounded(control.p, 4)).join(', '),
  };
}
