/**
 * Writes and reads statistics as three files. statistics.json has sources and totals, groups.csv.gz a row for each group,
 * pairs.csv.gz a row for each pair of groups. data/cell-types/README.md explains the columns.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { constants, gzipSync } from 'node:zlib';
import type { SourceFile } from '../../engine/connectome/connectome.js';
import { CodedError, describeValue } from '../../engine/errors.js';
import { MIN_SYNAPSES } from '../compiler/brain.js';
import { readChecked } from '../../engine/platform.node.js';
import { csvField, readCsv } from '../compiler/csv.js';
import { dataPath } from '../compiler/dataset.js';
import { type Progress, silent } from '../compiler/progress.js';
import { sourceOf } from '../compiler/read-table.js';
import {
  type CellGroup,
  type CellTypeStatistics,
  GROUP_COLUMNS,
  type GroupPairs,
  newGroupPairs,
  PAIR_COLUMNS,
  totalsOf,
} from './statistics.js';

const MANIFEST_FILE = 'statistics.json';
const GROUPS_FILE = 'groups.csv.gz';
const PAIRS_FILE = 'pairs.csv.gz';

const GROUP_NAMES = Object.keys(GROUP_COLUMNS) as (keyof CellGroup)[];
/** The first two columns are differences from the previous row. */
const PAIR_NAMES = ['pre_step', 'post_step', ...PAIR_COLUMNS.slice(2)];

interface Manifest {
  readonly format: 1;
  readonly licence: string;
  readonly minimumSynapses: number;
  readonly totals: ReturnType<typeof totalsOf>;
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
    [PAIRS_FILE, gzipped([PAIR_NAMES, ...pairFields(statistics.pairs)])],
  ] as const;
  const manifest: Manifest = {
    format: 1,
    licence: LICENCE,
    minimumSynapses: MIN_SYNAPSES,
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
  return GROUP_NAMES.map((name) => [group[name]].flat().join(' '));
}

/** Stores differences between rows, and empty cells for 0, which halves the compressed size. */
function pairFields(pairs: GroupPairs): (string | number)[][] {
  return Array.from({ length: pairs.count }, (_, row) => {
    const preStep = pairs.pre[row]! - (row === 0 ? 0 : pairs.pre[row - 1]!);
    const continues = row > 0 && preStep === 0;
    const postStep = pairs.post[row]! - (continues ? pairs.post[row - 1]! : 0);
    const others = PAIR_COLUMNS.slice(2).map((name) => pairs[name][row]!);
    return [preStep, postStep, ...others].map((value) => value || '');
  });
}

/**
 * Reads statistics. The manifest has the digests of the files, so unchanged files need no further checks.
 * @throws CodedError STATISTICS_INVALID
 */
export async function readStatistics(dir: string, progress: Progress = silent): Promise<CellTypeStatistics> {
  for (const file of [MANIFEST_FILE, GROUPS_FILE, PAIRS_FILE]) {
    if (!existsSync(join(dir, file))) {
      throw invalid(`expected a file at ${join(dir, file)}, found none; npm run model:statistics makes it`);
    }
  }
  const schema = dataPath('statistics.schema.json');
  const manifest = readChecked<Manifest>(join(dir, MANIFEST_FILE), 'STATISTICS_INVALID', schema);
  if (manifest.minimumSynapses !== MIN_SYNAPSES) {
    throw invalid(
      `${MANIFEST_FILE}: expected statistics of pairs with ${MIN_SYNAPSES} synapses or more, ` +
        `found minimumSynapses ${manifest.minimumSynapses}`,
    );
  }
  const files = await Promise.all([GROUPS_FILE, PAIRS_FILE].map((file) => sourceOf(join(dir, file))));
  for (const { file, sha256 } of files) {
    const promised = manifest.files.find((each) => each.file === file)?.sha256;
    if (promised === sha256) continue;
    throw invalid(
      `${file} was altered: ${MANIFEST_FILE} gives the SHA-256 ${describeValue(promised, 80)}, it has ${sha256}`,
    );
  }
  const groups: CellGroup[] = [];
  await readCsv(join(dir, GROUPS_FILE), GROUP_NAMES, progress, (row) => {
    const members = GROUP_NAMES.map((name, column) => [name, GROUP_COLUMNS[name](row.text(column))]);
    groups.push(Object.fromEntries(members) as CellGroup);
  });
  const pairs = newGroupPairs(manifest.totals.pairs);
  let at = 0;
  await readCsv(join(dir, PAIRS_FILE), PAIR_NAMES, progress, (row) => {
    PAIR_COLUMNS.forEach((name, column) => (pairs[name][at] = Number(row.text(column))));
    // Add up the differences.
    if (at > 0 && pairs.pre[at] === 0) pairs.post[at]! += pairs.post[at - 1]!;
    if (at > 0) pairs.pre[at]! += pairs.pre[at - 1]!;
    at++;
  });
  return { groups, pairs, provenance: manifest.provenance, sources: [...files, ...manifest.sources] };
}

function invalid(what: string): CodedError {
  return new CodedError('STATISTICS_INVALID', `${what}.`);
}
