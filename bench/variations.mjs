/**
 * npm run bench:variations measures a worker's cost of each member of a document that changes the model, compared with
 * the same document without it.
 *
 * Each round computes for every case two trials of the document without the member and two with it, by the code of a
 * worker: draw, simulate, read. The first trial with the member prepares the network, the second finds it prepared; the
 * difference is the preparation. The table has medians over the rounds; times are those of one thread.
 */
import { runCommand } from '../dist/tools/cli/command.js';
import { DOCUMENT_LIMITS } from '../dist/tools/cli/experiment/document.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { NodeSetResolver } from '../dist/engine/connectome/node-set-resolver.js';
import { parseDocument } from '../dist/experiments/document/parse-document.js';
import { planExperiment } from '../dist/experiments/plan/plan.js';
import { trialTask } from '../dist/experiments/plan/trial.js';
import { trialOf, TrialReader } from '../dist/experiments/run/readout.js';
import { compileDrawingKernel, compileKernel } from '../dist/workers/pool/kernel-file.js';
import { KernelEngine } from '../dist/engine/simulation/cpu/kernel-engine.js';
import { compiledDrawing } from '../dist/engine/stimulus/compiled-drawing.js';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

const SUGAR = { node_set: '@stimulus/sugar', rate_hz: 100 };
const PLAIN = { inputs: { sugar: SUGAR }, duration_ms: 1000 };
const ALL_TO_GIANT_FIBRE = { source: '@all', target: 'DNp01', weight: 0.9 };
const SUGAR_TO_ALL = { source: SUGAR.node_set, target: '@all' };
const EVERY_10_MS = Array.from({ length: 100 }, (_, i) => 10 * i);
const RECORDED_NEURONS = 100;
const NO_LIMITS = new Proxy({}, { get: () => Infinity });

/** Goals hold for tables of release 783. */
const CASES = [
  { name: 'synapses of 0.2 mV', members: { constants: { synapse_mv: 0.2 } } },
  { name: 'LC4 to DNp01 halved', members: overrides(1, { source: 'LC4', target: 'DNp01', weight: 0.5 }) },
  { name: 'all to DNp01', members: overrides(1, ALL_TO_GIANT_FIBRE) },
  { name: 'all to DNp01, 32 overrides', members: overrides(32, ALL_TO_GIANT_FIBRE) },
  { name: 'sugar neurons to all cut', members: overrides(1, { ...SUGAR_TO_ALL, weight: 0 }) },
  { name: 'sugar neurons to all at 0.999', members: overrides(1, { ...SUGAR_TO_ALL, weight: 0.999 }) },
  {
    name: 'sugar neurons silent for 200 ms',
    members: { silence: [{ node_set: SUGAR.node_set, start_ms: 200, end_ms: 400 }] },
  },
  {
    name: '100 rates over time',
    members: {
      inputs: { sugar: { ...SUGAR, rate_hz: { times_ms: EVERY_10_MS, values: EVERY_10_MS.map(() => 100) } } },
    },
  },
  {
    name: `membranes of ${RECORDED_NEURONS} neurons each 0.1 ms`,
    members: (connectome) => ({
      reports: {
        v: { type: 'membrane', node_set: recordedNeurons(connectome), dt_ms: 0.1 },
      },
    }),
    goal: { ratio: 2 },
  },
  {
    name: 'background of 0.5 Hz in all, alone',
    members: { inputs: { noise: { module: 'background', node_set: '@all', rate_hz: 0.5 } } },
    goal: { trialMs: 60 },
  },
];

await runCommand({
  name: 'bench:variations',
  summary: 'Times members of a document that change the model, beside the same document without them.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to simulate; the goals are meant for tables of release 783.',
    },
    rounds: { value: 'N', default: '15', help: 'How often each case is run.' },
    json: { help: 'Print the rows as JSON, and nothing else.' },
  },
  async run(options) {
    const connectome = openConnectome(await readConnectomeFile(options.connectome));
    const engine = new KernelEngine(compileKernel(), connectome);
    const runTrial = trialOf(new TrialReader(connectome, compiledDrawing(compileDrawingKernel())), engine);
    const timeOf = (members) => {
      const document = parseDocument({ ...PLAIN, ...members }, DOCUMENT_LIMITS, []);
      const plan = planExperiment(connectome, document, new NodeSetResolver(connectome, document), NO_LIMITS);
      const { protocol, reports } = plan.condition(0, []);
      return (trial) => timed(() => runTrial(trialTask({ protocol, reports, countsAll: false }, trial)));
    };
    const rounds = wholeNumber('rounds', options.rounds, 1000);
    const rows = measure(connectome, timeOf, rounds);
    printRows(rows, options.json);
  },
});

function measure(connectome, timeOf, rounds) {
  const plain = timeOf({});
  const cases = CASES.map(({ members, ...each }) => ({
    ...each,
    trial: timeOf(typeof members === 'function' ? members(connectome) : members),
    preparedMs: [],
    trialMs: [],
    ratios: [],
  }));
  // Round -1 warms up.
  for (let round = -1; round < rounds; round++) {
    for (const each of cases) {
      plain(round + 1);
      const [plainMs] = plain(round + 1);
      const [firstMs] = each.trial(round + 1);
      const [secondMs, { spikes, synapticEvents }] = each.trial(round + 1);
      Object.assign(each, { spikes, synapticEvents });
      if (round < 0) continue;
      each.preparedMs.push(firstMs - secondMs);
      each.trialMs.push(secondMs);
      each.ratios.push(secondMs / plainMs);
    }
  }
  return cases.map(({ name, spikes, synapticEvents, preparedMs, trialMs, ratios, goal }) => ({
    member: name,
    spikes,
    synapticEvents,
    preparedMs: rounded(median(preparedMs), 2),
    trialMs: rounded(median(trialMs), 2),
    ratioToPlain: rounded(median(ratios), 2),
    goal: goal === undefined ? '' : Object.entries(goal).join(' ').replace(',', ' '),
  }));
}

function overrides(count, override) {
  const named = Array.from({ length: count }, (_, i) => [`override${i}`, override]);
  return { connection_overrides: Object.fromEntries(named) };
}

function recordedNeurons(connectome) {
  return { root_id: Array.from({ length: RECORDED_NEURONS }, (_, i) => connectome.neuronId(i)) };
}
