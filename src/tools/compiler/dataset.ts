/**
 * The known data sets, one small file each in data/datasets. A file lists downloads, the meaning of columns and values,
 * and citations. Only code for FlyWire names a data set, so a new one needs only a new file.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readChecked } from '../../engine/platform.node.js';
import type {
  ConnectomeMetadata,
  NetworkIdentity,
  SourceFile,
  TableSignRule,
} from '../../engine/connectome/connectome.js';
import { LABELS } from '../../engine/connectome/neuron-index.js';
import { CodedError } from '../../engine/errors.js';

/** Labels of neurons that a table may have. */
export const LABEL_COLUMNS = [...LABELS, 'transmitter', 'sign', 'preset_type'] as const;
export type LabelColumn = (typeof LABEL_COLUMNS)[number];
export type NeuronColumn = LabelColumn | 'id' | 'position' | 'x' | 'y' | 'z';

/** A table with rows of neurons; the first of a data set lists them all. */
export interface NeuronTable {
  readonly file: string;
  /** If a label has several columns, the first one with a value counts. */
  readonly columns: { readonly [Column in NeuronColumn]?: string | readonly string[] };
  /** Columns that the table may lack. */
  readonly optional?: readonly string[];
  /** A row is a neuron if it matches any of these conditions in all its columns. `*` matches any value. */
  readonly where?: readonly Readonly<Record<string, readonly string[]>>[];
  /** Transmitters by the column with their probability. If a row names no transmitter, the largest probability decides. */
  readonly largest?: Readonly<Record<string, string>>;
  /** True if a neuron may have several rows; the first one gives its position. */
  readonly several?: boolean;
  /** True if it is not part of the release. It is read if it exists, for neurons without a measured position. */
  readonly estimated?: boolean;
  /** Size of a voxel in nm, if positions are in voxels. */
  readonly voxel_nm?: readonly [number, number, number];
}

/** A table with rows of connected pairs of neurons. */
export interface ConnectionTable {
  readonly file: string;
  /** Names the method that found the synapses, if a data set has several tables. The first table is the default. */
  readonly synapses?: string;
  readonly title?: string;
  readonly columns: Readonly<Record<'pre' | 'post' | 'weight', string>> & {
    readonly part?: string;
    readonly sign?: string;
  };
  readonly optional?: readonly string[];
  /** Number of pairs with at least `minimum` synapses in the published table. */
  readonly pairs?: { readonly count: number; readonly minimum: number };
  readonly citations?: ConnectomeMetadata['citations'];
  /** Why the gain that was fitted to FlyWire does not fit this table. */
  readonly gain?: string;
}

export interface PublishedFile extends Partial<SourceFile> {
  readonly file: string;
  readonly bytes: number;
  /** Command that unpacks it into tables. */
  readonly unpack?: string;
}

export interface Dataset extends Omit<NetworkIdentity, 'wiring'> {
  /** Sentence on the origin of a model of this data set. */
  readonly provenance: string;
  /** Phrase on the tables of another network that has the same columns. */
  readonly layout: string;
  /** Members of the metadata, for a data set other than FlyWire. */
  readonly licence?: ConnectomeMetadata['licence'];
  readonly citations?: ConnectomeMetadata['citations'];
  /** Licence and citations, printed before a download. */
  readonly notice: string;
  readonly base_url: string;
  readonly files: readonly PublishedFile[];
  readonly neuron_count?: number;
  readonly tables: readonly NeuronTable[];
  readonly connections: readonly ConnectionTable[];
  /** For each label, the service's name for each value of the data set. */
  readonly values: { readonly [Label in LabelColumn]?: Readonly<Record<string, string>> };
  /**
   * Words that stand for a missing label. Labels then have no blanks at either end. Absent for releases, whose labels are
   * kept as they are.
   */
  readonly missing?: readonly string[];
  /** Pairs of neurons with fewer synapses are omitted by default; if absent, those with fewer than MIN_SYNAPSES. */
  readonly minimum_synapses?: number;
  /** Sign rules that work with its labels; the first is the default. None if a column must give the signs. */
  readonly signs: readonly TableSignRule[];
  readonly sign_source?: string;
  /** Published rates of the same network model, with their source; for npm run validate. */
  readonly published?: readonly {
    readonly name: string;
    /** Input in Hz by selector. */
    readonly rates_hz: Readonly<Record<string, number>>;
    /** Selector of the neurons; the number is their mean rate. */
    readonly reads: string;
    readonly published: number;
    readonly synapse_mv?: number;
    readonly source: string;
  }[];
  /** Stimuli and channels of version 1 that have no meaning here, even if their neurons exist. */
  readonly without?: readonly string[];
  /** Sentences for its users, added to the provenance. */
  readonly remarks?: readonly string[];
}

export const DEFAULT_DATASET = 'flywire-783';
const FOLDER = dataPath('datasets/');

/** The path of a file that is part of the program. */
export function dataPath(path: string): string {
  return fileURLToPath(new URL(`../../../data/${path}`, import.meta.url));
}

function readDescription(path: string): Dataset {
  return readChecked(path, 'TABLE_INVALID', dataPath('datasets.schema.json'));
}

export function datasetNames(): string[] {
  return readdirSync(FOLDER)
    .flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
    .sort();
}

/** @throws CodedError USAGE if there is no such data set */
export function readDataset(name: string = DEFAULT_DATASET): Dataset {
  const names = datasetNames();
  if (!names.includes(name)) {
    throw new CodedError('USAGE', `There is no data set ${name}; there are ${names.join(', ')}.`);
  }
  return readDescription(join(FOLDER, `${name}.json`));
}

/**
 * A laboratory's own network, as a data set with a table of neurons and a table of connections.
 * @param columns for each role, the table's name of the column, such as pre: body_pre
 * @throws CodedError USAGE for an unknown role
 */
export function ownTables(edges: string, neurons: string, columns: ReadonlyMap<string, string>): Dataset {
  const own = readDescription(dataPath('own-network.json'));
  const [table, connection] = [own.tables[0]!, own.connections[0]!];
  const known = new Set([...Object.keys(connection.columns), ...Object.keys(table.columns)]);
  const unknown = [...columns.keys()].filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const what = `--columns names ${unknown.join(', ')}; there are ${[...known].join(', ')}.`;
    throw new CodedError('USAGE', what);
  }
  const renamed = <T extends NeuronTable | ConnectionTable>(table: T, file: string): T => ({
    ...table,
    file,
    columns: Object.fromEntries(
      Object.entries(table.columns).map(([name, column]) => [name, columns.get(name) ?? column]),
    ),
    // A column that the user named must exist. `sign` may be in either table, so readTables looks for it.
    optional: table.optional?.filter((name) => name === 'sign' || !columns.has(name)),
  });
  return {
    ...own,
    tables: [renamed(table, neurons)],
    connections: [renamed(connection, edges)],
    signs: columns.has('sign') ? [] : own.signs,
  };
}

/**
 * The two files of the model of Shiu et al. 2024, as a data set.
 * @param connectivity Connectivity_783.parquet or a file with the same columns: all pairs, with synapses and signs
 * @param completeness Completeness_783.csv, whose first column has no name and lists the root ids
 * @param labels directory with the Codex tables of types, classes, sides and positions
 */
export function shiuFiles(connectivity: string, completeness: string, labels: string | undefined): Dataset {
  const dataset = readDescription(dataPath('shiu-2024.json'));
  const { tables: codex, values } = readDataset();
  const labelling = labels === undefined ? [] : codex.slice(1);
  return {
    ...dataset,
    tables: [
      { ...dataset.tables[0]!, file: completeness },
      ...labelling.map((table) => ({ ...table, file: join(labels!, table.file) })),
    ],
    connections: [{ ...dataset.connections[0]!, file: connectivity }],
    values,
  };
}

/** @throws CodedError USAGE if the data set has no such table of synapses */
export function connectionTable(
  { connections, name }: Dataset,
  synapses: string | undefined,
): ConnectionTable {
  const table = connections.find((each) => synapses === undefined || each.synapses === synapses);
  if (table !== undefined) return table;
  const known = connections.flatMap((each) => each.synapses ?? []);
  throw new CodedError(
    'USAGE',
    `${name} has ${known.length === 0 ? 'one table of synapses' : `the synapses ${known.join(', ')}`}, not ${synapses!}.`,
  );
}

/** The files to download for a model with this table of connections. */
export function filesOf({ files, connections }: Dataset, chosen: ConnectionTable): PublishedFile[] {
  const others = connections.filter((each) => each !== chosen).map(({ file }) => file);
  return files.filter(({ file }) => !others.includes(file) || file === chosen.file);
}
