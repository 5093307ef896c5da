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

const PERCENT = { digits: 7, pattern: /^\d{1,7}$/ };
/** A mean and the spread in three directions, times at most BALL_RADIUS, add up to a position in nm of 32 bits. */
const MEAN_UM = { digits: 6, pattern: /^\d{1,6}$/ };
const SPREAD_UM = { digits: 5, pattern: /^-?\d{1,5}$/ };

const GROUP_COLUMNS = [
  'type',
  'side',
  'super_class',
  'class',
  'sub_class',
  'cells',
  'predicted_sign',
  'corrected_sign',
  'self_connections',
  'self_synapses',
  'output_percent',
  'input_percent',
  'position_um',
  'position_spread_um',
] as const;

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
    [GROUPS_FILE, gzipped([GROUP_COLUMNS, ...statistics.groups.map(groupFields)])],
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

function groupFields(group: CellGroup): (string | number)[] {
  return [
    group.type,
    group.side,
    group.superClass,
    group.class,
    group.subClass,
    group.cells,
    group.predictedSign,
    group.correctedSign,
    group.selfConnections,
    group.selfSynapses,
    group.outputPercent.join(' '),
    group.inputPercent.join(' '),
    group.meanPositionUm.join(' '),
    group.positionSpreadUm.join(' '),
  ];
}

/** Differences between rows, and an empty cell for 0: this halves the compressed size. */
function pairFields(pairs: GroupPairs): (string | number)[][] {
  const orNothing = (value: number): number | string => (value === 0 ? '' : value);
  return Array.from({ length: pairs.count }, (_, row) => {
    const preStep = pairs.pre[row]! - (row === 0 ? 0 : pairs.pre[row - 1]!);
    const continues = row > 0 && preStep === 0;
    return [
      orNothing(preStep),
      orNothing(pairs.post[row]! - (continues ? pairs.post[row - 1]! : 0)),
      pairs.connections[row]!,
      orNothing(pairs.excessSynapses[row]!),
      orNothing(pairs.missingPre[row]!),
      orNothing(pairs.missingPost[row]!),
      orNothing(pairs.spread[row]!),
    ];
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
    const groupsFile = await readCsv(join(dir, GROUPS_FILE), GROUP_COLUMNS, progress, (row) =>
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
  const cells = row.count(5);
  const group: CellGroup = {
    type: row.text(0),
    side: row.text(1),
    superClass: row.text(2),
    class: row.text(3),
    subClass: row.text(4),
    cells,
    predictedSign: signIn(row, 6),
    correctedSign: signIn(row, 7),
    selfConnections: row.countOrNone(8),
    selfSynapses: row.countOrNone(9),
    outputPercent: numbersIn(row, 10, strataOf(cells), PERCENT),
    inputPercent: numbersIn(row, 11, strataOf(cells), PERCENT),
    meanPositionUm: numbersIn(row, 12, 3, MEAN_UM),
    positionSpreadUm: numbersIn(row, 13, cells === 1 ? 0 : SPREAD_NUMBERS, SPREAD_UM),
  };
  if (!(SIDES as readonly string[]).includes(group.side)) {
    throw row.fault(1, 'left, right, center or empty');
  }
  if (group.selfConnections > cells) {
    throw row.fault(8, `at most the ${cells} cells of the group`);
  }
  const excess = group.selfSynapses - MINIMUM_SYNAPSES * group.selfConnections;
  if (excess < 0 || excess > MAXIMUM_EXCESS * group.selfConnections) {
    throw row.fault(9, `${MINIMUM_SYNAPSES} synapses or more for each connection, as many as fit`);
  }
  return group;
}

function signIn(row: CsvRow, column: number): number {
  const text = row.text(column);
  if (text !== '1' && text !== '-1') {
    throw row.fault(column, '1 or -1');
  }
  return Number(text);
}

function numbersIn(row: CsvRow, column: number, count: number, form: typeof PERCENT): number[] {
  const text = row.text(column);
  const parts = text === '' ? [] : text.split(' ');
  if (parts.length !== count || parts.some((part) => !form.pattern.test(part))) {
    throw row.fault(
      column,
      count === 0
        ? 'nothing'
        : `${count} whole numbers of at most ${form.digits} digits with blanks between them`,
    );
  }
  return parts.map(Number);
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
    const spread = row.countOrNone(6);
    const places = pre === post ? pre.cells * (pre.cells - 1) : pre.cells * post.cells;
    if (connections > places) {
      throw row.fault(2, `at most the ${places} pairs of different cells that there are`);
    }
    if (excess > MAXIMUM_EXCESS * connections) {
      throw row.fault(3, `at most ${MAXIMUM_EXCESS} for each of ${connections} connections`);
    }
    const preCells = Math.min(pre.cells, connections) - row.countOrNone(4);
    const postCells = Math.min(post.cells, connections) - row.countOrNone(5);
    // Within a group, a cell is not its own partner: connections of a cell to itself are not part of any pair.
    const room = (sources: number, targets: number): number =>
      pre === post && Math.min(sources, targets) === 1
        ? Math.min(sources * targets, pre.cells - 1)
        : sources * targets;
    if (preCells < 1 || room(preCells, Math.min(post.cells, connections)) < connections) {
      throw row.fault(4, `so few that the other cells have room for ${connections} connections`);
    }
    if (postCells < 1 || room(preCells, postCells) < connections) {
      throw row.fault(5, `so few that the other cells have room for ${connections} connections`);
    }
    if (spread >= SYNAPSE_SPREADS.length) {
      throw row.fault(6, `a number below ${SYNAPSE_SPREADS.length}, or empty`);
    }
    const at = this.#count++;
    this.#pairs.pre[at] = this.#pre;
    this.#pairs.post[at] = this.#post;
    this.#pairs.connections[at] = connections;
    this.#pairs.excessSynapses[at] = excess;
    this.#pairs.missingPre[at] = row.countOrNone(4);
    this.#pairs.missingPost[at] = row.countOrNone(5);
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
