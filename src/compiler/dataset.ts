/**
 * The data sets that the service knows, one small file each in data/datasets: what to fetch, which column is what, what
 * values are called there, whom to cite. No code but that of FlyWire names one of them; a new data set is a new file.
 */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readChecked } from '../connectome/checked-json.js';
import type {
  ConnectomeMetadata,
  NetworkIdentity,
  SourceFile,
  TableSignRule,
} from '../connectome/connectome.js';
import { LABELS } from '../connectome/neuron-index.js';
import { CodedError } from '../errors.js';

/** Facts that a table may tell of a neuron. */
export const LABEL_COLUMNS = [...LABELS, 'transmitter', 'sign', 'preset_type'] as const;
export type LabelColumn = (typeof LABEL_COLUMNS)[number];
export type NeuronColumn = LabelColumn | 'id' | 'position' | 'x' | 'y' | 'z';

/** A table with rows of neurons; the first of a data set lists them all. */
export interface NeuronTable {
  readonly file: string;
  /** The first of several columns that has a value counts. */
  readonly columns: { readonly [Column in NeuronColumn]?: string | readonly string[] };
  /** Columns that the table may lack. */
  readonly optional?: readonly string[];
  /** Which rows are neurons: any of these, each with all its columns; `*` stands for any value. */
  readonly where?: readonly Readonly<Record<string, readonly string[]>>[];
  /** Where no transmitter is named: columns of which the largest names it, the first of equal ones. */
  readonly largest?: Readonly<Record<string, string>>;
  /** A neuron may have several rows, of which the first gives its position. */
  readonly several?: boolean;
  /** Not part of the release: read where it lies beside the tables, for neurons without a measured position. */
  readonly estimated?: boolean;
  /** Size of a voxel, where positions are not in nm. */
  readonly voxel_nm?: readonly [number, number, number];
}

/** A table with rows of connected pairs of neurons. */
export interface ConnectionTable {
  readonly file: string;
  /** Distinguishes several tables of one data set by how their synapses were found; the first is its own. */
  readonly synapses?: string;
  readonly title?: string;
  readonly columns: Readonly<Record<'pre' | 'post' | 'weight', string>> & {
    readonly part?: string;
    readonly sign?: string;
  };
  readonly optional?: readonly string[];
  /** Pairs of neurons with at least `minimum` synapses in the published table. */
  readonly pairs?: { readonly count: number; readonly minimum: number };
  readonly citations?: ConnectomeMetadata['citations'];
  /** Why the gain that was fitted to FlyWire does not fit this table. */
  readonly gain?: string;
}

export interface PublishedFile extends Partial<SourceFile> {
  readonly file: string;
  readonly bytes: number;
  /** Command that makes tables of it. */
  readonly unpack?: string;
}

export interface Dataset extends Omit<NetworkIdentity, 'wiring'> {
  /** Sentence on the origin of a model of this data set. */
  readonly provenance: string;
  /** Phrase on the tables of another network that has the same columns. */
  readonly layout: string;
  /** Members of the metadata, where the data set is not the one that the service knows by itself. */
  readonly licence?: ConnectomeMetadata['licence'];
  readonly citations?: ConnectomeMetadata['citations'];
  /** Licence and citations for those who fetch the files. */
  readonly notice: string;
  readonly base_url: string;
  readonly files: readonly PublishedFile[];
  readonly neuron_count?: number;
  readonly tables: readonly NeuronTable[];
  readonly connections: readonly ConnectionTable[];
  /** Names that the service has for the values of a label, by those of the data set. */
  readonly values: { readonly [Label in LabelColumn]?: Readonly<Record<string, string>> };
  /** Sign rules that fit its labels, the default first. */
  readonly signs: readonly TableSignRule[];
  readonly sign_source?: string;
  /** Rates that others found with the same network model, and where they stand; for npm run validate. */
  readonly published?: readonly {
    readonly name: string;
    /** Input in Hz by selector. */
    readonly rates_hz: Readonly<Record<string, number>>;
    /** Selector of the neurons whose mean rate it is. */
    readonly reads: string;
    readonly published: number;
    readonly synapse_mv?: number;
    readonly source: string;
  }[];
  /** Stimuli and channels of version 1 that have no meaning here, though their neurons may exist. */
  readonly without?: readonly string[];
  /** Sentences for those who use it. */
  readonly remarks?: readonly string[];
}

export const DEFAULT_DATASET = 'flywire-783';
const FOLDER = dataPath('datasets/');

function dataPath(path: string): string {
  return fileURLToPath(new URL(`../../data/${path}`, import.meta.url));
}

function readLayout(path: string): Dataset {
  return readChecked(path, 'TABLE_INVALID', dataPath('datasets.schema.json'));
}

export function datasetNames(): string[] {
  return readdirSync(FOLDER)
    .flatMap((file) => /^(.+)\.json$/.exec(file)?.[1] ?? [])
    .sort();
}

/** @throws CodedError USAGE for a name that no file has */
export function readDataset(name: string = DEFAULT_DATASET): Dataset {
  const names = datasetNames();
  if (!names.includes(name)) {
    throw new CodedError('USAGE', `There is no data set ${name}; there are ${names.join(', ')}.`);
  }
  return readLayout(join(FOLDER, `${name}.json`));
}

/**
 * A network that a laboratory made itself, as a data set: a table of neurons and one of connections.
 * @param columns names of columns by what they are called here, such as pre: body_pre
 * @throws CodedError USAGE for a name that no column is called here
 */
export function ownTables(edges: string, neurons: string, columns: ReadonlyMap<string, string>): Dataset {
  const own = readLayout(dataPath('own-network.json'));
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
    // A column that was named has to be there; a sign may stand in either table.
    optional: table.optional?.filter((name) => name === 'sign' || !columns.has(name)),
  });
  return { ...own, tables: [renamed(table, neurons)], connections: [renamed(connection, edges)] };
}

/**
 * The two files from which Shiu et al. 2024 built their model, as a data set.
 * @param connectivity Connectivity_783.parquet, or a file of its form: all pairs of neurons with synapses and signs
 * @param completeness Completeness_783.csv, whose first column, which has no name, lists the root ids
 * @param labels directory with the tables of Codex that have types, classes, sides and positions
 */
export function shiuFiles(connectivity: string, completeness: string, labels: string | undefined): Dataset {
  const dataset = readLayout(dataPath('shiu-2024.json'));
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

/** @throws CodedError USAGE for synapses that the data set does not have */
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

/** The files that a model with these connections is compiled from, and that are fetched. */
export function filesOf({ files, connections }: Dataset, chosen: ConnectionTable): PublishedFile[] {
  const others = connections.filter((each) => each !== chosen).map(({ file }) => file);
  return files.filter(({ file }) => !others.includes(file) || file === chosen.file);
}
