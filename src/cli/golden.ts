/** npm run golden: replays runs of Brian 2 and counts the spikes that differ. */
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { openConnectome } from '../connectome/format.js';
import { KernelEngine } from '../engine/backends/cpu/kernel-engine.js';
import { compareSpikes, neuronIndexById, parseGolden } from '../engine/golden.js';
import { ReferenceEngine } from '../engine/reference-engine.js';
import { CodedError } from '../errors.js';
import { compileKernel } from '../pool/kernel-file.js';
import { runCommand } from './command.js';

await runCommand({
  name: 'golden',
  summary: 'Replays golden runs, kick for kick, and counts missing and extra spikes.',
  options: {
    connectome: {
      type: 'string',
      value: 'FILE',
      required: true,
      help: 'The wiring the golden runs were made with.',
    },
    engine: {
      type: 'string',
      value: 'NAME',
      default: 'kernel',
      choices: ['kernel', 'reference'],
      help: 'The engine that is served, or the readable one.',
    },
  },
  positionals: {
    name: 'GOLDEN.csv.gz',
    help: 'Lines event,step,root_id; plain or gzipped.',
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
      const golden = parseGolden(readText(file), file, indexById);
      const simulated = engine.simulate(golden.kicks, golden.durationSteps);
      const { spikes, missing, extra } = compareSpikes(golden.spikes, simulated);
      process.stdout.write(`${basename(file)} spikes ${spikes} missing ${missing} extra ${extra}\n`);
      if (missing + extra > 0) differing++;
    }
    return differing > 0 ? 1 : 0;
  },
});

function readText(file: string): string {
  try {
    const bytes = readFileSync(file);
    const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
    return (isGzip ? gunzipSync(bytes) : bytes).toString('utf8');
  } catch (error) {
    throw new CodedError('GOLDEN_INVALID', `${file} cannot be read: ${(error as Error).message}`);
  }
}
