/** npm run model:compile: makes the connectome file that the service loads. */
import { type Brain, MINIMUM_SYNAPSES } from '../compiler/brain.js';
import { DEFAULT_SEED, sampleBrain } from '../compiler/statistics/sample-brain.js';
import { readStatistics } from '../compiler/statistics/statistics-files.js';
import { layOut } from '../compiler/lay-out.js';
import { defaultPopulations, readPopulations } from '../compiler/populations.js';
import type { Progress } from '../compiler/progress.js';
import { readShiuFiles } from '../compiler/shiu-files.js';
import { readTables } from '../compiler/tables.js';
import {
  MAXIMUM_SYNAPSES_PER_CONNECTION,
  type NetworkIdentity,
  type SignRule,
} from '../connectome/connectome.js';
import { readConnectomeFile } from '../connectome/connectome-file.js';
import { encodeConnectome, openConnectome } from '../connectome/format.js';
import { CodedError } from '../errors.js';
import {
  choice,
  defineCommand,
  directory,
  file,
  integer,
  type OptionValues,
  text,
  UsageError,
} from './command.js';
import { writeWhole } from './write-whole.js';

const NAME = {
  test: (text: string) => /^(?=\S)[^\p{C}\p{Zl}\p{Zp}]{1,100}(?<=\S)$/u.test(text),
  says: '1 to 100 characters in one line, not blank at either end',
};
const FLYWIRE_ID = /^720575940\d{9}$/;

const OPTIONS = {
  tables: directory('Compile measured wiring from the five Codex tables in this directory.'),
  connectivity: file(
    'Compile measured wiring, with its signs, from Connectivity_783.parquet of Shiu et al. 2024; --tables then ' +
      'only adds types, sides and positions.',
  ),
  completeness: file('Completeness_783.csv, the list of neurons for --connectivity.'),
  statistics: directory('Sample synthetic wiring from the cell-type statistics in this directory.'),
  out: file('Connectome file to write.', { required: true }),
  signs: choice(
    ['corrected', 'predicted'],
    'Sign rule, default corrected; see data/signs.json. Not for --connectivity, which contains the signs.',
  ),
  'minimum-synapses': integer(
    `Omit connections with fewer synapses; default ${MINIMUM_SYNAPSES}. Not for --statistics.`,
    { range: [1, MAXIMUM_SYNAPSES_PER_CONNECTION] },
  ),
  name: text(
    'NAME',
    'Name of a network other than release 783 of FlyWire: one of your own, or one that was changed or shuffled.',
    { allowed: NAME },
  ),
  dataset: text(
    'TEXT',
    'With --name: the data set of its neurons, by default NAME; "FlyWire FAFB" if they are those of FlyWire.',
    { allowed: NAME },
  ),
  release: integer('With --name: the release of that data set, by default none.', {
    range: [1, 999_999_999],
  }),
  wiring: choice(
    ['custom', 'measured'],
    'With --name: measured if every connection was traced, by default custom. Not for --statistics, whose wiring is ' +
      'synthetic.',
  ),
  populations: file('Definitions of stimuli and channels; by default data/populations.json.'),
};

type CompileOptions = OptionValues<typeof OPTIONS>;

export const command = defineCommand({
  name: 'model:compile',
  summary:
    'Compiles a connectome file from the tables of a release, the files of Shiu et al. 2024 or cell-type statistics.',
  options: OPTIONS,
  async run(options, _, { print, progress }) {
    const { out } = options;
    // Report mistakes in a small file before spending minutes on large ones.
    const asked = options.populations === undefined ? undefined : readPopulations(options.populations);
    const { brain, signRule } = await readBrain(options, progress);
    const populations = asked ?? defaultPopulations(brain);
    progress.begin('Laying out the connectome', 0, 'items');
    const bytes = encodeConnectome(layOut(brain, { signRule, populations }));
    progress.begin(`Writing ${out}`, 0, 'items');
    // Read the file back, so that a bad disk or a bug shows now and not in the service.
    const { metadata, digest } = await writeWhole(out, bytes, async (unfinished) =>
      openConnectome(await readConnectomeFile(unfinished)),
    );
    print(
      `${metadata.provenance.join('\n')}\n` +
        `${out}: ${metadata.neuronCount} neurons, ${metadata.connectionCount} connections, ` +
        `${metadata.synapseCount} synapses, ${metadata.signRule} signs\n` +
        `digest ${digest}\n`,
    );
  },
});

async function readBrain(
  options: CompileOptions,
  progress: Progress,
): Promise<{ readonly brain: Brain; readonly signRule: SignRule }> {
  const { tables, connectivity, completeness, statistics, signs, 'minimum-synapses': minimum } = options;
  const minimumSynapses = minimum ?? MINIMUM_SYNAPSES;
  const signRule = signs ?? 'corrected';
  const identity = identityIn(options);
  if (connectivity !== undefined && completeness !== undefined && statistics === undefined) {
    if (signs !== undefined) {
      throw new UsageError('--signs cannot be combined with --connectivity: that file has its own signs');
    }
    const files = { connectivity, completeness, tables };
    const brain = await readShiuFiles(files, progress, minimumSynapses, identity);
    return { brain: checkedIds(brain, identity), signRule: 'as given' };
  }
  if (connectivity !== undefined || completeness !== undefined) {
    throw new UsageError(
      '--connectivity FILE and --completeness FILE must be given together, without --statistics',
    );
  }
  if (tables !== undefined && statistics === undefined) {
    const brain = await readTables(tables, progress, minimumSynapses, identity);
    return { brain: checkedIds(brain, identity), signRule };
  }
  if (statistics !== undefined && tables === undefined) {
    if (minimum !== undefined) {
      throw new UsageError(
        `--minimum-synapses cannot be combined with --statistics, which hold pairs with ${MINIMUM_SYNAPSES} synapses or more`,
      );
    }
    const read = await readStatistics(statistics, progress);
    const synthetic = identity && ({ ...identity, wiring: 'synthetic' } as const);
    return { brain: sampleBrain(read, progress, DEFAULT_SEED, synthetic), signRule };
  }
  throw new UsageError(
    'it takes one of --tables DIR, --statistics DIR, and --connectivity FILE with --completeness FILE',
  );
}

/** @returns what the network is said to be, or nothing for release 783 of FlyWire */
function identityIn(options: CompileOptions): NetworkIdentity | undefined {
  const { name, dataset, release, wiring, statistics } = options;
  if (name === undefined) {
    const given = (['dataset', 'release', 'wiring'] as const).find((option) => options[option] !== undefined);
    if (given === undefined) return undefined;
    throw new UsageError(`--${given} says more of a network with a name, so it needs --name NAME`);
  }
  if (wiring !== undefined && statistics !== undefined) {
    throw new UsageError('--wiring cannot be combined with --statistics, whose wiring is synthetic');
  }
  return { name, dataset: dataset ?? name, release: release ?? null, wiring: wiring ?? 'custom' };
}

/** Tells a network of other neurons, which would pass as FlyWire; one with other connections only its maker can tell. */
function checkedIds(brain: Brain, identity: NetworkIdentity | undefined): Brain {
  const other = identity === undefined ? brain.neurons.ids.find((id) => !FLYWIRE_ID.test(id)) : undefined;
  if (other === undefined) return brain;
  throw new CodedError(
    'TABLE_INVALID',
    `expected root ids of FlyWire, 18 digits from 720575940, found ${other}: say with --name NAME what this network is.`,
  );
}
