/** npm run model:compile: makes the connectome file that the service loads. */
import type { Brain } from '../compiler/brain.js';
import { sampleBrain } from '../compiler/statistics/sample-brain.js';
import { readStatistics } from '../compiler/statistics/statistics-files.js';
import { layOut } from '../compiler/lay-out.js';
import { readPopulations } from '../compiler/populations.js';
import type { Progress } from '../compiler/progress.js';
import { readTables } from '../compiler/tables.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import { runCommand, usage } from './command.js';
import { writeWhole } from './write-whole.js';

await runCommand({
  name: 'model:compile',
  summary: 'Compiles a connectome file from the tables of a release or from cell-type statistics.',
  options: {
    tables: { type: 'string', value: 'DIR', help: 'Directory with the five Codex tables: measured wiring.' },
    statistics: {
      type: 'string',
      value: 'DIR',
      help: 'Directory with cell-type statistics instead: synthetic wiring, sampled from them.',
    },
    out: { type: 'string', value: 'FILE', required: true, help: 'The file to write.' },
    signs: {
      type: 'string',
      choices: ['corrected', 'predicted'],
      default: 'corrected',
      help: 'Which neurons inhibit: data/signs.json decides for tables; statistics hold the signs of both rules.',
    },
    populations: {
      type: 'string',
      value: 'FILE',
      help: 'Stimuli and channels, by default data/populations.json.',
    },
  },
  async run({ tables, statistics, out, signs, populations }, _, progress) {
    const definitions = readPopulations(populations);
    const brain = await readBrain(tables, statistics, progress);
    progress.begin('Laying out the connectome', 0, 'items');
    const file = encodeConnectome(layOut(brain, { signRule: signs, populations: definitions }));
    progress.begin(`Writing ${out}`, 0, 'items');
    // What was written is read back, so that a bad disk or a defect here shows now and not in the service.
    const { metadata, digest } = await writeWhole(out, file, async (unfinished) =>
      openConnectome(await readConnectomeFile(unfinished)),
    );
    progress.end();
    process.stdout.write(
      `${metadata.provenance.join('\n')}\n` +
        `${out}: ${metadata.neuronCount} neurons, ${metadata.connectionCount} connections, ` +
        `${metadata.synapseCount} synapses, ${metadata.signRule} signs\n` +
        `digest ${digest}\n`,
    );
  },
});

async function readBrain(
  tables: string | undefined,
  statistics: string | undefined,
  progress: Progress,
): Promise<Brain> {
  if (tables !== undefined && statistics === undefined) {
    return readTables(tables, progress);
  }
  if (statistics !== undefined && tables === undefined) {
    return sampleBrain(await readStatistics(statistics, progress), progress);
  }
  throw usage({ name: 'model:compile' }, 'it takes one of --tables DIR and --statistics DIR');
}
