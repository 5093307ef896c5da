/**
 * Statistics as files: statistics.json with sources and totals, groups.csv.gz with a row for each group, and
 * pairs.csv.gz with a row for each pair of groups. data/cell-types/README.md explains the columns.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { constants, gzipSync } from 'node:zlib';
import { MAXIMUM_NEURONS, type SourceFile, SIDES } from '../../connectome/connectome.js';
import { CodedError, describeValue } from '../../errors.js';
import { MINIMUM_SYNAPSES } from '../brain.js';
import { readChecked } from '../../connectome/checked-json.js';
import { csvField, type CsvRow, readCsv } from '../csv.js';
import { type Progress, silent } from '../progress.js';
import {
  type CellGroup,
  type CellTypeStatistics,
  type StatisticsTotals,
  type GroupPairs,
  newGroupPairs,
  strataOf,
  SYNAPSE_SPREADS,
  totalsOf,
} from './statistics.js';
import { SPREAD_NUMBERS } from './cell-positions.js';
import { MAXIMUM_EXCESS } from './synapse-spread.js';

const MANIFEST_FILE = 'statistics.json';
const MANIFEST_SCHEMA_FILE = fileURLToPath(new URL('../../../data/statistics.schema.json', import.meta.url));
const GROUPS_FILE = 'groups.csv.gz';
const PAIRS_FILE = 'pairs.csv.gz';

/** @returns the value of a column of a group with so many cells */
type Read = (row: CsvRow, column: number, cells: number) => string | number | readonly number[];

const text: Read = (row, column) => row.text(column);
const count: Read = (row, column) => row.count(column);
const countOrNone: Read = (row, column) => row.countOrNone(column);
const oneOf =
  (values: readonly string[], expected: string): Read =>
  (row, column) => {
    const found = row.text(column);
    if (!values.includes(found)) throw row.fault(column, expected);
    return found;
  };
const signText = oneOf(['1', '-1'], '1 or -1');
const sign: Read = (row, column, cells) => Number(signText(row, column, cells));
function numbers(lengthOf: (cells: number) => number, digits: number, minus = ''): Read {
  const form = new RegExp(`^${minus}\\d{1,${digits}}$`);
  return (row, column, cells) => {
    const length = lengthOf(cells);
    const parts = row
      .text(column)
      .split(' ')
      .filter((part, _, all) => all.length > 1 || part !== '');
    if (parts.length === length && parts.every((part) => form.test(part))) return parts.map(Number);
    const expected = `${length} whole numbers of at most ${digits} digits with blanks between them`;
    throw row.fault(column, length === 0 ? 'nothing' : expected);
  };
}

/** The columns of groups.csv: name, member of a group, and how it is read; numbers of a list stand between blanks. */
const GROUP_COLUMNS: readonly (readonly [string, keyof CellGroup, Read])[] = [
  ['type', 'type', text],
  ['side', 'side', oneOf(SIDES, 'left, right, center or empty')],
  ['super_class', 'superClass', text],
  ['class', 'class', text],
  ['sub_class', 'subClass', text],
  ['cells', 'cells', count],
  ['predicted_sign', 'predictedSign', sign],
  ['corrected_sign', 'correctedSign', sign],
  ['self_connections', 'selfConnections', countOrNone],
  ['self_synapses', 'selfSynapses', countOrNone],
  ['output_percent', 'outputPercent', numbers(strataOf, 7)],
  ['input_percent', 'inputPercent', numbers(strataOf, 7)],
  // A mean and the spread in three directions, times at most BALL_RADIUS, add up to a position in nm of 32 bits.
  ['position_um', 'meanPositionUm', numbers(() => 3, 6)],
  ['position_spread_um', 'positionSpreadUm', numbers((cells) => (cells === 1 ? 0 : SPREAD_NUMBERS), 5, '-?')],
];
const GROUP_NAMES = GROUP_COLUMNS.map(([name]) => name);

const PAIR_COLUMNS = [
  'pre_step',
  'post_step',
  'connections',
  'excess_synapses',
  'missing_pre',
  'missing_post',
  'spread',
] as const;

interface Manifest {
  readonly format: 1;
  readonly licence: string;
  readonly minimumSynapses: number;
  readonly totals: StatisticsTotals;
  readonly files: readonly SourceFile[];
  readonly provenance: readonly string[];
  readonly sources: readonly SourceFile[];
}

const LICENCE =
  'Derived from FlyWire data, CC BY-NC 4.0; cite Dorkenwald et al. 2024 (doi:10.1038/s41586-024-07558-y), ' +
  'Schlegel et al. 2024 (doi:10.1038/s41586-024-07686-5) and, for transmitters, Eckstein, Bates et al. 2024 ' +
  '(doi:10.1016/j.cell.2024.03.016).';

/** @returns the content of each file of a directory with statistics, by name */
export function encodeStatistics(statistics: CellTypeStatistics): ReadonlyMap<string, Uint8Array> {
  const tables = [
    [GROUPS_FILE, gzipped([GROUP_NAMES, ...statistics.groups.map(groupFields)])],
    [PAIRS_FILE, gzipped([PAIR_COLUMNS, ...pairFields(statistics.pairs)])],
  ] as const;
  const manifest: Manifest = {
    format: 1,
    licence: LICENCE,
    minimumSynapses: MINIMUM_SYNAPSES,
    totals: totalsOf(statistics),
    files: tables.map(([file, content]) => ({
      file,
      sha256: createHash('sha256').update(content).digest('hex'),
    })),
    provenance: statistics.provenance,
    sources: statistics.sources,
  };
  return new Map<string, Uint8Array>([
    ...tables,
    [MANIFEST_FILE, Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`)],
  ]);
}

function gzipped(rows: readonly (readonly (string | number)[])[]): Uint8Array {
  const text = rows.map((row) => `${row.map(csvField).join(',')}\n`).join('');
  return gzipSync(text, { level: constants.Z_BEST_COMPRESSION });
}

function groupFields(group: CellGroup): string[] {
  return GROUP_COLUMNS.map(([, member]) => [group[member]].flat().join(' '));
}

/** Differences between rows, and an empty cell for 0: this halves the compressed size. */
function pairFields(pairs: GroupPairs): (string | number)[][] {
  return Array.from({ length: pairs.count }, (_, row) => {
    const preStep = pairs.pre[row]! - (row === 0 ? 0 : pairs.pre[row - 1]!);
    const continues = row > 0 && preStep === 0;
    return [
      preStep,
      pairs.post[row]! - (continues ? pairs.post[row - 1]! : 0),
      pairs.connections[row]!,
      pairs.excessSynapses[row]!,
      pairs.missingPre[row]!,
      pairs.missingPost[row]!,
      pairs.spread[row]!,
    ].map((value) => value || '');
  });
}

/**
 * Reads statistics and checks that they are complete and unchanged, and that a brain can be sampled from them.
 * @throws CodedError STATISTICS_INVALID with file, line, what was expected and what was found
 */
export async function readStatistics(dir: string, progress: Progress = silent): Promise<CellTypeStatistics> {
  for (const file of [MANIFEST_FILE, GROUPS_FILE, PAIRS_FILE]) {
    if (!existsSync(join(dir, file))) {
      throw invalid(`expected a file at ${join(dir, file)}, found none; npm run model:statistics makes it`);
    }
  }
  const manifest = readChecked<Manifest>(
    join(dir, MANIFEST_FILE),
    'STATISTICS_INVALID',
    MANIFEST_SCHEMA_FILE,
  );
  if (manifest.minimumSynapses !== MINIMUM_SYNAPSES) {
    throw invalid(
      `${MANIFEST_FILE}: expected statistics of pairs with ${MINIMUM_SYNAPSES} synapses or more, ` +
        `found minimumSynapses ${manifest.minimumSynapses}`,
    );
  }
  try {
    const groups: CellGroup[] = [];
    const groupsFile = await readCsv(join(dir, GROUPS_FILE), GROUP_NAMES, progress, (row) =>
      groups.push(groupIn(row)),
    );
    const rows = new PairRows(groups, manifest.totals.pairs);
    const pairsFile = await readCsv(join(dir, PAIRS_FILE), PAIR_COLUMNS, progress, (row) => rows.add(row));
    const files = [groupsFile, pairsFile];
    const pairs = rows.end();
    checkTotals(manifest.totals, totalsOf({ groups, pairs }));
    checkDigests(manifest.files, files);
    return { groups, pairs, provenance: manifest.provenance, sources: [...files, ...manifest.sources] };
  } catch (error) {
    // The CSV reader reports errors of tables; these are statistics.
    throw error instanceof CodedError ? new CodedError('STATISTICS_INVALID', error.message) : error;
  }
}

function groupIn(row: CsvRow): CellGroup {
  const cells = row.count(GROUP_NAMES.indexOf('cells'));
  const members = GROUP_COLUMNS.map(([, member, read], column) => [member, read(row, column, cells)]);
  const group = Object.fromEntries(members) as CellGroup;
  const fault = (name: string, expected: string) => row.fault(GROUP_NAMES.indexOf(name), expected);
  if (group.selfConnections > cells) {
    throw fault('self_connections', `at most the ${cells} cells of the group`);
  }
  const excess = group.selfSynapses - MINIMUM_SYNAPSES * group.selfConnections;
  if (excess < 0 || excess > MAXIMUM_EXCESS * group.selfConnections) {
    throw fault('self_synapses', `${MINIMUM_SYNAPSES} synapses or more for each connection, as many as fit`);
  }
  return group;
}

/** Reads the rows of pairs.csv and converts differences back to groups. */
class PairRows {
  readonly #pairs: GroupPairs;
  #count = 0;
  #pre = 0;
  #post = 0;

  constructor(
    readonly groups: readonly CellGroup[],
    readonly expected: number,
  ) {
    this.#pairs = newGroupPairs(expected);
  }

  add(row: CsvRow): void {
    const preStep = row.countOrNone(0);
    const postStep = row.countOrNone(1);
    const continues = this.#count > 0 && preStep === 0;
    this.#pre += preStep;
    this.#post = (continues ? this.#post : 0) + postStep;
    const pre = this.groups[this.#pre];
    const post = this.groups[this.#post];
    if (pre === undefined) {
      throw row.fault(0, `steps to one of ${this.groups.length} groups, but it leads to ${this.#pre}`);
    }
    if (post === undefined || (continues && postStep === 0)) {
      throw row.fault(
        1,
        `steps to a later one of ${this.groups.length} groups, but it leads to ${this.#post}`,
      );
    }
    if (this.#count === this.expected) {
      throw row.fault(2, `absent, as ${MANIFEST_FILE} gives ${this.expected} rows`);
    }
    const connections = row.count(2);
    const excess = row.countOrNone(3);
    const missingPre = row.countOrNone(4);
    const missingPost = row.countOrNone(5);
    const spread = row.countOrNone(6);
    const places = pre === post ? pre.cells * (pre.cells - 1) : pre.cells * post.cells;
    if (connections > places) {
      throw row.fault(2, `at most the ${places} pairs of different cells that there are`);
    }
    if (excess > MAXIMUM_EXCESS * connections) {
      throw row.fault(3, `at most ${MAXIMUM_EXCESS} for each of ${connections} connections`);
    }
    const preCells = Math.min(pre.cells, connections) - missingPre;
    const postCells = Math.min(post.cells, connections) - missingPost;
    // Within a group, a cell is not its own partner: connections of a cell to itself are not part of any pair.
    const room = (sources: number, targets: number): number =>
      pre === post && Math.min(sources, targets) === 1
        ? Math.min(sources * targets, pre.cells - 1)
        : sources * targets;
    const hasRoom = (targets: number) => room(preCells, targets) >= connections;
    const fewer = `so few that the other cells have room for ${connections} connections`;
    if (preCells < 1 || !hasRoom(Math.min(post.cells, connections))) throw row.fault(4, fewer);
    if (postCells < 1 || !hasRoom(postCells)) throw row.fault(5, fewer);
    if (spread >= SYNAPSE_SPREADS.length) {
      throw row.fault(6, `a number below ${SYNAPSE_SPREADS.length}, or empty`);
    }
    const at = this.#count++;
    this.#pairs.pre[at] = this.#pre;
    this.#pairs.post[at] = this.#post;
    this.#pairs.connections[at] = connections;
    this.#pairs.excessSynapses[at] = excess;
    this.#pairs.missingPre[at] = missingPre;
    this.#pairs.missingPost[at] = missingPost;
    this.#pairs.spread[at] = spread;
  }

  end(): GroupPairs {
    if (this.#count < this.expected) {
      throw invalid(`${PAIRS_FILE}: expected ${this.expected} rows, found ${this.#count}`);
    }
    return this.#pairs;
  }
}

function checkTotals(expected: StatisticsTotals, found: StatisticsTotals): void {
  for (const name of ['groups', 'pairs', 'neurons', 'connections', 'synapses'] as const) {
    if (found[name] !== expected[name]) {
      throw invalid(
        `${MANIFEST_FILE} gives ${expected[name]} ${name}, the tables beside it have ${found[name]}`,
      );
    }
  }
  if (found.neurons > MAXIMUM_NEURONS) {
    throw invalid(`${GROUPS_FILE}: expected at most ${MAXIMUM_NEURONS} cells, found ${found.neurons}`);
  }
}

function checkDigests(expected: readonly SourceFile[], found: readonly SourceFile[]): void {
  for (const { file, sha256 } of found) {
    const promised = expected.find((each) => each.file === file)?.sha256;
    if (promised !== sha256) {
      throw invalid(
        `${file} was altered: ${MANIFEST_FILE} gives the SHA-256 ${describeValue(promised, 80)}, it has ${sha256}`,
      );
    }
  }
}

function invalid(what: string): CodedError {
  return new CodedError('STATISTICS_INVALID', `${what}.`);
}
