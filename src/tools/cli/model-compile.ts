/** npm run model:compile writes the connectome file that the service loads. */
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Brain, MIN_SYNAPSES } from '../compiler/brain.js';
import { deviations, originOf, recognisedConnections } from '../compiler/compare-published.js';
import { connectionTable, datasetNames, ownTables, readDataset, shiuFiles } from '../compiler/dataset.js';
import { DEFAULT_SEED, sampleBrain } from '../statistics/sample-brain.js';
import { readStatistics } from '../statistics/statistics-files.js';
import { buildConnectome } from '../compiler/build-connectome.js';
import { defaultPopulations, readPopulations } from '../compiler/populations.js';
import type { Progress } from '../compiler/progress.js';
import { readTables } from '../compiler/tables.js';
import {
  MAX_SYNAPSE_MV,
  MAX_SYNAPSES_PER_CONNECTION,
  type NetworkIdentity,
  type SignRule,
} from '../../engine/connectome/connectome.js';
import { readConnectomeFile } from '../../workers/pool/connectome-file.js';
import { encodeConnectome, openConnectome } from '../../engine/connectome/format.js';
import { MAGIC } from '../../engine/connectome/sections.js';
import { CodedError, describeValue } from '../../engine/errors.js';
import { SYNAPSE_MV } from '../../engine/simulation/network.js';
import { choice, defineCommand, demand, flag, integer, type OptionValues, passing, text } from './command.js';
import { attempt, checkWritable, writeAtomically } from './atomic-file.js';

const NAME = passing(
  (text) => /^(?=\S)[^\p{C}\p{Zl}\p{Zp}]{1,100}(?<=\S)$/u.test(text),
  '1 to 100 characters in one line, not blank at either end',
);
const GAIN = {
  read: (text: string) => {
    const mv = /^\d+(\.\d+)?$/.test(text) ? Number(text) : NaN;
    return mv > 0 && mv <= MAX_SYNAPSE_MV ? mv : undefined;
  },
  allowed: `a number of mV above 0 and up to ${MAX_SYNAPSE_MV}`,
};
const COLUMNS = {
  read: (text: string) => {
    const pairs = text.split(',').map((pair) => pair.split('=') as [string, string]);
    const roles = new Map(pairs);
    return roles.size === pairs.length &&
      pairs.every((pair) => pair.length === 2 && pair.every((name) => name !== ''))
      ? roles
      : undefined;
  },
  allowed: 'names as pre=body_pre,post=body_post, each once',
};
const FLYWIRE_ID = /^720575940\d{9}$/;

const OPTIONS = {
  tables: text('DIR', 'Compile measured wiring from the tables of a data set in this directory.'),
  dataset: text(
    'NAME',
    `Data set of --tables: ${datasetNames().join(', ')}; by default flywire-783. With --name, whatever the neurons ` +
      'are said to be of, by default NAME; "FlyWire FAFB" if they are those of FlyWire.',
    NAME,
  ),
  synapses: text('NAME', 'Table of synapses, if a data set has several, such as princeton.'),
  edges: text(
    'FILE',
    'Compile a network of your own from this table of connections: CSV, Parquet or Feather.',
  ),
  neurons: text('FILE', 'Its table of neurons, for --edges.'),
  columns: text(
    'LIST',
    'Names of the columns of --edges and --neurons, such as pre=body_pre,id=bodyId, if not those of docs/wiring.md.',
    COLUMNS,
  ),
  connectivity: text(
    'FILE',
    'Compile measured wiring, with its signs, from Connectivity_783.parquet of Shiu et al. 2024; --tables then ' +
      'only adds types, sides and positions.',
  ),
  completeness: text('FILE', 'Completeness_783.csv, the list of neurons for --connectivity.'),
  statistics: text('DIR', 'Sample synthetic wiring from the cell-type statistics in this directory.'),
  out: text('FILE', 'Connectome file to write.', { required: true }),
  signs: choice(
    ['corrected', 'predicted', 'fast'],
    'Sign rule, on FlyWire by default corrected, elsewhere fast; see data/signs.json. Not if the source contains ' +
      'the signs.',
  ),
  'sign-probabilities': flag(
    'Keep the probability of each sign, from the probabilities of transmitters, for experiments that sample signs. The ' +
      'model then has another digest. Not if the tables lack these columns, or the source contains the signs.',
  ),
  'minimum-synapses': integer(
    `Omit connections with fewer synapses; default ${MIN_SYNAPSES}, with --edges 1. Not for --statistics.`,
    [1, MAX_SYNAPSES_PER_CONNECTION],
  ),
  name: text(
    'NAME',
    'Name of a network other than release 783 of FlyWire: one of your own, or one that was changed or shuffled.',
    NAME,
  ),
  release: integer('With --name: the release of that data set, by default none.', [1, 999_999_999]),
  wiring: choice(
    ['custom', 'measured'],
    'With --name: measured if every connection was traced, by default custom. Not for --statistics, whose wiring is ' +
      'synthetic.',
  ),
  'synapse-mv': text(
    'MV',
    `Gain of one synapse in mV, by default ${SYNAPSE_MV}, which was fitted to FlyWire.`,
    GAIN,
  ),
  populations: text('FILE', 'Definitions of stimuli and channels; by default data/populations.json.'),
};

type CompileOptions = OptionValues<typeof OPTIONS>;

export const command = defineCommand({
  name: 'model:compile',
  summary:
    'Compiles a connectome file from the tables of a data set or of a laboratory, the files of Shiu et al. 2024 or cell-type statistics.',
  options: OPTIONS,
  async run(options, _, { print, progress }) {
    const { out } = options;
    // Check the output and the small file first, to report mistakes before minutes of work on the large files.
    checkOutput(out);
    const asked = options.populations === undefined ? undefined : readPopulations(options.populations);
    const { brain: read, signRule, notes = [] } = await readBrain(options, progress);
    const { 'synapse-mv': synapseMv = SYNAPSE_MV } = options;
    const brain = synapseMv === SYNAPSE_MV ? read : { ...read, origin: { ...read.origin, synapseMv } };
    const warnings = [...(brain.warnings ?? []), ...withoutEffect(brain.neurons.signs[signRule])];
    const populations = asked ?? defaultPopulations(brain);
    progress.begin('Laying out the connectome', 0, 'items');
    const hasSignProbabilities = options['sign-probabilities'];
    demand(
      !hasSignProbabilities || brain.neurons.signProbabilities !== undefined,
      '--sign-probabilities needs tables with probabilities of transmitters, such as those of flywire-783',
    );
    const content = buildConnectome(brain, { signRule, populations, hasSignProbabilities });
    const bytes = encodeConnectome(content);
    progress.begin(`Writing ${out}`, 0, 'items');
    // Read the file back, to find a bad disk or a bug now and not in the service.
    const { metadata, digest } = await writeAtomically(out, bytes, async (unfinished) =>
      openConnectome(await readConnectomeFile(unfinished)),
    );
    for (const sentence of notes) progress.note(`Note: ${sentence}`);
    print(
      `${metadata.provenance.join('\n')}\n` +
        `${out}: ${metadata.neuronCount} neurons, ${metadata.connectionCount} connections, ` +
        `${metadata.synapseCount} synapses, ${metadata.signRule} signs\n` +
        `digest ${digest}\n`,
    );
    // Warnings come last, so that no other output scrolls them away.
    for (const sentence of warnings) progress.note(`WARNING: ${sentence}`);
  },
});

/** A sentence if most neurons have no effect, because few transmitters are known or because the rule does not fit. */
function withoutEffect(signs: Int8Array = new Int8Array(0)): string[] {
  const count = signs.reduce((all, sign) => all + (sign === 0 ? 1 : 0), 0);
  return 2 * count <= signs.length
    ? []
    : [`${count} of ${signs.length} neurons have the sign 0, so they have no effect on other neurons.`];
}

/**
 * @throws UsageError if the file is of another kind, such as a table that is read, or a device
 * @throws CodedError USAGE if it cannot be written
 */
function checkOutput(out: string): void {
  const there = attempt(`${out} cannot be written`, () => statSync(out, { throwIfNoEntry: false }));
  demand(
    there === undefined || there.isDirectory() || (there.isFile() && (there.size === 0 || isConnectome(out))),
    `--out should be a new file or a connectome file, found ${describeValue(out)}, which is another kind of file`,
  );
  checkWritable(out);
}

function isConnectome(path: string): boolean {
  return attempt(`${path} cannot be read`, () => {
    const start = Buffer.alloc(MAGIC.length);
    const file = openSync(path, 'r');
    try {
      readSync(file, start);
    } finally {
      closeSync(file);
    }
    return start.toString('latin1') === MAGIC;
  });
}

interface Read {
  readonly brain: Brain;
  readonly signRule: SignRule;
  /** Sentences on differences from the published data set, and on settings that may not fit. */
  readonly notes?: readonly string[] | undefined;
}

async function readBrain(options: CompileOptions, progress: Progress): Promise<Read> {
  const { tables, connectivity, completeness, statistics, signs, 'minimum-synapses': minimum } = options;
  if (options.edges !== undefined || options.neurons !== undefined) {
    return readOwnNetwork(options, progress);
  }
  demand(options.synapses === undefined || tables !== undefined, '--synapses needs --tables DIR');
  demand(options.columns === undefined, '--columns needs --edges FILE and --neurons FILE');
  const identity = identityIn(options);
  if (connectivity !== undefined || completeness !== undefined) {
    demand(
      connectivity !== undefined && completeness !== undefined && statistics === undefined,
      '--connectivity FILE and --completeness FILE must be given together, without --statistics',
    );
    demand(
      signs === undefined,
      '--signs cannot be combined with --connectivity: that file has its own signs',
    );
    demand(options.synapses === undefined, '--synapses cannot be combined with --connectivity');
    demand(
      options.dataset === undefined || identity !== undefined,
      '--dataset NAME with --connectivity needs --name NAME',
    );
    const files = shiuFiles(connectivity, completeness, tables);
    const brain = await readTables('', progress, minimum, identity, files);
    return { brain: checkedIds(brain, identity), signRule: 'as given' };
  }
  if (tables !== undefined && statistics === undefined) {
    return readDatasetTables(tables, options, progress, identity);
  }
  demand(
    options.dataset === undefined || identity !== undefined,
    '--dataset NAME needs --tables DIR, or --name NAME',
  );
  demand(
    statistics !== undefined && tables === undefined,
    'it takes one of --tables DIR, --edges FILE with --neurons FILE, --statistics DIR, and --connectivity FILE with ' +
      '--completeness FILE',
  );
  demand(
    minimum === undefined,
    `--minimum-synapses cannot be combined with --statistics, which hold pairs with ${MIN_SYNAPSES} synapses or more`,
  );
  demand(signs !== 'fast', '--signs fast cannot be used here: the statistics allow corrected, predicted');
  const read = await readStatistics(statistics, progress);
  const synthetic = identity && ({ ...identity, wiring: 'synthetic' } as const);
  return { brain: sampleBrain(read, progress, DEFAULT_SEED, synthetic), signRule: signs ?? 'corrected' };
}

async function readDatasetTables(
  dir: string,
  options: CompileOptions,
  progress: Progress,
  identity: NetworkIdentity | undefined,
): Promise<Read> {
  const { signs, dataset: name, synapses, 'minimum-synapses': minimum } = options;
  const dataset = readDataset(name !== undefined && datasetNames().includes(name) ? name : undefined);
  // Without --synapses, take the data set's first table that exists in the directory.
  const there = dataset.connections.find(({ file }) => existsSync(join(dir, file)));
  const chosen = synapses === undefined && there ? there : connectionTable(dataset, synapses);
  const brain = await readTables(dir, progress, minimum, identity, dataset, chosen);
  const signRule = signRuleFor(brain, dataset.signs, signs);
  if (identity !== undefined && dataset.dataset !== identity.dataset) {
    return { brain: checkedIds(brain, identity), signRule };
  }
  const table = recognisedConnections(dataset, chosen, brain);
  const notes = identity === undefined ? deviations(dataset, table, brain) : [];
  if (table !== chosen) notes.unshift(`${chosen.file} has the ${table.title}, whatever it is called.`);
  if (table.gain !== undefined && options['synapse-mv'] === undefined) {
    notes.push(`One synapse has ${SYNAPSE_MV} mV, since --synapse-mv was not given. ${table.gain}`);
  }
  const origin = originOf(dataset, table);
  const { title } = origin.synapses ?? {};
  const named = {
    ...brain,
    // Tables of other flies also name bodies that are not neurons, so omitted rows are no cause for a warning.
    warnings: dataset.licence === undefined ? brain.warnings : [],
    origin,
    identity:
      title === undefined || identity !== undefined
        ? brain.identity
        : { ...brain.identity, name: `${brain.identity.name}, ${title}` },
    provenance: [
      ...brain.provenance,
      ...(title === undefined ? [] : [`Its connections are those of the ${title}.`]),
      ...(dataset.remarks ?? []),
    ],
  };
  return { brain: dataset.licence === undefined ? checkedIds(named, identity) : named, signRule, notes };
}

async function readOwnNetwork(options: CompileOptions, progress: Progress): Promise<Read> {
  const { edges, neurons, name, columns } = options;
  demand(
    edges !== undefined && neurons !== undefined && name !== undefined,
    'a network of your own needs --edges FILE, --neurons FILE and --name NAME',
  );
  const sources = ['tables', 'statistics', 'connectivity', 'completeness', 'synapses'] as const;
  const other = sources.find((option) => options[option] !== undefined);
  demand(other === undefined, `--edges cannot be combined with --${other}`);
  const dataset = ownTables(edges, neurons, columns ?? new Map());
  const brain = await readTables('', progress, options['minimum-synapses'], identityIn(options), dataset);
  return { brain, signRule: signRuleFor(brain, dataset.signs, options.signs), notes: brain.unread };
}

/** The requested rule, by default the first that the source supports. @throws UsageError if it does not support the rule */
function signRuleFor({ neurons }: Brain, rules: readonly SignRule[], asked: SignRule | undefined): SignRule {
  const possible = ['as given' as const, ...rules].filter((rule) => neurons.signs[rule] !== undefined);
  const rule = asked ?? possible[0]!;
  demand(
    possible.includes(rule),
    `--signs ${rule} cannot be used here: the tables allow ${possible.join(', ')}`,
  );
  return rule;
}

/** @returns the identity that the options give the network; undefined for an unchanged data set */
function identityIn(options: CompileOptions): NetworkIdentity | undefined {
  const { name, dataset, release, wiring, statistics } = options;
  const isKnown = dataset !== undefined && datasetNames().includes(dataset);
  if (name === undefined) {
    demand(
      dataset === undefined || isKnown,
      `--dataset should be one of ${datasetNames().join(', ')}, found ${describeValue(dataset)}; another network needs --name NAME`,
    );
    const given = (['release', 'wiring'] as const).find((option) => options[option] !== undefined);
    demand(given === undefined, `--${given} says more of a network with a name, so it needs --name NAME`);
    return undefined;
  }
  demand(
    wiring === undefined || statistics === undefined,
    '--wiring cannot be combined with --statistics, whose wiring is synthetic',
  );
  const known = isKnown ? readDataset(dataset) : undefined;
  return {
    name,
    dataset: known?.dataset ?? dataset ?? name,
    release: release ?? known?.release ?? null,
    wiring: wiring ?? 'custom',
  };
}

/**
 * Without --name, a network would pass as FlyWire. This refuses one with other neurons; it cannot detect changed
 * connections.
 * @throws CodedError TABLE_INVALID
 */
function checkedIds(brain: Brain, identity: NetworkIdentity | undefined): Brain {
  const other = identity === undefined ? brain.neurons.ids.find((id) => !FLYWIRE_ID.test(id)) : undefined;
  if (other === undefined) return brain;
  throw new CodedError(
    'TABLE_INVALID',
    `expected root ids of FlyWire, 18 digits from 720575940, found ${other}: name this network with --name NAME.`,
  );
}
