/**
 * npm run bench:whole-table tests all steps with a wiring as large as the published one.
 *
 * Writes a seeded, random table of 15,091,983 pairs in the form of the connectivity file of Shiu et al. 2024 (one row
 * group, Brotli), with its list of neurons, compiles it with every pair kept, opens it, and simulates on it in one
 * worker thread and in several. Each step runs in a process of its own, whose largest memory is that of the step.
 *
 * With --form malecns the tables are those of MaleCNS 1.0, of its size: 166,700 neurons, 25.6 million pairs between
 * them among 152 million rows. A screen follows, which silences 20 neurons in turn.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { brotliCompressSync, constants } from 'node:zlib';
import { parquetWriteFile } from 'hyparquet-writer';
import { runCommand } from '../dist/tools/cli/command.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { viewConnectome } from '../dist/engine/connectome/sections.js';
import { KernelEngine } from '../dist/engine/simulation/cpu/kernel-engine.js';
import { drawInputEvents } from '../dist/engine/stimulus/input-events.js';
import { PHILOX_STREAM, PhiloxSequence } from '../dist/engine/stimulus/philox.js';
import { STEPS_PER_MS, v1Protocol } from '../dist/engine/stimulus/protocol.js';
import { compileKernel } from '../dist/workers/pool/kernel-file.js';
import { writeMaleCns } from './malecns-table.mjs';
import { median, printRows, rounded, timed, wholeNumber } from './measure.mjs';

const COMMANDS = fileURLToPath(new URL('../dist/tools/cli/run.js', import.meta.url));
const SIZES = {
  shiu: { neurons: '138639', pairs: '15091983' },
  malecns: { neurons: '166700', pairs: '25563197' },
};
const FIRST_ID = 720575940600000000n;
const ID_STEP = 1000n;
const WORD = 2 ** 32;
/** Shares of pairs with so many synapses fall as in the published table: some 18 % have 5 or more. */
const SYNAPSES_EXPONENT = -1 / 1.07;
const MAX_SYNAPSES = 300;
const DEGREE_EXPONENT = -1 / 2;
const INHIBITORY_SHARE = 0.45;
const STIMULATED_NEURONS = 20;
const RATE_HZ = 100;
const DURATION_MS = 1000;
const TRIALS = 5;

if (!isMainThread) await work();
else {
  await runCommand({
    name: 'bench:whole-table',
    summary: 'Measures compile, load and runs of a wiring of 15 million connections.',
    options: {
      form: { choices: ['shiu', 'malecns'], default: 'shiu', help: 'Form of the table.' },
      neurons: { value: 'N', help: 'Neurons of the table.' },
      pairs: { value: 'N', help: 'Its pairs.' },
      rows: {
        value: 'N',
        default: '151856684',
        help: 'Rows of a table of the form malecns.',
      },
      like: {
        value: 'FILE',
        help: 'Connectome whose numbers of partners it has, for malecns.',
      },
      'minimum-synapses': {
        value: 'N',
        default: '1',
        help: 'Pairs with fewer are left out.',
      },
      workers: { value: 'LIST', default: '1,2,4', help: 'Numbers of worker threads.' },
      seed: { value: 'N', default: '1', help: 'Of the random table.' },
      step: { value: 'NAME', help: 'Used by the command itself.' },
      dir: { value: 'DIR', help: 'Used by the command itself.' },
    },
    async run(options) {
      const isMale = options.form === 'malecns';
      const standard = isMale ? SIZES.malecns : SIZES.shiu;
      const size = {
        neurons: wholeNumber('neurons', options.neurons ?? standard.neurons, 262_143),
        pairs: wholeNumber('pairs', options.pairs ?? standard.pairs, 100_000_000),
        rows: wholeNumber('rows', options.rows, 1_000_000_000),
        seed: wholeNumber('seed', options.seed, WORD - 1),
      };
      if (options.step === 'write') {
        return isMale
          ? writeMaleCns(options.dir, { ...size, like: await degreesOf(options.like) })
          : writeTable(options.dir, size);
      }
      if (options.step !== undefined) return run(options.dir, Number(options.step));
      const dir = mkdtempSync(join(tmpdir(), 'whole-table-'));
      try {
        const self = fileURLToPath(import.meta.url);
        const own = Object.entries({
          form: options.form,
          seed: options.seed,
          rows: options.rows,
          like: options.like,
        })
          .concat(Object.entries({ neurons: size.neurons, pairs: size.pairs }))
          .flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)]));
        const rows = [measured('write the table', [self, ...own, '--dir', dir, '--step', 'write'])];
        rows.push(
          measured('compile it', [
            COMMANDS,
            'model-compile',
            ...(isMale
              ? ['--dataset', 'malecns-1.0', '--tables', dir]
              : ['--connectivity', join(dir, 'pairs.parquet'), '--completeness', join(dir, 'neurons.csv')]),
            ...['--minimum-synapses', options['minimum-synapses'], '--name', 'Made-up wiring'],
            ...['--out', join(dir, 'whole.connectome')],
          ]),
        );
        for (const workers of options.workers.split(',')) {
          rows.push(measured(`load, run in ${workers} worker(s)`, [self, '--dir', dir, '--step', workers]));
        }
        if (isMale) rows.push(measured('a screen', [COMMANDS, 'experiment', ...screenOf(dir)]));
        printRows(rows, false);
        const megabytes = (file) => rounded(statSync(join(dir, file)).size / 2 ** 20, 1);
        console.log(
          `\n${readdirSync(dir)
            .map((file) => `${file} ${megabytes(file)} MB`)
            .join('\n')}`,
        );
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
    },
  });
}

/** Runs a script in a separate process, which reports its peak memory at its end. */
function measured(step, args) {
  const tell = `process.on('exit', () => process.stderr.write('\\nmaxrss ' + process.resourceUsage().maxRSS + '\\n'))`;
  const [ms, { status, stdout, stderr }] = timed(() =>
    spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(tell)}`, ...args], {
      encoding: 'utf8',
      maxBuffer: 2 ** 26,
    }),
  );
  if (status !== 0) throw new Error(`${step} ended with ${status}: ${stderr}`);
  console.log(`${step}:\n${stdout}`);
  return {
    step,
    seconds: rounded(ms / 1000, 1),
    'memory (MB)': rounded(Number(/maxrss (\d+)\n$/.exec(stderr)[1]) / 1024, 0),
  };
}

function writeTable(dir, { neurons, pairs, seed }) {
  const random = new PhiloxSequence(seed, 0, PHILOX_STREAM.shuffle);
  const below = (limit) => random.nextBelow(limit);
  // Power law, cut off: 1 - u is never 0.
  const power = (exponent) => (1 - random.nextUint32() / WORD) ** exponent;
  const ids = BigInt64Array.from({ length: neurons }, (_, i) => FIRST_ID + ID_STEP * BigInt(i));
  const shares = Float64Array.from({ length: neurons }, () => Math.min(power(DEGREE_EXPONENT), 50));
  const sum = shares.reduce((total, share) => total + share, 0);
  const column = () => new BigInt64Array(pairs);
  const columns = {
    Presynaptic_ID: column(),
    Postsynaptic_ID: column(),
    Presynaptic_Index: column(),
    Postsynaptic_Index: column(),
    Connectivity: column(),
    Excitatory: column(),
    'Excitatory x Connectivity': column(),
  };
  const lastSource = new Int32Array(neurons).fill(-1);
  let row = 0;
  let share = 0;
  for (let pre = 0; pre < neurons; pre++) {
    const sign = random.nextUint32() / WORD < INHIBITORY_SHARE ? -1n : 1n;
    share += shares[pre];
    const end = pre === neurons - 1 ? pairs : Math.floor((share / sum) * pairs);
    while (row < end) {
      const post = below(neurons);
      if (lastSource[post] === pre) continue;
      lastSource[post] = pre;
      const synapses = BigInt(Math.floor(Math.min(power(SYNAPSES_EXPONENT), MAX_SYNAPSES)));
      columns['Presynaptic_ID'][row] = ids[pre];
      columns['Postsynaptic_ID'][row] = ids[post];
      columns['Presynaptic_Index'][row] = BigInt(pre);
      columns['Postsynaptic_Index'][row] = BigInt(post);
      columns['Connectivity'][row] = synapses;
      columns['Excitatory'][row] = sign;
      columns['Excitatory x Connectivity'][row++] = sign * synapses;
    }
  }
  writeFileSync(join(dir, 'neurons.csv'), `,Completed\n${Array.from(ids, (id) => `${id},True\n`).join('')}`);
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
  parquetWriteFile({
    filename: join(dir, 'pairs.parquet'),
    columnData: Object.entries(columns).map(([name, data]) => ({ name, data, type: 'INT64' })),
    rowGroupSize: pairs,
    codec: 'BROTLI',
    compressors: { BROTLI: (bytes) => brotliCompressSync(bytes, quality) },
  });
}

/** Numbers of partners that neurons have in a connectome. */
async function degreesOf(path) {
  const { rowStart, targets, neuronCount } = openConnectome(await readConnectomeFile(path));
  const inDegrees = new Uint32Array(neuronCount);
  for (const target of targets) inDegrees[target]++;
  return { outDegrees: Uint32Array.from(inDegrees, (_, i) => rowStart[i + 1] - rowStart[i]), inDegrees };
}

/** Arguments of a screen: 20 neurons of one type drive the rest, the first 20 responders are silenced in turn. */
function screenOf(dir) {
  return [
    ...['--connectome', join(dir, 'whole.connectome'), '--stimulate', 'T1@100', '--report', 'T2'],
    ...['--sweep', 'silence=responders:20/neuron', '--trials', '10', '--duration', '1000', '--json'],
  ];
}

/** Loads the connectome as a service does, and simulates in so many threads, one trial after the other in each. */
async function run(dir, workers) {
  const residentMb = () => rounded(process.memoryUsage.rss() / 2 ** 20, 0);
  const begin = performance.now();
  const buffer = await readConnectomeFile(join(dir, 'whole.connectome'));
  openConnectome(buffer);
  const loadedMs = performance.now() - begin;
  const loadedMb = residentMb();
  const done = await Promise.all(
    Array.from({ length: workers }, (_, seed) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { buffer, seed } });
      return new Promise((resolve, reject) => {
        worker.once('message', (message) => resolve({ worker, message }));
        worker.once('error', reject);
      });
    }),
  );
  console.log(
    JSON.stringify({
      workers,
      loadedMs: rounded(loadedMs, 0),
      loadedMb,
      withWorkersMb: residentMb(),
      ...done[0].message,
    }),
  );
  await Promise.all(done.map(({ worker }) => worker.terminate()));
}

async function work() {
  const { buffer, seed } = workerData;
  const connectome = viewConnectome(buffer);
  const [engineMs, engine] = timed(() => new KernelEngine(compileKernel(), connectome));
  const neurons = Uint32Array.from({ length: STIMULATED_NEURONS }, (_, i) => i);
  const trials = Array.from({ length: TRIALS }, (_, trial) => {
    const train = { nominalRateHz: RATE_HZ, intensity: 1, seed: TRIALS * seed + trial };
    const protocol = v1Protocol(neurons, train, DURATION_MS * STEPS_PER_MS);
    return timed(() => engine.simulate(drawInputEvents(protocol, String), protocol));
  });
  const [, last] = trials.at(-1);
  // A thread with nothing to wait for ends, and its memory with it.
  parentPort.on('message', () => {});
  parentPort.postMessage({
    engineMs: rounded(engineMs, 0),
    trialMs: rounded(median(trials.map(([ms]) => ms)), 1),
    spikes: last.steps.length,
    synapticEvents: last.deliveredEvents,
  });
}
