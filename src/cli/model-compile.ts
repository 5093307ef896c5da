/** npm run model:compile: makes the connectome file that the service loads. */
import { type Brain, MINIMUM_SYNAPSES } from '../compiler/brain.js';
import { sampleBrain } from '../compiler/statistics/sample-brain.js';
import { readStatistics } from '../compiler/statistics/statistics-files.js';
import { layOut } from '../compiler/lay-out.js';
import { defaultPopulations, readPopulations } from '../compiler/populations.js';
import type { Progress } from '../compiler/progress.js';
import { readShiuFiles } from '../compiler/shiu-files.js';
import { readTables } from '../compiler/tables.js';
import { MAXIMUM_SYNAPSES_PER_CONNECTION, type SignRule } from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import { describeValue } from '../errors.js';
import { runCommand, usage } from './command.js';
import { writeWhole } from './write-whole.js';

const COMMAND = { name: 'model:compile' };

await runCommand({
  ...COMMAND,
  summary:
    'Compiles a connectome file from the tables of a release, the files of Shiu et al. 2024 or cell-type statistics.',
  options: {
    tables: {
      type: 'string',
      value: 'DIR',
      help: 'Compile measured wiring from the five Codex tables in this directory.',
    },
    connectivity: {
      type: 'string',
      value: 'FILE',
      help:
        'Compile measured wiring, with its signs, from Connectivity_783.parquet of Shiu et al. 2024; --tables then ' +
        'only adds types, sides and positions.',
    },
    completeness: {
      type: 'string',
      value: 'FILE',
      help: 'Completeness_783.csv, the list of neurons for --connectivity.',
    },
    statistics: {
      type: 'string',
      value: 'DIR',
      help: 'Sample synthetic wiring from the cell-type statistics in this directory.',
    },
    out: { type: 'string', value: 'FILE', required: true, help: 'Connectome file to write.' },
    signs: {
      type: 'string',
      choices: ['corrected', 'predicted'],
      help: 'Sign rule, default corrected; see data/signs.json. Not for --connectivity, which contains the signs.',
    },
    'minimum-synapses': {
      type: 'string',
      value: 'N',
      help: `Omit connections with fewer synapses; default ${MINIMUM_SYNAPSES}. Not for --statistics.`,
    },
    populations: {
      type: 'string',
      value: 'FILE',
      help: 'Definitions of stimuli and channels; by default data/populations.json.',
    },
  },
  async run(options, _, progress) {
    const { out } = options;
    // Report mistakes in a small file before spending minutes on large ones.
    const asked = options.populations === undefined ? undefined : readPopulations(options.populations);
    const { brain, signRule } = await readBrain(options, progress);
    const populations = asked ?? defaultPopulations(brain);
    progress.begin('Laying out the connectome', 0, 'items');
    const file = encodeConnectome(layOut(brain, { signRule, populations }));
    progress.begin(`Writing ${out}`, 0, 'items');
    // Read the file back, so that a bad disk or a bug shows now and not in the service.
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
    readonly connectivity: string | undefined;
    readonly completeness: string | undefined;
    readonly statistics: string | undefined;
    readonly signs: 'corrected' | 'predicted' | undefined;
    readonly 'minimum-synapses': string | undefined;
  },
  progress: Progress,
): Promise<{ brain: Brain; signRule: SignRule }> {
  const { tables, connectivity, completeness, statistics, signs, 'minimum-synapses': minimum } = options;
  const minimumSynapses = minimum === undefined ? MINIMUM_SYNAPSES : minimumSynapsesIn(minimum);
  const signRule = signs ?? 'corrected';
  if (connectivity !== undefined && completeness !== undefined && statistics === undefined) {
    if (signs !== undefined) {
      throw usage(COMMAND, '--signs cannot be combined with --connectivity: that file has its own signs');
    }
    const files = { connectivity, completeness, tables };
    return { brain: await readShiuFiles(files, progress, minimumSynapses), signRule: 'as given' };
  }
  if (connectivity !== undefined || completeness !== undefined) {
    throw usage(
      COMMAND,
      '--connectivity FILE and --completeness FILE must be given together, without --statistics',
    );
  }
  if (tables !== undefined && statistics === undefined) {
    return { brain: await readTables(tables, progress, minimumSynapses), signRule };
  }
  if (statistics !== undefined && tables === undefined) {
    if (minimum !== undefined) {
      throw usage(
        COMMAND,
        `--minimum-synapses cannot be combined with --statistics, which hold pairs with ${MINIMUM_SYNAPSES} synapses or more`,
      );
    }
    return { brain: sampleBrain(await readStatistics(statistics, progress), progress), signRule };
  }
  throw usage(
    COMMAND,
    'it takes one of --tables DIR, --statistics DIR, and --connectivity FILE with --completeness FILE',
  );
}

function minimumSynapsesIn(text: string): number {
  const minimum = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (minimum < 1 || minimum > MAXIMUM_SYNAPSES_PER_CONNECTION) {
    throw usage(
      COMMAND,
      `--minimum-synapses should be a whole number from 1 to ${MAXIMUM_SYNAPSES_PER_CONNECTION}, found ${describeValue(text)}`,
    );
  }
  return minimum;
}
