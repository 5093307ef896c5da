/** npm run golden replays runs of Brian 2 and counts the spikes that differ. */
import { existsSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import { openConnectome } from '../../engine/connectome/format.js';
import { CodedError } from '../../engine/errors.js';
import { KernelEngine } from '../../engine/simulation/cpu/kernel-engine.js';
import { compareMembranes, compareSpikes, goldenReader } from '../golden/golden.js';
import { compileKernel } from '../../workers/pool/kernel-file.js';
import { defineCommand, demand, text } from './command.js';

/** Files of membrane potentials. Each is read together with its file of spikes. */
const TRACES = /\.membrane\.csv(\.gz)?$/;
const SUFFIX = /\.csv(\.gz)?$/;
/** The files have ten decimals. */
const MAX_DIFFERENCE_MV = 1e-9;

export const command = defineCommand({
  name: 'golden',
  summary: 'Simulates the input events of golden files and counts missing and extra spikes.',
  options: {
    connectome: text('FILE', 'Connectome of the golden files.', { required: true }),
  },
  positionals: {
    usage: 'GOLDEN.csv.gz...',
    help:
      'CSV files with the columns event, step, root_id; may be gzipped. NAME.membrane.csv.gz beside a file has traces ' +
      'of its run.',
  },
  async run(options, files, { print }) {
    const runs = files.filter((file) => !TRACES.test(file));
    demand(runs.length > 0, 'it takes at least one file of spikes, not only membrane potentials');
    const connectome = openConnectome(await readConnectomeFile(options.connectome));
    const engine = new KernelEngine(compileKernel(), connectome);
    const read = goldenReader(connectome);
    let differing = 0;
    for (const path of runs) {
      const membranes = path.replace(SUFFIX, '.membrane.csv$1');
      const hasTraces = membranes !== path && existsSync(membranes);
      const golden = read(readGoldenFile(path), path, hasTraces ? readGoldenFile(membranes) : undefined);
      const simulated = engine.simulate(golden.events, golden);
      const { spikes, missing, extra } = compareSpikes(golden.spikes, simulated);
      const differenceMv = compareMembranes(golden.membranes, simulated.membranes!);
      const membrane = hasTraces ? ` membrane ${differenceMv.toExponential(1)}` : '';
      print(`${basename(path)} spikes ${spikes} missing ${missing} extra ${extra}${membrane}\n`);
      differing += missing + extra + (differenceMv > MAX_DIFFERENCE_MV ? 1 : 0);
    }
    return differing > 0 ? 1 : 0;
  },
});

/**
 * Reads a golden file, gzipped or not.
 * @throws CodedError GOLDEN_INVALID if it cannot be read
 */
export function readGoldenFile(path: string): string {
  try {
    const bytes = readFileSync(path);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new CodedError('GOLDEN_INVALID', `${path} cannot be read: ${(error as Error).message}`);
  }
}
