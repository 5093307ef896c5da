import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { describeWith, SHIU_DIR } from '../../../test/support/requirements.js';
import {
  type ShiuPair,
  type ShiuTable,
  shiuTable,
  writeShiuFiles,
} from '../../../test/support/shiu-files.js';
import { tableTexts, writeTables } from '../../../test/support/tables.js';
import { LABELS } from '../../engine/connectome/neuron-index.js';
import { CodedError } from '../../engine/errors.js';
import { type Brain, FLYWIRE_783, signsUnder } from './brain.js';
import { shiuFiles } from './dataset.js';
import { silent } from './progress.js';
import { readTables } from './tables.js';

/** The list is unordered, and a double cannot hold the ids exactly. */
const IDS = ['720575940604018209', '7', '720575940604018208', '100'];
const [HIGHEST, LOWEST, SECOND_HIGHEST, LOW] = IDS as [string, string, string, string];
const PAIRS: ShiuPair[] = [
  [HIGHEST, LOWEST, 5, -1],
  [LOW, HIGHEST, 8191, 1],
  [HIGHEST, HIGHEST, 6, -1],
  [LOWEST, SECOND_HIGHEST, 4, 1],
  [LOW, LOWEST, 1, 1],
];

function readShiuFiles(
  {
    connectivity,
    completeness,
    tables,
  }: { readonly connectivity: string; readonly completeness: string; readonly tables?: string },
  minimumSynapses?: number,
): Promise<Brain> {
  return readTables('', silent, minimumSynapses, undefined, shiuFiles(connectivity, completeness, tables));
}

async function read(change: (table: ShiuTable) => void = () => {}, minimumSynapses?: number) {
  const table = shiuTable(IDS, PAIRS);
  change(table);
  return readShiuFiles(writeShiuFiles(table), minimumSynapses);
}

describe('the files of Shiu et al.', () => {
  it('reads pairs and signs in the order of root ids, and knows nothing else of a neuron', async () => {
    const { neurons, connections, identity, minimumSynapses, transmitterCounts } = await read();
    expect({ identity, minimumSynapses, transmitterCounts }).toEqual({
      identity: FLYWIRE_783,
      minimumSynapses: 5,
    });
    expect(neurons.ids).toEqual([LOWEST, LOW, SECOND_HIGHEST, HIGHEST]);
    expect(Object.keys(neurons.signs)).toEqual(['as given']);
    expect([...signsUnder('as given', neurons)]).toEqual([1, 1, 1, -1]);
    expect([...connections.pre]).toEqual([1, 3, 3]);
    expect([...connections.post]).toEqual([3, 0, 3]);
    expect([...connections.synapseCounts]).toEqual([8191, 5, 6]);
    for (const label of LABELS) {
      expect(neurons.labels[label]).toEqual(['', '', '', '']);
    }
    expect([...neurons.positionEstimated]).toEqual([1, 1, 1, 1]);
  });

  it('keeps as many pairs as asked for, and says if the file was pruned before', async () => {
    const whole = await read(undefined, 1);
    expect([...whole.connections.pre]).toEqual([0, 1, 1, 3, 3]);
    expect([...whole.connections.synapseCounts]).toEqual([4, 1, 8191, 5, 6]);
    expect(whole.provenance.join(' ')).toContain(
      '5 rows summed to 5 pairs of neurons with 8207 synapses; 5 pairs with 1 or more were kept, with 8207 synapses.',
    );
    expect(whole.provenance.join(' ')).not.toContain('asked for');
    const pruned = readShiuFiles(writeShiuFiles(shiuTable(IDS, PAIRS.slice(0, 4))), 2);
    expect((await pruned).provenance).toContain(
      'Pairs with 2 synapses or more were asked for, but no pair of the tables has fewer than 4: weaker ones were removed earlier.',
    );
  });

  it('takes types, sides and positions of tables, for the neurons that they have', async () => {
    const tables = writeTables(
      tableTexts(
        [
          { id: LOW, type: 'A', superClass: 'sensory', side: 'right', positionNm: [1, 2, 3] },
          { id: '55', type: 'B', positionNm: [4, 5, 6] },
        ],
        [['55', '55', '', 5]],
      ),
    );
    const { neurons, sources, provenance } = await readShiuFiles({
      ...writeShiuFiles(shiuTable(IDS, PAIRS)),
      tables,
    });
    expect(neurons.labels.type).toEqual(['', 'A', '', '']);
    expect(neurons.labels.side).toEqual(['', 'right', '', '']);
    expect(neurons.labels.super_class).toEqual(['', 'sensory', '', '']);
    expect([...neurons.positionsNm.subarray(3, 6)]).toEqual([1, 2, 3]);
    expect(sources.map(({ file }) => file)).toEqual([
      ...['neurons.csv', 'classification.csv.gz', 'consolidated_cell_types.csv.gz', 'coordinates.csv.gz'],
      'pairs.parquet',
    ]);
    expect(provenance).toContain(
      'classification.csv.gz: 1 of 2 rows names a root id that neurons.csv lacks (first on line 3); it was left out.',
    );
  });

  it('says how many rows name a neuron that the list lacks', async () => {
    const { connections, provenance } = await read((table) => {
      table.columns['Presynaptic_ID']![1] = 101n;
    });
    expect(connections.count).toBe(2);
    expect(provenance).toContain(
      'pairs.parquet: 1 of 5 rows names a root id that neurons.csv lacks (first in row 1); it was left out.',
    );
  });

  it('reads columns of 32 bits as well', async () => {
    const { connections } = await read((table) => {
      table.types['Connectivity'] = 'INT32';
      table.columns['Connectivity'] = PAIRS.map(([, , synapses]) => synapses);
    });
    expect([...connections.synapseCounts]).toEqual([8191, 5, 6]);
  });
});

describe('a fault of the files', () => {
  const at = (column: string, row: number, value: unknown) => (table: ShiuTable) => {
    table.columns[column]![row] = value;
  };
  const pair = (row: number, ...changed: ShiuPair) => {
    const { columns } = shiuTable(IDS, [changed]);
    return (table: ShiuTable) =>
      Object.entries(columns).forEach(([name, [value]]) => (table.columns[name]![row] = value));
  };

  it.each<[string, (table: ShiuTable) => void, string]>([
    [
      'a neuron with both signs',
      pair(2, HIGHEST, HIGHEST, 6, 1),
      `pairs.parquet, row 2: expected Excitatory to be -1, as in an earlier row, since all outputs of neuron ${HIGHEST} have one sign, found "1".`,
    ],
    [
      'more synapses than a connectome file holds',
      pair(1, LOW, HIGHEST, 8192, 1),
      `pairs.parquet: expected at most 8191 synapses from 100 to ${HIGHEST}, found 8192.`,
    ],
    [
      'a pair without synapses',
      pair(4, LOW, LOWEST, 0, 1),
      'pairs.parquet, row 4: expected Connectivity to be a whole number from 1 to 999999999, found "0".',
    ],
    [
      'a value that is missing',
      at('Connectivity', 3, null),
      'pairs.parquet, row 3: expected Connectivity to be a whole number from 1 to 999999999, found "".',
    ],
    [
      'a column of another type',
      (table) => {
        table.types['Connectivity'] = 'DOUBLE';
        table.columns['Connectivity'] = PAIRS.map(([, , synapses]) => synapses + 0.5);
      },
      'pairs.parquet, row 0: expected Connectivity to be a whole number from 1 to 999999999, found "5.5": synapses are counts, not fractions.',
    ],
    [
      'a neuron twice',
      ({ lines }) => lines.push(lines[1]!),
      `neurons.csv, line 6: expected one row per neuron, found ${HIGHEST} a second time (first on line 2).`,
    ],
    [
      'a column of texts',
      (table) => {
        table.types['Presynaptic_ID'] = 'STRING';
        table.columns['Presynaptic_ID'] = PAIRS.map(() => 'DNp01');
      },
      'pairs.parquet, row 0: expected Presynaptic_ID to be an id of 1 to 20 digits, found "DNp01".',
    ],
    [
      'a column that is missing',
      ({ columns }) => delete columns['Excitatory'],
      'pairs.parquet: expected a column Excitatory, found the columns "Presynaptic_ID,Postsynaptic_ID,' +
        'Presynaptic_Index,Postsynaptic_Index,Connectivity,Excitatory x Connectivity".',
    ],
    [
      'another list',
      ({ lines }) => (lines[0] = 'root_id,side'),
      'neurons.csv, line 1: expected a column without a name, found the columns "root_id,side".',
    ],
  ])('%s', async (_, change, message) => {
    const error = await read(change).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CodedError);
    expect(error).toMatchObject({ code: 'TABLE_INVALID', message });
  });

  it('a file that is missing, of another kind, cut short or damaged', async () => {
    const files = writeShiuFiles(shiuTable(IDS, PAIRS));
    const refused = (connectivity: string, message: RegExp) =>
      expect(readShiuFiles({ ...files, connectivity })).rejects.toMatchObject({
        code: 'TABLE_INVALID',
        message: expect.stringMatching(message),
      });
    await refused(
      '/nowhere/x.parquet',
      /^x\.parquet: expected a file at \/nowhere\/x\.parquet, found none\.$/,
    );
    const other = files.completeness.replace('.csv', '.parquet');
    writeFileSync(other, readFileSync(files.completeness));
    await refused(
      other,
      /^neurons\.parquet: expected a Parquet file, found another format or a truncated file/,
    );
    const bytes = readFileSync(files.connectivity);
    writeFileSync(files.connectivity, bytes.fill(0xff, 4, 300));
    await refused(files.connectivity, /^pairs\.parquet, row \d: .*the file is damaged/);
    truncateSync(files.connectivity, bytes.length - 9);
    await refused(files.connectivity, /^pairs\.parquet: expected a Parquet file/);
    await expect(readShiuFiles({ ...files, completeness: '/nowhere/x.csv' })).rejects.toMatchObject({
      message: 'x.csv: expected a file at /nowhere/x.csv, found none.',
    });
  });
});

describeWith(['shiu'], 'the subset of the published file', () => {
  const files = {
    connectivity: join(SHIU_DIR, 'connectivity.parquet'),
    completeness: join(SHIU_DIR, 'completeness.csv'),
  };

  it('has the pairs that its rows have', async () => {
    const { neurons, connections } = await readShiuFiles(files, 1);
    expect([neurons.count, connections.count]).toEqual([544, 29_382]);
    const signs = signsUnder('as given', neurons);
    const ours = Array.from(
      connections.pre,
      (pre, k) =>
        `${neurons.ids[pre]} ${neurons.ids[connections.post[k]!]} ${signs[pre]! * connections.synapseCounts[k]!}`,
    );
    const rows = await parquetReadObjects({
      file: await asyncBufferFromFile(files.connectivity),
      compressors,
    });
    const theirs = rows.map(
      (row) => `${row['Presynaptic_ID']} ${row['Postsynaptic_ID']} ${row['Excitatory x Connectivity']}`,
    );
    expect(ours.sort()).toEqual(theirs.sort());
  });

  it('keeps the pairs of 5 synapses or more by default', async () => {
    expect((await readShiuFiles(files)).connections.count).toBe(9503);
  });
});
