import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Int64, Utf8, Int8 } from 'apache-arrow';
import { writeFeather } from '../../../test/support/feather.js';
import {
  columnsOf,
  type MaleBody,
  MALECNS_FILES,
  writeBanc,
  writeMaleCns,
} from '../../../test/support/other-flies.js';
import { parquetWriteBuffer } from 'hyparquet-writer';
import type { Brain } from './brain.js';
import { datasetNames, filesOf, ownTables, readDataset } from './dataset.js';
import { buildConnectome } from './build-connectome.js';
import { defaultPopulations } from './populations.js';
import { silent } from './progress.js';
import { readTables } from './tables.js';

const read = (name: string, dir: string, minimumSynapses = 1): Promise<Brain> =>
  readTables(dir, silent, minimumSynapses, undefined, readDataset(name));
/** Connections by id, as a table would have them. */
function pairsOf({ neurons: { ids }, connections: { pre, post, synapseCounts, count } }: Brain) {
  return Array.from({ length: count }, (_, k) => [ids[pre[k]!], ids[post[k]!], synapseCounts[k]]);
}

describe('the files of data sets', () => {
  it.each(datasetNames())('%s names the origin of each of its tables', (name) => {
    const { files, tables, connections, base_url: baseUrl } = readDataset(name);
    expect(baseUrl).toMatch(/^https:\/\/storage\.googleapis\.com\//);
    const listed = files.map(({ file }) => file);
    for (const { file } of [...tables.filter((each) => each.estimated !== true), ...connections]) {
      const folder = file.split('/')[0]!;
      expect(listed.some((each) => each === file || each === `${folder}.tar.gz`)).toBe(true);
    }
  });

  it('fetches the connections that are asked for, and no others', () => {
    const dataset = readDataset('flywire-783');
    const [buhmann, princeton] = dataset.connections;
    const names = (table: typeof buhmann) => filesOf(dataset, table!).map(({ file }) => file);
    expect(names(buhmann)).toContain('connections.csv.gz');
    expect(names(buhmann)).not.toContain('connections_princeton.csv.gz');
    expect(names(princeton)).toContain('connections_princeton.csv.gz');
    expect(names(princeton)).not.toContain('connections.csv.gz');
  });

  it('names those that there are if another one is asked for', () => {
    expect(() => readDataset('malecns')).toThrow(
      'There is no data set malecns; there are banc-888, flywire-783, hemibrain-1.2, malecns-1.0, manc-1.2.1.',
    );
  });
});

describe('MaleCNS', () => {
  const BODIES: MaleBody[] = [
    {
      bodyId: 10_001,
      status: 'Traced',
      superclass: 'descending_neuron',
      type: 'DNp01',
      somaSide: 'R',
      transmitter: 'acetylcholine',
      somaLocation: [37_124, 22_258, 36_274],
      flywireType: 'DNp01',
    },
    {
      bodyId: 10_006,
      superclass: 'visual_projection',
      type: 'VS',
      somaSide: 'L',
      transmitter: 'gaba',
      somaLocation: [1, 2, 3],
      flywireType: 'VS1,VS2',
    },
    {
      bodyId: 20_000,
      superclass: 'cb_sensory',
      class: 'gustatory',
      type: 'LB3a',
      rootSide: 'unknown',
      transmitter: 'histamine',
    },
    { bodyId: 20_001, superclass: 'vnc_motor', type: 'MNx', somaSide: 'M', transmitter: 'dopamine' },
    { bodyId: 20_002, superclass: 'cb_intrinsic', transmitter: 'unclear' },
    { bodyId: 20_003, superclass: 'cb_intrinsic', rootSide: 'R' },
    { bodyId: 30_000, status: 'Glia', type: 'glia' },
  ];
  const WEIGHTS = [
    [10_001, 20_001, 7],
    [20_000, 10_001, 2],
    [999, 10_001, 50],
    [10_001, 30_000, 3],
    [30_000, 1_571_825_087, 1],
    [20_002, 10_006, 1],
  ] as const;

  it('reads annotations, transmitters and weights in whatever batches they come', async () => {
    for (const rowsPerBatch of [2, 400]) {
      const brain = await read('malecns-1.0', writeMaleCns(BODIES, WEIGHTS, rowsPerBatch));
      const { neurons, provenance } = brain;
      expect(neurons.ids).toEqual(['10001', '10006', '20000', '20001', '20002', '20003']);
      expect(neurons.labels.type).toEqual(['DNp01', 'VS', 'LB3a', 'MNx', '', '']);
      expect(neurons.labels.super_class).toEqual([
        'descending',
        'visual_projection',
        'sensory',
        'motor',
        'central',
        'central',
      ]);
      expect(neurons.labels.class).toEqual([
        'descending_neuron',
        'visual_projection',
        'gustatory',
        'vnc_motor',
        'cb_intrinsic',
        'cb_intrinsic',
      ]);
      expect(neurons.labels.side).toEqual(['right', 'left', '', 'center', '', 'right']);
      expect([...neurons.positionsNm.subarray(0, 6)]).toEqual([296_992, 178_064, 290_192, 8, 16, 24]);
      expect([...neurons.positionEstimated]).toEqual([0, 0, 1, 1, 1, 1]);
      expect([...neurons.signs.fast!]).toEqual([1, -1, -1, 0, 0, 0]);
      expect([...neurons.signs.predicted!]).toEqual([1, -1, -1, 1, 1, 1]);
      expect(pairsOf(brain)).toEqual([
        ['10001', '20001', 7],
        ['20000', '10001', 2],
        ['20002', '10006', 1],
      ]);
      expect(brain.identity).toEqual({
        name: 'MaleCNS 1.0, measured wiring',
        dataset: 'MaleCNS',
        release: '1.0',
        wiring: 'measured',
      });
      expect(brain.transmitterCounts).toMatchObject({ ACH: 1, GABA: 1, HIST: 1, DA: 1, unknown: 2 });
      expect(provenance).toContain(`${MALECNS_FILES.annotations}: 6 of 7 rows are neurons; 1 are not.`);
      expect(provenance).toContain(
        `${MALECNS_FILES.weights}: 3 of 6 rows name a root id that ${MALECNS_FILES.annotations} lacks (first in row 2); they were left out.`,
      );
      expect(brain.signRemarks!.fast).toContain(
        'all others have no fast effect: 3 (1 by consensus_nt, 2 without)',
      );
    }
  });

  it('takes the transmitters as the documents abbreviate them, and refuses others', async () => {
    const withTransmitter = (transmitter: string) =>
      read('malecns-1.0', writeMaleCns([{ ...BODIES[0]!, transmitter }], [[10_001, 10_001, 5]]));
    const signs = async (transmitter: string) => (await withTransmitter(transmitter)).neurons.signs.fast![0];
    expect(await Promise.all(['ACh', 'Glu', 'GABA', 'His', 'DA', '5-HT', 'OA'].map(signs))).toEqual([
      1, -1, -1, -1, 0, 0, 0,
    ]);
    await expect(withTransmitter('nitric oxide')).rejects.toMatchObject({
      message: expect.stringMatching(
        /^body-neurotransmitters.*, row 0: expected consensus_nt to be one of acetylcholine, ach, .* or empty, found "nitric oxide"\.$/,
      ),
    });
  });

  it('selects presets by the types of FlyWire that the table gives, and says which it lacks', async () => {
    // The classes of taste neurons are FlyWire's own; elsewhere their types select.
    const looming = ['LC4', 'LPLC2', 'LC4,LC31', 'LB3'].map((flywireType, i) => ({
      bodyId: 50_000 + i,
      superclass: 'visual_projection',
      type: `mLC${i}`,
      flywireType,
      transmitter: 'acetylcholine',
    }));
    const ofFemales = {
      ...{ bodyId: 50_010, superclass: 'descending_neuron', type: 'DNp37', flywireType: 'DNp37' },
      transmitter: 'acetylcholine',
    };
    const dir = writeMaleCns([...BODIES, ...looming, ofFemales], [[50_000, 10_001, 9]]);
    const brain = await read('malecns-1.0', dir);
    const { metadata, populations } = buildConnectome(brain, {
      signRule: 'fast',
      populations: defaultPopulations(brain),
    });
    expect(metadata.stimuli.map(({ id, neuronCount }) => [id, neuronCount])).toEqual([
      ['sugar', 1],
      ['loom', 3],
    ]);
    expect(metadata.stimuli[0]!.selectors).toEqual([{ type: 'LB3' }]);
    expect(metadata.channels.map(({ id, neuronCount }) => [id, neuronCount])).toEqual([
      ['escape', 1],
      // No courtship: a male fly has no vaginal plates to open.
      ['descending', 2],
      ['motor', 1],
    ]);
    expect(populations).toHaveLength(5);
    expect(JSON.stringify(metadata.stimuli)).not.toMatch(/root_ids|elsewhere/);
    expect(metadata.provenance.at(-1)).toMatch(/^Version 1 of the API lacks food, touch, .*bitter_relay: /);
  });

  it('a neuron twice, and a file that is not there', async () => {
    await expect(read('malecns-1.0', writeMaleCns([...BODIES, BODIES[0]!], WEIGHTS))).rejects.toMatchObject({
      message: `${MALECNS_FILES.annotations}, row 7: expected one row per neuron, found 10001 a second time (first in row 0).`,
    });
    await expect(read('malecns-1.0', '/nowhere')).rejects.toMatchObject({ code: 'TABLE_INVALID' });
  });
});

it('BANC: ids are text, proofread neurons count, and types of FlyWire stand in', async () => {
  const id = (n: number) => `7205759415${String(n).padStart(8, '0')}`;
  const common = { proofread: 'TRUE', roughly_proofread: 'FALSE', side: 'left' };
  const dir = writeBanc(
    [
      {
        ...common,
        banc_888_id: id(1),
        cell_type: 'DNp01',
        super_class: 'descending',
        neurotransmitter_predicted: 'acetylcholine',
        position: '10, 20, 30',
      },
      {
        ...common,
        banc_888_id: id(2),
        fafb_cell_type: 'LC4',
        super_class: 'visual_projection',
        neurotransmitter_predicted: 'tyramine',
      },
      {
        ...common,
        banc_888_id: id(3),
        proofread: 'FALSE',
        roughly_proofread: 'TRUE',
        super_class: 'central_brain_intrinsic',
      },
      { ...common, banc_888_id: id(4), proofread: 'FALSE' },
    ],
    [
      [id(2), id(1), 12],
      [id(1), id(4), 5],
      [id(3), id(2), 1],
    ],
  );
  const brain = await read('banc-888', dir);
  expect(brain.neurons.ids).toEqual([id(1), id(2), id(3)]);
  expect(brain.neurons.labels.type).toEqual(['DNp01', 'LC4', '']);
  expect(brain.neurons.labels.super_class).toEqual(['descending', 'visual_projection', 'central']);
  expect([...brain.neurons.positionsNm.subarray(0, 3)]).toEqual([40, 80, 1350]);
  expect([...brain.neurons.signs.fast!]).toEqual([1, 0, 0]);
  expect(pairsOf(brain)).toEqual([
    [id(2), id(1), 12],
    [id(3), id(2), 1],
  ]);
});

describe('a network of a laboratory', () => {
  const dir = mkdtempSync(join(tmpdir(), 'own-'));
  const NEURONS = [
    { id: 3, type: 'A', side: 'L', transmitter: 'ACh', x: 1, y: 2, z: 3.6 },
    { id: 11, type: 'B', side: 'right', transmitter: 'dopamine', x: -4, y: 5, z: 6 },
    { id: 720575940600000001n, type: '', side: '', transmitter: '', x: 7, y: 8, z: 9 },
  ];
  const EDGES = [
    { pre: 3, post: 11, weight: 6 },
    { pre: 11, post: 720575940600000001n, weight: 2 },
    { pre: 3, post: 11, weight: 1 },
    { pre: 3, post: 5, weight: 9 },
  ];
  const csv = (rows: readonly object[]) =>
    `${[Object.keys(rows[0]!), ...rows.map(Object.values)].map((row) => row.join(',')).join('\n')}\n`;
  const own = (edges: string, neurons: string, columns: Record<string, string> = {}) =>
    readTables(
      '',
      silent,
      1,
      { name: 'N', dataset: 'N', release: null, wiring: 'custom' },
      ownTables(edges, neurons, new Map(Object.entries(columns))),
    );
  const text = (name: string, content: string) => {
    writeFileSync(join(dir, name), content);
    return join(dir, name);
  };

  it('is the same from CSV, Parquet and Feather, under whatever names', async () => {
    const fromCsv = await own(text('edges.csv', csv(EDGES)), text('neurons.csv', csv(NEURONS)));
    expect(fromCsv.neurons).toMatchObject({
      ids: ['3', '11', '720575940600000001'],
      labels: { type: ['A', 'B', ''], side: ['left', 'right', ''] },
      positionsNm: Int32Array.of(1, 2, 4, -4, 5, 6, 7, 8, 9),
      signs: { fast: Int8Array.of(1, 0, 0) },
    });
    expect(pairsOf(fromCsv)).toEqual([
      ['3', '11', 7],
      ['11', '720575940600000001', 2],
    ]);
    expect(fromCsv.provenance).toEqual([
      'Compiled from tables of its makers.',
      'edges.csv: 1 of 4 rows names a root id that neurons.csv lacks (first on line 5); it was left out.',
      '3 rows summed to 2 pairs of neurons with 9 synapses; 2 pairs with 1 or more were kept, with 9 synapses.',
    ]);

    const parquet = (
      name: string,
      rows: readonly Record<string, unknown>[],
      rename: Record<string, string> = {},
    ) => {
      const buffer = parquetWriteBuffer({
        columnData: Object.keys(rows[0]!).map((column) => ({
          name: rename[column] ?? column,
          data: rows.map((row) =>
            typeof row[column] === 'number' && column !== 'z' ? BigInt(row[column]) : row[column],
          ) as never[],
          type:
            typeof rows[0]![column] === 'string'
              ? ('STRING' as const)
              : column === 'z'
                ? ('DOUBLE' as const)
                : ('INT64' as const),
        })),
      });
      writeFileSync(join(dir, name), Buffer.from(buffer));
      return join(dir, name);
    };
    const fromParquet = await own(
      parquet('edges.parquet', EDGES, { pre: 'body_pre', weight: 'n' }),
      parquet('neurons.parquet', NEURONS, { id: 'bodyId' }),
      { pre: 'body_pre', weight: 'n', id: 'bodyId' },
    );
    const wide = (value: number | bigint) => BigInt(value);
    const fromFeather = await own(
      writeFeather(
        'edges.feather',
        columnsOf(
          { pre: new Int64(), post: new Int64(), weight: new Int8() },
          EDGES.map(({ pre, post, weight }) => ({ pre: wide(pre), post: wide(post), weight })),
        ),
      ),
      writeFeather(
        'neurons.feather',
        columnsOf(
          {
            id: new Utf8(),
            type: new Utf8(),
            side: new Utf8(),
            transmitter: new Utf8(),
            x: new Int64(),
            y: new Int64(),
            z: new Utf8(),
          },
          NEURONS.map((neuron) => ({
            ...neuron,
            id: String(neuron.id),
            x: wide(neuron.x),
            y: wide(neuron.y),
            z: String(neuron.z),
          })),
        ),
      ),
    );
    for (const other of [fromParquet, fromFeather]) {
      expect(other.neurons).toEqual(fromCsv.neurons);
      expect(other.connections).toEqual(fromCsv.connections);
    }
  });

  it('has no labels of blanks, and none that stand for a missing value', async () => {
    const missing = ['NA', 'NaN', 'nan', 'None', 'null', 'NULL', '<NA>', 'N/A', 'n/a', '#N/A', ' '];
    const labels = [...missing, ' A ', 'A', 'Na', 'B c'];
    const rows = labels.map((label, i) => `${i},${label},${label},NA,NaN,nan, right ,None\n`);
    const header = 'id,type,class,sub_class,super_class,transmitter,side,ignored\n';
    const { neurons } = await own(
      text('e.csv', 'pre,post,weight\n1,2,5\n'),
      text('l.csv', header + rows.join('')),
    );
    const kept = [...missing.map(() => ''), 'A', 'A', 'Na', 'B c'];
    const all = (label: string) => labels.map(() => label);
    expect(neurons.labels).toMatchObject({
      ...{ type: kept, class: kept, sub_class: all(''), super_class: all(''), side: all('right') },
    });
    expect(neurons.signs['fast']).toEqual(new Int8Array(labels.length));
  });

  it('takes signs from either table, and if there are none lets all excite and says so', async () => {
    const neurons = 'id,sign\n1,1\n2,-1\n3,0\n';
    const given = await own(text('e.csv', 'pre,post,weight\n1,2,5\n'), text('n.csv', neurons));
    expect(given.neurons.signs).toEqual({ 'as given': Int8Array.of(1, -1, 0) });
    expect(given.signRemarks!['as given']).toBe(
      'Signs of 3 neurons as given by the table of neurons: 1 excite, 1 inhibit, 1 have no fast effect.',
    );
    const edges = 'pre,post,weight,sign\n2,1,5,-1\n2,3,5,-1\n3,1,5,0\n';
    const byEdges = await own(text('s.csv', edges), text('i.csv', 'id\n1\n2\n3\n'));
    expect(byEdges.neurons.signs).toEqual({ 'as given': Int8Array.of(1, -1, 0) });
    // Neurons without connections have a sign only in the table of neurons.
    const both = await own(text('b.csv', 'pre,post,weight,sign\n2,1,5,-1\n'), text('n.csv', neurons));
    expect(both.neurons.signs).toEqual({ 'as given': Int8Array.of(1, -1, 0) });
    const none = await own(text('e.csv', 'pre,post,weight\n1,2,5\n'), text('i.csv', 'id\n1\n2\n3\n'));
    expect(none.neurons.signs).toEqual({ 'as given': Int8Array.of(1, 1, 1) });
    expect(none.signRemarks!['as given']).toBe(
      'No column gives a sign or a transmitter, so all 3 neurons excite.',
    );
  });

  it.each<[string, string, string, Record<string, string>, string]>([
    [
      'two signs of one neuron',
      'pre,post,weight,sign\n1,2,5,1\n1,1,5,-1\n',
      'id\n1\n2\n',
      {},
      'e.csv, line 3: expected sign to be 1, as in an earlier row, since all outputs of neuron 1 have one sign, found "-1".',
    ],
    [
      'a weight that is no count',
      'pre,post,weight\n1,2,0.5\n',
      'id\n1\n2\n',
      {},
      'e.csv, line 2: expected weight to be a whole number from 1 to 999999999, found "0.5": synapses are counts, not fractions.',
    ],
    [
      'a sign that is none',
      'pre,post,weight\n1,2,5\n',
      'id,sign\n1,yes\n2,1\n',
      {},
      'n.csv, line 2: expected sign to be 1, -1 or 0, found "yes".',
    ],
    [
      'another sign in the other table',
      'pre,post,weight,sign\n1,2,5,1\n2,3,5,-1\n3,1,5,-1\n',
      'id,sign\n1,1\n2,1\n3,0\n',
      {},
      'e.csv: expected neuron 2 to have the sign 1, as in n.csv, found -1.',
    ],
    [
      'a column that is not there',
      'pre,post,weight\n1,2,5\n',
      'id\n1\n2\n',
      { type: 'kind' },
      'n.csv, line 1: expected a column kind, found the columns "id".',
    ],
    [
      'signs that neither table has under the name of their column',
      'pre,post,weight,sign\n1,2,5,-1\n',
      'id,transmitter\n1,GABA\n2,ACh\n',
      { sign: 'sgn' },
      'n.csv: expected a column sgn here or in e.csv, found none.',
    ],
    [
      'edges without weights',
      'pre,post\n1,2\n',
      'id\n1\n2\n',
      {},
      'e.csv, line 1: expected a column weight, found the columns "pre,post".',
    ],
    [
      'an id that is no number',
      'pre,post,weight\n1,2,5\n',
      'id\nAVAL\n',
      {},
      'n.csv, line 2: expected id to be a root id of 1 to 18 digits, found "AVAL".',
    ],
    [
      'a position of words',
      'pre,post,weight\n1,2,5\n',
      'id,x,y,z\n1,NA,,NaN\n2,1,a,3\n',
      {},
      'n.csv, line 3: expected y to be a number of nm, or empty with the other axes, found "a".',
    ],
    [
      'a position of two axes',
      'pre,post,weight\n1,2,5\n',
      'id,x,y\n1,1,2\n',
      {},
      'n.csv, line 1: expected a column z, found the columns "id,x,y".',
    ],
  ])('%s', async (_, edges, neurons, columns, message) => {
    await expect(own(text('e.csv', edges), text('n.csv', neurons), columns)).rejects.toMatchObject({
      code: 'TABLE_INVALID',
      message,
    });
  });
});
