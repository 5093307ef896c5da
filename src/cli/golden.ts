/** npm run golden: replays runs of Brian 2 and counts the spikes that differ. */
import { basename } from 'node:path';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { KernelEngine } from '../engine/backends/cpu/kernel-engine.js';
import { compareSpikes, neuronIndexById, parseGolden } from '../engine/golden.js';
import { ReferenceEngine } from '../engine/reference-engine.js';
import { compileKernel } from '../pool/kernel-file.js';
import { runCommand } from './command.js';
import { readGoldenFile } from './golden-file.js';

await runCommand({
  name: 'golden',
  summary: 'Simulates the input events of golden files and counts missing and extra spikes.',
  options: {
    connectome: {
      type: 'string',
      value: 'FILE',
      required: true,
      help: 'Connectome of the golden files.',
    },
    engine: {
      type: 'string',
      value: 'NAME',
      default: 'kernel',
      choices: ['kernel', 'reference'],
      help: 'The engine of the service or the reference engine.',
    },
  },
  positionals: {
    name: 'GOLDEN.csv.gz',
    help: 'CSV files with the columns event, step, root_id; may be gzipped.',
    minimum: 1,
    maximum: 1000,
  },
  async run(options, files) {
    const connectome = openConnectome(await readConnectomeFile(options.connectome));
    const engine =
      options.engine === 'kernel'
        ? new KernelEngine(compileKernel(), connectome)
        : new ReferenceEngine(connectome);
    const indexById = neuronIndexById(connectome);
    let differing = 0;
    for (const file of files) {
      const golden = parseGolden(readGoldenFile(file), file, indexById);
      const simulated = engine.simulate(golden.events, golden);
      const { spikes, missing, extra } = compareSpikes(golden.spikes, simulated);
      process.stdout.write(`${basename(file)} spikes ${spikes} missing ${missing} extra ${extra}\n`);
      if (missing + extra > 0) differing++;
    }
    return differing > 0 ? 1 : 0;
  },
});
