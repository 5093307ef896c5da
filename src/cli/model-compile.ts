/** npm run model:compile: makes the connectome file that the service loads. */
import { type Brain, MINIMUM_SYNAPSES } from '../compiler/brain.js';
import { sampleBrain } from '../compiler/statistics/sample-brain.js';
import { readStatistics } from '../compiler/statistics/statistics-files.js';
import { layOut } from '../compiler/lay-out.js';
import { readPopulations } from '../compiler/populations.js';
import type { Progress } from '../compiler/progress.js';
import { readTables } from '../compiler/tables.js';
import { MAXIMUM_SYNAPSES_PER_CONNECTION } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import { shown } from '../errors.js';
import { runCommand, usage } from './command.js';
import { writeWhole } from './write-whole.js';

const COMMAND = { name: 'model:compile' };

await runCommand({
  ...COMMAND,
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
    'minimum-synapses': {
      type: 'string',
      value: 'N',
      help: `Leaves out pairs of neurons of the tables with fewer synapses; by default ${MINIMUM_SYNAPSES}.`,
    },
    populations: {
      type: 'string',
      value: 'FILE',
      help: 'Stimuli and channels, by default data/populations.json.',
    },
  },
  async run(options, _, progress) {
    const { out, signs } = options;
    const definitions = readPopulations(options.populations);
    const brain = await readBrain(options, progress);
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
  options: {
    readonly tables: string | undefined;
    readonly statistics: string | undefined;
    readonly 'minimum-synapses': string | undefined;
  },
  progress: Progress,
): Promise<Brain> {
  const { tables, statistics, 'minimum-synapses': minimum } = options;
  if (tables !== undefined && statistics === undefined) {
    return readTables(
      tables,
      progress,
      minimum === undefined ? MINIMUM_SYNAPSES : minimumSynapsesIn(minimum),
    );
  }
  if (statistics !== undefined && tables === undefined) {
    if (minimum !== undefined) {
      throw usage(
        COMMAND,
        `--minimum-synapses goes with --tables: statistics hold pairs with ${MINIMUM_SYNAPSES} synapses or more`,
      );
    }
    return sampleBrain(await readStatistics(statistics, progress), progress);
  }
  throw usage(COMMAND, 'it takes one of --tables DIR and --statistics DIR');
}

function minimumSynapsesIn(text: string): number {
  const minimum = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (minimum < 1 || minimum > MAXIMUM_SYNAPSES_PER_CONNECTION) {
    throw usage(
      COMMAND,
      `--minimum-synapses should be a whole number from 1 to ${MAXIMUM_SYNAPSES_PER_CONNECTION}, found ${shown(text)}`,
    );
  }
  return minimum;
}
