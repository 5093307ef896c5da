/**
 * npm run bench:memory measures the memory of workers, and its growth.
 *
 * First the resident memory of a process with each number of workers, after the same runs on each worker. Then one
 * process computes a long row of mixed runs: every stimulus, duration and view, compressed or not, each with a seed
 * of its own. The digest is over all bodies in their order, so it also says that they are the same on any machine.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { runCommand } from '../dist/tools/cli/command.js';
import { readConnectomeFile } from '../dist/workers/pool/connectome-file.js';
import { openConnectome } from '../dist/engine/connectome/format.js';
import { FIELDS, QUERY_FIELDS } from '../dist/experiments/presets/fields.js';
import { ExperimentPool } from '../dist/workers/pool/experiment-pool.js';
import { WORKER_FILE } from '../dist/workers/pool/worker-file.js';
import { printRows, rounded, wholeNumber } from './measure.mjs';

const SAMPLES = 20;
/** Runs that wait for a worker at any time, so that none is idle. */
const AHEAD = 2;
/** Runs of each worker before its memory is read. */
const RUNS_OF_A_WORKER = 250;

await runCommand({
  name: 'bench:memory',
  summary: 'Measures the memory of workers, and whether a long row of mixed runs leaves it flat.',
  options: {
    connectome: {
      value: 'FILE',
      default: 'data/default.connectome',
      help: 'The connectome to simulate.',
    },
    runs: { value: 'N', default: '100000', help: 'Length of the row.' },
    workers: { value: 'LIST', default: '1,2,4', help: 'Numbers of workers to compare.' },
    sample: { value: 'N', help: 'Run a row on N workers and print only its samples.' },
    json: { help: 'Print the result as JSON, and nothing else.' },
  },
  async run(options) {
    const runs = wholeNumber('runs', options.runs, 10_000_000);
    if (options.sample !== undefined) {
      const row = await mixedRuns(options.connectome, wholeNumber('sample', options.sample, 64), runs);
      console.log(JSON.stringify(row));
      return;
    }
    const say = (text) => options.json || console.log(text);
    // Each case has a process of its own: a process does not give back all the memory it has had.
    const workers = options.workers.split(',').map((each) => {
      const count = wholeNumber('workers', each, 64);
      const { samples } = inProcess(options.connectome, count, count * RUNS_OF_A_WORKER);
      return { workers: count, rssMb: samples.at(-1).rssMb };
    });
    const [first, last] = [workers[0], workers.at(-1)];
    const mbPerWorker =
      workers.length > 1
        ? rounded((last.rssMb - first.rssMb) / (last.workers - first.workers), 1)
        : undefined;
    if (!options.json) printRows(workers, false);
    if (mbPerWorker !== undefined) say(`\neach further worker: ${mbPerWorker} MB\n`);
    const row = inProcess(options.connectome, first.workers, runs);
    // The first sample is taken before the last run of every kind was seen.
    const sizes = row.samples.slice(1).map(({ rssMb }) => rssMb);
    const spreadPercent = rounded((100 * (Math.max(...sizes) - Math.min(...sizes))) / Math.min(...sizes), 1);
    if (options.json) {
      console.log(JSON.stringify({ workers, mbPerWorker, ...row, spreadPercent }));
    } else {
      printRows(row.samples, false);
      say(
        `\n${runs} runs, ${row.failed} failed, digest ${row.digest}; largest less smallest: ${spreadPercent} %`,
      );
    }
    return row.failed > 0 ? 1 : 0;
  },
});

function inProcess(connectome, workers, runs) {
  const arguments_ = ['--connectome', connectome, '--sample', String(workers), '--runs', String(runs)];
  const { status, stdout } = spawnSync(process.execPath, [fileURLToPath(import.meta.url), ...arguments_], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`a row of runs ended with ${status}; its output stands above`);
  return JSON.parse(stdout);
}

async function mixedRuns(file, workers, runs) {
  const connectome = await readConnectomeFile(file);
  openConnectome(connectome);
  const pool = await ExperimentPool.start({
    workers,
    workerData: { connectome },
    workerFile: WORKER_FILE,
    onStrayError: (error) => console.error(error),
    onChange: () => {},
  });
  const digest = createHash('sha256');
  const samples = [];
  const ahead = [];
  const every = Math.ceil(runs / SAMPLES);
  let failed = 0;
  for (let next = 0, done = 0; done < runs;) {
    while (next < runs && ahead.length < workers * AHEAD) ahead.push(pool.run(mixed(next++)));
    try {
      digest.update((await ahead.shift()).body.bytes);
    } catch (error) {
      console.error(error);
      failed++;
    }
    done++;
    if (done % every === 0 || done === runs) {
      samples.push({ runs: done, rssMb: rounded(process.memoryUsage.rss() / 2 ** 20, 1) });
    }
  }
  await pool.close();
  return { samples, failed, digest: digest.digest('hex').slice(0, 16) };
}

/** Every combination comes once in 176 runs. */
function mixed(run) {
  const [stimuli, durations, views] = [FIELDS.stimulus, FIELDS.duration_ms, QUERY_FIELDS.view].map(
    ({ enum: values }) => values,
  );
  const stimulus = stimuli[run % stimuli.length];
  const rest = Math.floor(run / stimuli.length);
  const duration = durations[rest % durations.length];
  const view = views[Math.floor(rest / 4) % views.length];
  const gzip = Math.floor(rest / 8) % 2 === 0;
  return {
    kind: 'v1-run',
    experiment: { stimulus, duration_ms: duration, intensity: 1, seed: run },
    view,
    gzip,
  };
}
